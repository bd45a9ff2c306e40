package diff_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/record/recordtest"
)

// concluded is a directory with a set that has a results.json, and the run.json of its runs.
func concluded(t *testing.T) (dir string, runs []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "set")
	if err := recordtest.Write(dir, one(100)); err != nil {
		t.Fatal(err)
	}
	set, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var read []*record.Run
	for r, err := range set.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, r)
		runs = append(runs, set.Path("runs", r.ID, "run.json"))
	}
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	cells, descs := measure.CellsOf(read)
	if err := set.WriteResults(&record.Results{Version: record.Version, Plan: "synthetic", Complete: true, RunsSHA256: record.Digest(read), Cells: cells, Descs: descs}); err != nil {
		t.Fatal(err)
	}
	return dir, runs
}

// What became of the runs since results.json was made is seen, whatever results.json says of them.
func TestResultsOfDamagedRuns(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	for name, damage := range map[string]func(path string) error{
		"":             func(string) error { return nil },
		"cut":          func(path string) error { return os.Truncate(path, 100) },
		"cut long ago": func(path string) error { return errors.Join(os.Truncate(path, 100), os.Chtimes(path, old, old)) },
		"gone":         os.Remove,
		"of another kind": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(`{"status": 7}`+"\n"), 0o644), os.Chtimes(path, old, old))
		},
	} {
		dir, runs := concluded(t)
		if err := damage(runs[1]); err != nil {
			t.Fatal(err)
		}
		s := openAt(t, dir, "")
		if len(s.Results.Cells) != 1 {
			t.Fatalf("%q: %d cells", name, len(s.Results.Cells))
		}
		damaged, n := len(s.Damaged), len(s.Results.Cells[0].Runs)
		if name == "" && (damaged != 0 || n != 3 || len(s.Gaps) != 0) || name != "" && (damaged != 1 || n != 2 || !strings.Contains(strings.Join(s.Gaps, ""), "no readable run.json")) {
			t.Errorf("%q: %d runs, %d damaged, %q", name, n, damaged, s.Gaps)
		}
	}
}

// A run that was written again counts as it is now, also where its file is older than results.json.
func TestResultsOfAnExchangedRun(t *testing.T) {
	t.Parallel()
	dir, runs := concluded(t)
	b, err := os.ReadFile(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"req_per_s": 100`) && !strings.Contains(string(b), `"req_per_s":100`) {
		t.Fatalf("no rate in %s", b)
	}
	text := strings.NewReplacer(`"req_per_s": 100`, `"req_per_s": 700`, `"req_per_s":100`, `"req_per_s":700`).Replace(string(b))
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(runs[0], []byte(text), 0o644), os.Chtimes(runs[0], old, old)); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, dir, "")
	if len(s.Results.Cells) != 1 {
		t.Fatalf("%d cells", len(s.Results.Cells))
	}
	if got := s.Results.Cells[0].Metrics[""].Value("req_per_s").Runs; len(got) != 3 || got[0] != 700 {
		t.Errorf("%v", got)
	}
}

// A pipe is no file: reading it would wait for somebody who writes.
func TestPipesAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"results.json", "plan.yaml", "end.json"} {
		dir, _ := concluded(t)
		path := filepath.Join(dir, name)
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := diff.Open(dir, diff.Options{Tree: dsl.Tree}); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
