package record

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	json2 "github.com/go-json-experiment/json"
)

// WriteFile writes a file of the set in one step: a reader sees the old content or the new one, also after a crash.
func (s *Set) WriteFile(name string, content []byte) error {
	return replace(s.Path(name), content)
}

func replace(path string, content []byte) error {
	return replaceBy(path, func(w io.Writer) error { _, err := w.Write(content); return err })
}

// replaceBy writes a file in one step, by what write writes.
func replaceBy(path string, write func(io.Writer) error) (err error) {
	dir, base := filepath.Split(path)
	f, err := os.CreateTemp(dir, "."+base+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", base, err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("writing %s: %w", base, err)
		}
	}()
	w := bufio.NewWriter(f)
	err = cmp.Or(write(w), w.Flush(), f.Chmod(0o644), f.Sync(), f.Close()) // of a full disk all say the same
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func replaceJSON(path string, v any) error {
	text, err := indented(path, v)
	if err != nil {
		return err
	}
	return replace(path, text)
}

// indented is v as it is to stand in a file.
func indented(path string, v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return append(b, '\n'), nil
}

// regular refuses what is no regular file: opening a pipe, or reading a device, might never end.
func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	return err
}

func openFile(path string) (*os.File, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

func readFile(path string) ([]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// ReadFile reads a file of the set, by its path within it.
func (s *Set) ReadFile(name string) ([]byte, error) { return readFile(s.Path(name)) }

// readJSON reads a file by alike, or by the options of a reader.
func readJSON[T any](path string, opt json2.Options) (*T, error) {
	v, _, err := readJSONText[T](path, opt)
	return v, err
}

// readJSONText is readJSON, and what was read.
func readJSONText[T any](path string, opt json2.Options) (*T, []byte, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	v := new(T)
	if err := foreign(b, decodeBy(opt, b, v)); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return v, b, nil
}

// WriteEnvironment writes environment.json.
func (s *Set) WriteEnvironment(e *Environment) error {
	return replaceJSON(s.Path("environment.json"), e)
}

// Environment reads environment.json.
func (s *Set) Environment() (*Environment, error) {
	return versioned(readJSON[Environment](s.Path("environment.json"), alike))
}

// WriteEnd writes end.json.
func (s *Set) WriteEnd(e *End) error { return replaceJSON(s.Path("end.json"), e) }

// End reads end.json; it is nil if planrun did not come to its end.
func (s *Set) End() (*End, error) {
	e, err := readJSON[End](s.Path("end.json"), alike)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		err = fmt.Errorf("%w; without this file the set is one whose planrun was killed", err)
	}
	return e, err
}

// WriteStage writes what the expressions of a stage gave when it began.
func (s *Set) WriteStage(st *Stage) error {
	c := *st
	c.Params = finiteMap(st.Params)
	return replaceJSON(s.Path("stages", fmt.Sprintf("%s-%d.json", slug(st.Name), st.Round)), &c)
}

// Stages reads what every stage's expressions gave, in the order of their beginning.
func (s *Set) Stages() ([]Stage, error) {
	entries, err := os.ReadDir(s.Path("stages"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the stages: %w", err)
	}
	var out []Stage
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		st, err := readJSON[Stage](s.Path("stages", e.Name()), alike)
		if err != nil {
			return nil, err
		}
		out = append(out, *st)
	}
	slices.SortStableFunc(out, func(a, b Stage) int { return a.Start.Compare(b.Start) })
	return out, nil
}

// versioned refuses what a newer planrun wrote.
func versioned[T interface{ *Environment | *Results | *Run }](v T, err error) (T, error) {
	if err != nil {
		return nil, err
	}
	n := 0
	switch v := any(v).(type) {
	case *Environment:
		n = v.Version
	case *Results:
		n = v.Version
	case *Run:
		n = v.Version
	}
	if n > Version {
		return nil, fmt.Errorf("the result set has version %d, this planrun reads up to %d; use a newer planrun", n, Version)
	}
	return v, nil
}
