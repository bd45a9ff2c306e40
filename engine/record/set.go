package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Set is a result set on disk. Its methods may be used by several goroutines at once; each run has one writer.
type Set struct {
	Dir string
	// Unread is told of each run whose run.json cannot be read, by whichever goroutine reads it. May be nil.
	Unread func(r *Run)

	reader *reader
}

func setAt(dir string) *Set { return &Set{Dir: dir, reader: newReader()} }

// CreateOptions say where a result set goes.
type CreateOptions struct {
	Plan  string    // the plan's name
	Start time.Time // zero means now
	Root  string    // the directory of all result sets; the constant Root if empty
	Out   string    // the directory of this one instead of ROOT/PLAN-TIME; it must not exist, or be empty
}

// Root is the directory of all result sets where none is named.
const Root = "results"

// Latest is the link, in the root, to the newest set.
const Latest = "latest"

// Create makes the directory of a new result set, ROOT/PLAN-UTC TIME, and points ROOT/latest at it. It never writes into a
// set that exists: a second one of the same second gets a number, and an Out that holds something is an error.
func Create(o CreateOptions) (*Set, error) {
	if o.Out != "" {
		return createAt(o.Out)
	}
	if o.Root == "" {
		o.Root = Root
	}
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	if err := os.MkdirAll(o.Root, 0o755); err != nil {
		return nil, fmt.Errorf("creating the directory of result sets: %w", err)
	}
	base := slug(o.Plan) + "-" + o.Start.UTC().Format("20060102T150405Z")
	name := base
	for n := 2; ; n++ {
		err := os.Mkdir(filepath.Join(o.Root, name), 0o755)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("creating the result set: %w", err)
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
	s := setAt(filepath.Join(o.Root, name))
	if err := s.layout(); err != nil {
		return nil, err
	}
	return s, link(o.Root, name)
}

func createAt(dir string) (*Set, error) {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s holds files already; give --out a new directory", dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("creating the result set: %w", err)
	}
	s := setAt(dir)
	return s, s.layout()
}

func (s *Set) layout() error {
	for _, d := range []string{"runs", "stages", "installs", "sources"} {
		if err := os.MkdirAll(s.Path(d), 0o755); err != nil {
			return fmt.Errorf("creating the result set: %w", err)
		}
	}
	return nil
}

// link points ROOT/latest at the set of that name, in one step: whoever follows it finds the old one or the new one.
func link(root, name string) error {
	path := filepath.Join(root, Latest)
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is no link to a result set; move it away", path)
	}
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	os.Remove(tmp)
	if err := os.Symlink(name, tmp); err != nil {
		return fmt.Errorf("linking %s: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("linking %s: %w", path, err)
	}
	return nil
}

// Open opens an existing result set. Nothing is read yet: runs are read one by one, so that a set may be larger than
// memory.
func Open(dir string) (*Set, error) {
	info, err := os.Stat(filepath.Join(dir, "runs"))
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no result set: it has no directory runs", dir)
	}
	return setAt(dir), nil
}

// Path is a path within the set.
func (s *Set) Path(elem ...string) string {
	return filepath.Join(append([]string{s.Dir}, elem...)...)
}

// RunIDs are the directories of the runs, in the order in which they began. What else lies there is not planrun's.
func (s *Set) RunIDs() ([]string, error) {
	entries, err := os.ReadDir(s.Path("runs"))
	if err != nil {
		return nil, fmt.Errorf("listing the runs: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && runNumber(e.Name()) > 0 {
			ids = append(ids, e.Name())
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		if d := runNumber(a) - runNumber(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return ids, nil
}
