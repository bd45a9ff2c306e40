package actions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var writeKind = kind("write", `Write a file, from a template or from its content. Both are Go templates (text/template) over .Port (by name), .Dir, .Backends (by name, each with .Address, .Host, .Port), .Routes (each with .Host and .Paths, these with .Path and .Backend), .With (the target's knobs as they are written in the plan), .TLS.Cert, .TLS.Key, .Cpus (by role), .Replica and .Target.
What the template names must exist. In a phase the file gets its old content back when the run ends; outside the installation's directory it always does.`, func() *write { return &write{} })

type write struct {
	File       string  `yaml:"file" required:"true" doc:"the file that is written, below the installation's directory unless it is absolute. Directories are made"`
	Template   string  `yaml:"template" kind:"true" path:"true" doc:"a template's file, beside the file of the plan that names it"`
	Content    *string `yaml:"content" kind:"true" doc:"the content, itself a template"`
	Executable bool    `yaml:"executable" doc:"make it executable"`
}

// Check finds what the types do not.
func (w *write) Check(c *dsl.Check) {
	if !c.Has("template") && !c.Has("content") {
		c.Errorf("", "nothing says what is written").Hint = "write template: FILE or content: TEXT"
	}
	if c.Known("file") && (w.File == "" || strings.HasSuffix(w.File, "/")) {
		c.Errorf("file", "%q is no name of a file", w.File)
	}
	if w.Content != nil && c.Known("content") {
		if _, err := template.New("content").Parse(*w.Content); err != nil {
			c.Errorf("content", "%s", strings.TrimPrefix(err.Error(), "template: "))
		}
	}
}

func (w *write) Run(ctx context.Context, env *task.Env) error {
	text, err := w.render(env)
	if err != nil {
		return err
	}
	path := w.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	rel, err := filepath.Rel(env.Dir, path)
	outside := err != nil || rel == ".." || strings.HasPrefix(rel, "../")
	if outside || env.RunDir != "" {
		if err := journalFile(env, path); err != nil {
			return err
		}
		if err := keep(env, path, text); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o644)
	if w.Executable {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the directory of %s: %w", w.File, err)
	}
	if err := replace(path, text, mode); err != nil {
		return fmt.Errorf("writing %s: %w", w.File, err)
	}
	if env.RunDir != "" {
		env.Event("change", "wrote "+path, map[string]any{"file": path, "bytes": len(text)})
	}
	return nil
}

// render executes the template. Its errors begin with the template's file and line.
func (w *write) render(env *task.Env) ([]byte, error) {
	name, source := w.File, ""
	if w.Content != nil {
		source = *w.Content
	} else {
		b, err := readFile(env, w.Template)
		if err != nil {
			return nil, fmt.Errorf("reading the template: %w", err)
		}
		name, source = w.Template, string(b)
	}
	t, err := template.New(name).Option("missingkey=error").Parse(source)
	if err != nil {
		return nil, templateError(err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, env.Template(0)); err != nil {
		return nil, templateError(err)
	}
	return out.Bytes(), nil
}

func templateError(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "template: "))
}

// replace writes a file so that whoever reads it sees the old or the new content, never a part.
func replace(path string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".planrun-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// keep keeps what was written where the file itself does not stay: in the run's directory, or the installation's.
func keep(env *task.Env, path string, text []byte) error {
	dir := env.RunDir
	if dir == "" {
		dir = env.Dir
	}
	dir = filepath.Join(dir, "files")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keeping what was written: %w", err)
	}
	f, err := os.OpenFile(unused(dir, filepath.Base(path)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("keeping what was written: %w", err)
	}
	_, err = f.WriteString(env.Redact(string(text)))
	return errors.Join(err, f.Close())
}

// unused gives a path in dir that is not taken: name, name-2, name-3, before the extension.
func unused(dir, name string) string {
	ext := filepath.Ext(name)
	base := strings.TrimSuffix(name, ext)
	path := filepath.Join(dir, name)
	for i := 2; ; i++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", base, i, ext))
	}
}
