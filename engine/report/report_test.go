package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/planrun/planrun/engine/record"
)

var update = flag.Bool("update", false, "write the golden files")

var cases = []struct {
	name string
	make func() *fixture
}{
	{"rich", rich},
	{"defaults", func() *fixture { // a plan without a report section
		f := newFixture()
		phases := []record.Phase{{Name: "before", Kind: "load", End: 3, Recorded: true}, {Name: "after", Kind: "measure", Start: 3, End: 6, Recorded: true, Headline: true}}
		for _, target := range []string{"b", "a"} {
			c := f.cell(cellSpec{stage: "main", scenario: "steady", target: target, rates: around(1000), open: true, phases: phases})
			c.Metrics["phase/before"] = record.CellWindowOf(map[string]record.Value{"p99_ms": {Value: 1.5, Runs: around(1.5)}})
			c.Metrics["phase/after"] = record.CellWindowOf(map[string]record.Value{"p99_ms": {Value: 2.5, Runs: around(2.5)}, "failed": {}})
		}
		return f
	}},
	{"one-run", func() *fixture {
		f := newFixture()
		f.cell(cellSpec{scenario: "throughput", target: "a", rates: []float64{1000}})
		f.cell(cellSpec{scenario: "throughput", target: "b", rates: []float64{1500}})
		return f
	}},
	{"beside", earlierSet},
	{"no-runs", func() *fixture {
		f := newFixture()
		f.in.Environment, f.in.Series, f.in.Events = nil, nil, nil
		return f
	}},
	{"unfinished", func() *fixture { // the engine died in the second run
		f := newFixture()
		r := f.in.Results
		r.Complete, r.Exit = false, 4
		f.cell(cellSpec{scenario: "throughput", target: "a", rates: []float64{1000}})
		f.cell(cellSpec{scenario: "throughput", target: "b", rates: []float64{1500}, status: record.Unfinished, reason: "run.json has no end"})
		f.cell(cellSpec{scenario: "throughput", target: "c", status: record.Unfinished})
		last := f.in.Runs[1]
		last.Status, last.Seconds, last.Loads, last.Metrics, last.Guards, last.Checks = record.Unfinished, 0, nil, nil, nil, nil
		last.Phases = last.Phases[:1]
		r.Cells[1].Metrics = nil
		return f
	}},
}

func TestGolden(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := c.make()
			opt := Options{Dir: "results/synthetic-20261130T065600Z"}
			var report, summary bytes.Buffer
			if err := Write(&report, f.in, opt); err != nil {
				t.Fatal(err)
			}
			if err := Summary(&summary, f.in, opt); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".md", report.Bytes())
			golden(t, c.name+".summary.txt", summary.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}
