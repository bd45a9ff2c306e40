package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// The time around the longest wait is not the longest time in which requests waited.
func TestWorstWait(t *testing.T) {
	at := func(t float64, longest time.Duration, sent int64) record.WaitedSecond {
		return record.WaitedSecond{T: t, Waited: 9, Longest: longest * time.Millisecond, Sent: sent}
	}
	long := []record.WaitedSecond{at(1, 60, 0), at(2, 70, 0), at(3, 60, 0), at(4, 60, 5)}
	for name, c := range map[string]struct {
		seconds []record.WaitedSecond
		want    wait
	}{
		"none":               {nil, wait{}},
		"none was ever sent": {[]record.WaitedSecond{at(1, 0, 0)}, wait{}},
		"behind the longest stretch": {append(long, at(10, 3000, 7), at(11, 2000, 0), at(12, 1000, 8)),
			wait{3 * time.Second, 10, 13, 11, 12}},
		"in the longest stretch": {append(long, at(10, 65, 0)), wait{70 * time.Millisecond, 1, 5, 1, 4}},
		"two gaps":               {[]record.WaitedSecond{at(1, 60, 0), at(2, 90, 3), at(3, 60, 0), at(4, 50, 0)}, wait{90 * time.Millisecond, 1, 5, 3, 5}},
		"of two phases":          {[]record.WaitedSecond{at(1, 60, 2), at(1, 90, 2), at(2, 60, 2)}, wait{90 * time.Millisecond, 1, 3, 0, 0}},
	} {
		if got := worstWait(c.seconds); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A stall of the generator leaves out the run that it was in, of the load that it was of, and no other.
func TestStalledRunsAreLeftOutOfCrowds(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000, 1000, 1000}, open: true})
	for i, waited := range []float64{100, 200, 0} {
		r := f.in.Runs[i]
		r.Metrics["load/small"] = record.WindowOf(map[string]float64{"waited": waited})
		n := r.Loads[0].Totals["measure"]
		if i > 0 { // that of the third kept nothing waiting
			n.StalledLagNs = 900e6
		}
		r.Loads[0].Totals["measure"] = n
	}
	side := f.in.Runs[0].Loads[0]
	side.Name, side.Totals = "side", map[string]load.Counts{"measure": {Due: 9, StalledLagNs: 900e6}}
	f.in.Runs[0].Loads = append(f.in.Runs[0].Loads, side)
	named, partial, err := newBuilder(f.in, Options{}).crowds()
	if err != nil || len(named) != 1 || len(partial) != 1 {
		t.Fatalf("%d are named, %d without some runs: %v", len(named), len(partial), err)
	}
	c := named[0]
	if c.cell != &f.in.Results.Cells[0] || c.waited != 100 || c.due != 10000 || len(c.runs) != 2 || c.in(0) != 1 || c.worst() != f.in.Runs[0] {
		t.Errorf("%+v", c)
	}
	if len(c.stalled) != 1 || c.stalled[0].run != f.in.Runs[1] || c.stalled[0].waited != 200 {
		t.Errorf("%+v is left out", c.stalled)
	}
	says(t, f, "in 1 of 2 runs (1 more run left out), repeat 1.", "is without 1 run of s / a: ")
}

// A stall in one phase says nothing about another.
func TestStallInAnotherPhase(t *testing.T) {
	f := late()
	r := f.in.Runs[0]
	n := r.Loads[0].Totals["before"]
	n.StalledLagNs = 900e6
	r.Loads[0].Totals["before"] = n
	b := newBuilder(f.in, Options{})
	for phase, runs := range map[string]int{"storm": 2, "": 1} {
		c, err := b.headlineCrowd(&f.in.Results.Cells[0], phase)
		if err != nil || len(c.runs) != runs || len(c.stalled) != 2-runs {
			t.Errorf("phase %q: %+v, %v", phase, c, err)
		}
	}
}

// Counts are those that were recorded; samples are read of the worst run of each cell that is named.
func TestSamplesOfWaitsAreReadOfNamedCells(t *testing.T) {
	f, read := newFixture(), map[string]int{}
	for i := range 8 {
		f.cell(cellSpec{scenario: "s", target: fmt.Sprint(i), rates: []float64{1000, 1000}, open: true})
	}
	for i, r := range f.in.Runs {
		r.Metrics[""].Set("lag_max_ms", 900)
		r.Metrics["load/small"] = record.WindowOf(map[string]float64{"waited": float64(100 + i)})
	}
	f.in.Waited = func(id string) ([]record.WaitedSecond, error) {
		read[id]++
		return []record.WaitedSecond{{Load: "small", T: 2, Phase: "measure", Waited: 1, Longest: time.Second, Sent: 1}}, nil
	}
	says(t, f, "229 of 10,000 due", "also in 5 more cells")
	for _, i := range []int{15, 13, 11} {
		if id := f.in.Runs[i].ID; read[id] != 1 {
			t.Errorf("run %s is read %d times", id, read[id])
		}
	}
	if len(read) != mostCrowds {
		t.Errorf("reads %v", read)
	}
}

// Of sets that were recorded before there was the metric, samples are counted: of a bounded number of runs, each once.
func TestWaitsOfOlderSets(t *testing.T) {
	f, read := newFixture(), map[string]int{}
	for i := range mostWaitsRead + 2 {
		f.cell(cellSpec{scenario: "s", target: fmt.Sprint(i), rates: []float64{1000}, open: true})
		f.in.Runs[i].Metrics[""].Set("lag_max_ms", 60+float64(i))
	}
	f.in.Waited = func(id string) ([]record.WaitedSecond, error) {
		read[id]++
		return []record.WaitedSecond{{Load: "small", Phase: "measure", Waited: 30}, {Load: "small", T: 1, Phase: "measure", Waited: 20}, {Load: "else", T: 1, Phase: "measure", Waited: 7}}, nil
	}
	b := newBuilder(f.in, Options{})
	for range 2 {
		named, partial, err := b.crowds()
		if err != nil || len(named) != mostWaitsRead || len(partial) != 2 {
			t.Fatalf("%d are named, %d not known: %v", len(named), len(partial), err)
		}
		if named[0].waited != 50 || partial[0].unknown[0] != f.in.Runs[0] || partial[1].unknown[0] != f.in.Runs[1] {
			t.Errorf("%+v; %+v is not known", named[0], partial[0])
		}
	}
	if n := read[f.in.Runs[2].ID]; len(read) != mostWaitsRead || n != 1 {
		t.Errorf("reads %d runs, one %d times", len(read), n)
	}
	says(t, f, "How many requests waited for a connection is not known of 2 runs of s / 0 and s / 1: they were recorded before there was the metric waited.")
}
