package diff

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// A Set is one side of a comparison, or the first of several sets that are one side.
type Set struct {
	Name        string // as it was named
	Dir         string // where it is, without links
	Target      string // its cells of this target alone; "" is all of them
	Results     *record.Results
	Environment *record.Environment
	Plan        map[string]any      // plan.yaml as plain data; nil if the set has none
	Files       map[string][]string // lines of the files that the plan refers to, by name
	Gaps        []string            // what the set lacks, in words
	Damaged     []string            // runs whose run.json is missing, cut short or of another kind, by ID
	Run         func(id string) *record.Run
	More        []*Set // further sets of the same thing; of theirs, the cells that the first one has take part
}

// all are the sets of a side.
func (s *Set) all() []*Set { return append([]*Set{s}, s.More...) }

// Options say how a set is read.
type Options struct {
	Name   string // how texts call it; empty: the directory
	Target string
	// Tree reads a plan as plain data.
	Tree func(text []byte) (map[string]any, error)
}

// Open reads a result set, also one whose plan run did not come to its end: what there is is compared, and Gaps says what
// is missing. It changes nothing in the set.
func Open(dir string, opt Options) (*Set, error) {
	set, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: opt.Name, Dir: dir, Target: opt.Target, Run: set.Kept, Files: map[string][]string{}}
	if s.Name == "" {
		s.Name = dir
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		s.Dir = real
	}
	if abs, err := filepath.Abs(s.Dir); err == nil { // so that one set is one however it was named
		s.Dir = abs
	}
	if err := s.readPlan(set, opt.Tree); err != nil {
		return nil, err
	}
	if s.Environment, err = set.Environment(); errors.Is(err, fs.ErrNotExist) {
		s.gap("it has no environment.json: what it ran on is not known")
	} else if err != nil {
		return nil, err
	}
	if err := s.readResults(set); err != nil {
		return nil, err
	}
	if s.Target != "" && !slices.ContainsFunc(s.Results.Cells, func(c record.Cell) bool { return c.Coord.Target == s.Target }) {
		return nil, &NoTarget{s.Name, s.Target, s.targets()}
	}
	return s, nil
}

// NoTarget says that a set has no cell of a target.
type NoTarget struct {
	Set, Target string
	Known       []string
}

func (e *NoTarget) Error() string { return fmt.Sprintf("%s has no target %q", e.Set, e.Target) }

func (s *Set) targets() (out []string) {
	for _, c := range s.Results.Cells {
		if !slices.Contains(out, c.Coord.Target) {
			out = append(out, c.Coord.Target)
		}
	}
	return out
}

func (s *Set) gap(words string) { s.Gaps = append(s.Gaps, words) }

func (s *Set) readPlan(set *record.Set, tree func([]byte) (map[string]any, error)) error {
	b, err := set.ReadFile("plan.yaml")
	if errors.Is(err, fs.ErrNotExist) || tree == nil {
		s.gap("it has no plan.yaml: what its plan said is not known")
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	if s.Plan, err = tree(b); err != nil {
		return fmt.Errorf("reading the plan of %s: %w", s.Name, err)
	}
	return s.readFiles(set, s.Plan)
}

// readFiles reads the files of the set that a plan refers to: texts that begin with sources/.
func (s *Set) readFiles(set *record.Set, v any) error {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if err := s.readFiles(set, x); err != nil {
				return err
			}
		}
	case []any:
		for _, x := range v {
			if err := s.readFiles(set, x); err != nil {
				return err
			}
		}
	case string:
		if !strings.HasPrefix(v, "sources/") || s.Files[v] != nil || !filepath.IsLocal(v) {
			return nil
		}
		b, err := set.ReadFile(v)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a file of the plan: %w", err)
		}
		s.Files[v] = strings.Split(string(b), "\n")
	}
	return nil
}

// readResults reads how the plan run ended, and its cells.
func (s *Set) readResults(set *record.Set) error {
	end, err := set.End()
	if err != nil {
		return err
	}
	switch {
	case end == nil:
		s.gap("planrun was killed before its end")
	case end.Interrupted:
		s.gap("it was interrupted")
	case end.Failure != "":
		s.gap("the harness failed: " + joined(end.Failure))
	}
	return s.readCells(set)
}
