package record

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Results are of the runs as they were when they were read: files of another time are the same, other content is not.
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
		r := &Results{Version: Version, RunsSHA256: Digest(readRuns(t, s))}
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
	if r := (&Results{Version: Version, RunsSHA256: Digest(readRuns(t, s))}); r.RunsSHA256 != "" || s.Current(r) {
		t.Errorf("%q, current: %v", r.RunsSHA256, s.Current(r))
	}
}

func readRuns(t *testing.T, s *Set) (read []*Run) {
	t.Helper()
	for r, err := range s.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, r)
	}
	return read
}

// Results are of the runs as they were when they were read, not as they are when the results are written.
func TestExchangedBeforeResultsAreWritten(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	path := s.Path("runs", "001-a", "run.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("{\"seconds\": 1}\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	r := &Results{Version: Version, RunsSHA256: Digest(readRuns(t, s))}
	if !s.Current(r) {
		t.Error("nothing was exchanged")
	}
	again := readRuns(t, s)
	if err := s.Rederived(again[0]); err != nil {
		t.Fatal(err)
	}
	if s.Current(r) || !s.Current(&Results{RunsSHA256: Digest(again)}) {
		t.Error("results of a run that was written again are not of what was written")
	}
	r.RunsSHA256 = Digest(again)
	if err := errors.Join(os.WriteFile(path, []byte("{\"seconds\": 2}\n"), 0o644), s.WriteResults(r)); err != nil {
		t.Fatal(err)
	}
	stored, err := s.Results()
	if err != nil || s.Current(stored) {
		t.Errorf("results of what was there before are current (%v)", err)
	}
}
