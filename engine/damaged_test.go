package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record/sized"
)

// noFile puts a directory where a file of a run was: it can be read by nobody.
func noFile(name string) func(dir string) error {
	return func(dir string) error {
		file := filepath.Join(dir, name)
		if err := os.Remove(file); err != nil {
			return err
		}
		return os.Mkdir(file, 0o755)
	}
}

// What is damaged of a result set is said in words, the rest is judged, and the exit code is that of what is missing.
func TestDamagedSet(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(dir string) error // of a run of t01 in s01, its run.json whole
		exit   int
		says   string // in the report
	}{
		{"whole", func(string) error { return nil }, 0, ""},
		{"a run is missing", os.RemoveAll, 3, "1 of 2"},
		{"its run.json is missing", func(dir string) error { return os.Remove(filepath.Join(dir, "run.json")) }, 3, "unfinished"},
		{"its run.json is truncated", func(dir string) error { return os.Truncate(filepath.Join(dir, "run.json"), 200) }, 3, "unfinished"},
		{"its run.json is no file", noFile("run.json"), 4, "its record cannot be read"},
		{"its run.json holds something else", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"status": 7}`), 0o644)
		}, 4, "its record cannot be read"},
		{"its run.json is a list", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "run.json"), []byte("[]\n"), 0o644)
		}, 4, "run.json: it holds JSON of another kind (array); put back the file"},
		{"its run.json is null", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "run.json"), []byte("null\n"), 0o644)
		}, 4, "run.json: it holds null and nothing else; put back the file"},
		{"a newer planrun wrote it", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"version": 99, "status": "done"}`), 0o644)
		}, 4, "use a newer planrun"},
		{"its series are missing", func(dir string) error { return os.Remove(filepath.Join(dir, "series.jsonl")) }, 0, "the file is missing"},
		{"its histograms are truncated", func(dir string) error { return os.Truncate(filepath.Join(dir, "latency.hlog"), 300) }, 0, "when the run ended"},
		{"its series cannot be read", noFile("series.jsonl"), 4, "series.jsonl is no regular file): charts"},
		{"its events cannot be read", noFile("events.jsonl"), 4, "events.jsonl is no regular file): charts"},
		{"there are foreign files", func(dir string) error {
			runs := filepath.Dir(dir)
			if err := os.WriteFile(filepath.Join(runs, "notes.txt"), []byte("mine"), 0o644); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(runs, "my copies"), 0o755)
		}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			verdicts := strings.Replace(sized.Verdicts, "pass: failed == 0}", "pass: failed == 0, gate: true}", 1)
			set := sizedSet(t, sized.Size{Targets: 2, Scenarios: 1, Repeats: 2, Recordings: 1, Seconds: 4, Plan: verdicts})
			ids, err := set.RunIDs()
			if err != nil || len(ids) != 4 {
				t.Fatalf("runs %q: %v", ids, err)
			}
			if err := c.damage(set.Path("runs", ids[1])); err != nil {
				t.Fatal(err)
			}
			out := conclude(t, set.Dir, asItIs, engine.ConcludeOptions{})
			if out.Exit != c.exit {
				t.Errorf("exit %d (%s), want %d\n%s", out.Exit, out.Why, c.exit, reasons(out))
			}
			if text := reportOf(t, out); !strings.Contains(text, c.says) {
				t.Errorf("the report does not say %q:\n%s", c.says, text)
			}
			if len(out.Results.Cells) != 2 {
				t.Errorf("%d cells, want 2", len(out.Results.Cells))
			}
			passed := 0
			for _, v := range out.Results.Verdicts {
				if v.Coord.Target == "t02" && v.Outcome == "pass" {
					passed++
				}
			}
			if passed < 2 {
				t.Errorf("what is whole was not judged:\n%s", reasons(out))
			}
		})
	}
}

// Where samples of a run cannot be read, what rests on them has no outcome and says why; the other runs are judged, drawn, and
// the result says the same as the exit code.
func TestUnreadableSamples(t *testing.T) {
	set := sizedSet(t, sized.Size{Targets: 2, Scenarios: 1, Repeats: 2, Recordings: 1, Seconds: 30, Plan: sized.SeriesVerdicts})
	ids, err := set.RunIDs()
	if err != nil {
		t.Fatal(err)
	}
	if err := noFile("series.jsonl")(set.Path("runs", ids[1])); err != nil {
		t.Fatal(err)
	}
	out := conclude(t, set.Dir, asItIs, engine.ConcludeOptions{})
	if out.Exit != 4 || !strings.Contains(out.Why, ids[1]) || out.Results.Exit != 4 {
		t.Errorf("exit %d (%s), in the results %d; want 4, and the run", out.Exit, out.Why, out.Results.Exit)
	}
	for _, v := range out.Results.Verdicts {
		of := v.Coord.Target == "t01" && strings.HasPrefix(v.Verdict, "memory")
		switch {
		case of && (v.Outcome != "error" || !strings.Contains(v.Reason, "series.jsonl is no regular file")):
			t.Errorf("%s of t01: %s (%s), want an error with the file", v.Verdict, v.Outcome, v.Reason)
		case !of && v.Outcome != "pass":
			t.Errorf("%s of %s: %s (%s), want a pass", v.Verdict, v.Coord.Target, v.Outcome, v.Reason)
		}
	}
	text := reportOf(t, out)
	for _, want := range []string{"**Not everything that was recorded of 1 run could be read**", "Exit 4: the harness failed: all/t01/s01"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
}
