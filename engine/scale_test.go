package engine_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/record/sized"
)

// sizedSet makes a result set of a size.
func sizedSet(t *testing.T, s sized.Size) *record.Set {
	t.Helper()
	set, err := sized.Make(filepath.Join(t.TempDir(), "results"), s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// cost is what judging a set takes: bytes that are read of files, and that are allocated.
func cost(t *testing.T, set *record.Set) (out *engine.Outcome, read, allocated int64) {
	t.Helper()
	_, prog := stored(t, set.Dir, asItIs)
	var before, after runtime.MemStats
	from := readSoFar(t)
	runtime.ReadMemStats(&before)
	out, err := engine.Judge(set, prog, engine.ConcludeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return out, readSoFar(t) - from, int64(after.TotalAlloc - before.TotalAlloc)
}

// readSoFar is how many bytes this process has read.
func readSoFar(t *testing.T) (n int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(b), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// sizeOf adds up the files of a set that have one of these names.
func sizeOf(t *testing.T, set *record.Set, names ...string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(set.Dir, func(path string, d fs.DirEntry, err error) error {
		for _, name := range names {
			if err == nil && d.Name() == name {
				info, err := d.Info()
				if err != nil {
					return err
				}
				n += info.Size()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Judging reads what runs came to, not what was sampled of them, unless a verdict asks for that. So its memory grows with the number of runs, and not with their length.
func TestJudgingReadsWhatItNeeds(t *testing.T) {
	size := sized.Size{Targets: 4, Scenarios: 3, Repeats: 2, Recordings: 1, Seconds: 40}
	set := sizedSet(t, size)
	out, read, _ := cost(t, set)
	if out.Exit != 0 || len(out.Results.Cells) != 12 {
		t.Fatalf("exit %d: %s; %d cells\n%s", out.Exit, out.Why, len(out.Results.Cells), reasons(out))
	}
	sampled := sizeOf(t, set, "series.jsonl", "latency.hlog")
	needed := sizeOf(t, set, "run.json", "events.jsonl", "environment.json", "plan.yaml")
	if sampled < 4*needed {
		t.Fatalf("the set has %d bytes of samples beside %d of runs: too little to tell", sampled, needed)
	}
	t.Logf("read %d bytes; runs have %d, samples %d", read, needed, sampled)
	if most := needed + needed/4 + 256<<10; read > most {
		t.Errorf("judging read %d bytes; what the runs came to has %d, what was sampled of them %d", read, needed, sampled)
	}

	size.Seconds = 6
	short := sizedSet(t, size)
	_, _, few := cost(t, short)
	_, _, many := cost(t, set)
	t.Logf("allocated %d bytes for runs of 6 s, %d for runs of 40 s", few, many)
	if many > few+few/4 {
		t.Errorf("judging runs of 40 s allocates %d bytes, of 6 s %d", many, few)
	}

	size.Seconds, size.Plan = 12, sized.SeriesVerdicts
	asks := sizedSet(t, size)
	out, read, _ = cost(t, asks)
	if v := verdictsOf(out); len(v["memory does not climb"]) != 12 || count(v["memory does not climb"], "pass") != 12 || count(v["nothing dies"], "pass") != 12 {
		t.Errorf("verdicts of series and events: %v\n%s", v, reasons(out))
	}
	series, hlog := sizeOf(t, asks, "series.jsonl"), sizeOf(t, asks, "latency.hlog")
	runs := sizeOf(t, asks, "run.json", "events.jsonl", "environment.json", "plan.yaml")
	if read < series || read > series+runs*3/2+hlog/2+256<<10 {
		t.Errorf("verdicts of one series and of events read %d bytes; the series have %d, histograms %d, runs %d", read, series, hlog, runs)
	}
}

// A report of many cells, in which everything went wrong, stays one that opens.
func TestReportOfManyCells(t *testing.T) {
	set := sizedSet(t, sized.Size{Targets: 20, Scenarios: 6, Repeats: 1, Recordings: 1, Seconds: 3, Trouble: true})
	out := conclude(t, set.Dir, asItIs, engine.ConcludeOptions{})
	if len(out.Results.Cells) != 120 {
		t.Fatalf("%d cells", len(out.Results.Cells))
	}
	for file, most := range map[string]int64{"report.md": 1 << 20, "report.html": 3 << 20} {
		info, err := os.Stat(set.Path(file))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s has %d bytes", file, info.Size())
		if info.Size() > most {
			t.Errorf("%s has %d bytes, more than %d", file, info.Size(), most)
		}
	}
	page, err := os.ReadFile(set.Path("report.html"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d charts", strings.Count(string(page), "<svg"))
	if n := strings.Count(string(page), "<svg"); n == 0 || n > 250 {
		t.Errorf("%d charts", n)
	}
}
