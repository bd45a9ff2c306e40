package record

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Results are of the runs as they were when they were written: files of another time are the same, other content is not.
func TestCurrent(t *testing.T) {
	t.Parallel()
	soon, old := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	run := func(s *Set, id string) string { return s.Path("runs", id, "run.json") }
	for _, c := range []struct {
		name   string
		change func(s *Set) error
		want   bool
	}{
		{"nothing", func(*Set) error { return nil }, true},
		{"touched", func(s *Set) error { return os.Chtimes(run(s, "001-a"), soon, soon) }, true},
		{"exchanged for an older one", func(s *Set) error {
			return errors.Join(os.WriteFile(run(s, "001-a"), []byte("{\"id\": \"c\"}\n"), 0o644), os.Chtimes(run(s, "001-a"), old, old))
		}, false},
		{"two that changed places", func(s *Set) error {
			return errors.Join(os.Rename(run(s, "001-a"), s.Path("x")), os.Rename(run(s, "002-b"), run(s, "001-a")), os.Rename(s.Path("x"), run(s, "002-b")))
		}, false},
		{"renamed", func(s *Set) error { return os.Rename(s.Path("runs", "002-b"), s.Path("runs", "002-c")) }, false},
		{"cut", func(s *Set) error { return os.Truncate(run(s, "001-a"), 3) }, false},
		{"one more", func(s *Set) error { return os.CopyFS(s.Path("runs", "003-a"), os.DirFS(s.Path("runs", "001-a"))) }, false},
		{"one less", func(s *Set) error { return os.RemoveAll(s.Path("runs", "001-a")) }, false},
	} {
		s := newSet(t)
		for id, text := range map[string]string{"001-a": "{\"id\": \"a\"}\n", "002-b": "{\"id\": \"b\"}\n"} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(run(s, id)), 0o755), os.WriteFile(run(s, id), []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.WriteResults(&Results{Version: Version}); err != nil {
			t.Fatal(err)
		}
		r, err := s.Judged()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.change(s); err != nil {
			t.Fatal(err)
		}
		if got := s.Current(r); got != c.want {
			t.Errorf("%s: current: %v", c.name, got)
		}
	}
}

// Of runs that cannot be read no results are current: what became of them is looked at each time.
func TestResultsOfRunsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	if err := os.MkdirAll(s.Path("runs", "001-a"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := &Results{Version: Version}
	if err := s.WriteResults(r); err != nil || s.Current(r) {
		t.Errorf("%v, current: %v", err, s.Current(r))
	}
}
