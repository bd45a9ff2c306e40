package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// says fails where the findings of a fixture lack a sentence.
func says(t *testing.T, f *fixture, want ...string) string {
	t.Helper()
	got := said(t, f)
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("the findings do not say %q:\n%s", w, got)
		}
	}
	return got
}

// Each run stands in one place: what the lead sentence counts, the guards below it say, and the rest is clear.
func TestWhatTheGeneratorMayHaveShaped(t *testing.T) {
	f := newFixture()
	for _, target := range []string{"a", "b", "c"} {
		f.cell(cellSpec{scenario: "s", target: target, rates: around(1000), guards: []record.Guard{{Name: "generator-cpu", OK: true}}})
	}
	breaks := func(i int, g record.Guard) { f.in.Runs[i].Guards = append(f.in.Runs[i].Guards, g) }
	busy := record.Guard{Name: "busy-machine", Taints: "timing", Message: "this machine was too busy for the load generator: 60 %", Seen: &record.Seen{Waited: 0.6}}
	worse := busy
	worse.Message, worse.Seen = "this machine was too busy for the load generator: 94 %", &record.Seen{Waited: 0.94}
	breaks(0, busy)
	breaks(1, worse)
	for i, share := range map[int]float64{1: 0.12, 3: 0.31, 4: 0.2} {
		breaks(i, record.Guard{Name: "foreign-cpu", Message: "others used " + percent(share), Seen: &record.Seen{Foreign: share}})
	}
	breaks(8, record.Guard{Name: "backends", Taints: "work", Message: "web/0 ended"}) // neither the generator's nor the machine's
	got := says(t, f,
		"The load generator or the machine it ran on may have shaped the figures of 4 of 9 runs, in 2 of 3 cells: in 2 runs not all figures are to be trusted, in 2 more runs guards only warn (busy-machine in 2 runs, foreign-cpu in 3; some in the same run).",
		"In 5 of 9 runs every guard of the load generator and of its machine held (5 guards of these kinds).",
		"(busy-machine, in 2 runs of s / a); latencies, rates and CPU figures are not to be trusted. Seen in the worst of 2 runs: 94 %.",
		"(foreign-cpu, in 3 runs of s / a and s / b); a warning: nothing is withdrawn. Seen in the worst of 3 runs: others used 31.0 %.",
		"A backend ended by itself (backends, in 1 run of s / c)")
	if i, k := strings.Index(got, "busy-machine, in"), strings.Index(got, "(backends, in"); i > k {
		t.Errorf("what the lead counts does not come first:\n%s", got)
	}
	var summary strings.Builder
	if err := Summary(&summary, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "Seen in the worst of 3 runs: others used 31.0 %."; !strings.Contains(summary.String(), want) {
		t.Errorf("the summary does not say %q:\n%s", want, summary.String())
	}
}

// Without figures nothing is called the worst: of result sets that are older than these the first run is shown.
func TestOfGuardsWithoutFiguresTheFirstIsShown(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000), guards: []record.Guard{{Name: "foreign-cpu", Message: "12 %"}}})
	f.in.Runs[1].Guards[2].Message = "31 %"
	says(t, f, "Seen in the first of 3 runs: 12 %.", "figures of all 3 runs, in 1 of 1 cell: guards only warn, and nothing is withdrawn (foreign-cpu in 3 runs).")
}

// Where the metric has no value the generator's own count speaks: how many runs that are is said, and no run is passed over.
func TestOfHowManyRunsTheCPUIsKnown(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000), guards: []record.Guard{{Name: "generator-cpu", OK: true, Seen: &record.Seen{Cores: 0.7, CPUs: 1}}}})
	f.cell(cellSpec{scenario: "s", target: "b", rates: around(1000), guards: []record.Guard{{Name: "generator-cpu", OK: true, Seen: &record.Seen{Cores: 0.4, CPUs: 1}}}})
	for i, r := range f.in.Runs {
		r.Missing = map[string]string{"load_cpu_cores": "the window was too short: no two samples"}
		if i >= 3 {
			r.Missing = nil
			r.Metrics[""].Set("load_cpu_cores", 0.41)
		}
	}
	says(t, f, "At its worst the load generator used 0.700 of 1 CPU in a closed loop (s / a); that is of all 6 runs with a closed loop; in 3 of these load_cpu_cores has no value (the window was too short), and what speaks is the generator's own count of its CPU time, which the guard generator-cpu reads.")
	f.in.Runs[0].Guards[2].Seen.Cores = 0.95 // of a run without the metric
	says(t, f, "used 0.950 of 1 CPU in a closed loop (s / a)")
}

// A footnote at a high percentile tells of the run in which the own delay was the longest.
func TestTheNoteTellsOfTheLongestDelay(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", open: true, rates: around(1000), guards: []record.Guard{{Name: "own-delay", Message: "it reached 12 ms", Seen: &record.Seen{Delay: 12, P99: 9, Above: 1}}}})
	f.in.Runs[2].Guards[2] = record.Guard{Name: "own-delay", Message: "it reached 43 ms", Seen: &record.Seen{Delay: 43, P99: 9, Above: 1}}
	var b strings.Builder
	if err := Write(&b, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "may be the load generator's own: in the worst of 3 runs: it reached 43 ms"; !strings.Contains(b.String(), want) {
		t.Errorf("no note says %q:\n%s", want, b.String())
	}
}

// Runs of which no guard was recorded, as of one that the engine's death cut short, are not called clear.
func TestRunsWithoutGuardsAreNotClear(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000), guards: []record.Guard{{Name: "send-lag", OK: true}}})
	f.in.Runs[1].Guards = nil
	says(t, f, "No guard of the load generator or of its machine is recorded of 1 of 3 runs.", "In 2 of 3 runs every guard of the load generator and of its machine held (2 guards of these kinds).")
}

// Of clear runs in which the generator's own delay was above the p99 it is known how much of a load it held up and how much may be;
// every figure that it can make is named.
func TestWhatTheOwnDelayMayStillMake(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", open: true, rates: around(1000), guards: []record.Guard{{Name: "own-delay", OK: true}}})
	for i, seen := range []*record.Seen{{Delay: 12, P99: 9, Above: 1, Late: 0.002, May: 0.3}, {Delay: 30, P99: 9, Above: 2, Late: 0.25, May: 0.3}, {Delay: 3, P99: 9, Late: 0, May: 0.3}} {
		f.in.Runs[i].Guards[2].Seen = seen
	}
	b := newBuilder(f.in, Options{})
	s := b.standing()
	if len(s.clear) != 3 || len(s.tails) != 2 || s.late != 0.25 || s.may != 0.3 {
		t.Errorf("%d clear, %d of them with tails, late %v, may %v", len(s.clear), len(s.tails), s.late, s.may)
	}
	words := plain(b.clear(&s))
	for _, want := range append([]string{percent(0.25), percent(0.3), "p99_ms", "worst_second_p99_ms", "max_ms"}, tails...) {
		if !strings.Contains(words, want) {
			t.Errorf("%s is not in %q", want, words)
		}
	}
	f.in.Runs[0].Guards[2].Seen.May, f.in.Runs[1].Guards[2].Seen.May = 0, 0 // older than these
	if s := b.standing(); !strings.Contains(plain(b.clear(&s)), "for no more requests than the guard own-delay lets pass") {
		t.Error(plain(b.clear(&s)))
	}
}

// A run without results stands nowhere: its figures are not in the report, and no sentence counts it.
func TestRunsWithoutResultsStandNowhere(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000), guards: []record.Guard{{Name: "send-lag", OK: true}}})
	f.cell(cellSpec{scenario: "s", target: "b", rates: []float64{1000}})
	f.in.Runs[1].Status, f.in.Runs[1].Guards = record.Failed, nil
	f.in.Runs[3].Status, f.in.Runs[3].Guards = record.Failed, []record.Guard{{Name: "busy-machine", Taints: "timing", Message: "60 %"}}
	b := newBuilder(f.in, Options{})
	if s := b.standing(); s.all != 2 || s.unjudged != 0 || len(s.tainted) != 0 || len(s.clear) != 2 {
		t.Errorf("%d in all, %d unjudged, %d tainted, %d clear", s.all, s.unjudged, len(s.tainted), len(s.clear))
	}
	if got := b.shareOfCells(f.in.Runs[:1]); got != "1 of 1 cell" {
		t.Error(got)
	}
	if items := b.distrust(); len(items) != 0 {
		t.Errorf("a guard of figures that are not there: %v", items)
	}
}

// The worst is where the least of the CPUs was left, not where the most cores were used.
func TestTheWorstIsAPartOfTheCPUs(t *testing.T) {
	f := newFixture()
	seen := func(cores float64, cpus int) []record.Guard {
		return []record.Guard{{Name: "generator-cpu", OK: true, Seen: &record.Seen{Cores: cores, CPUs: cpus}}}
	}
	f.cell(cellSpec{scenario: "s", target: "narrow", rates: around(1000), guards: seen(0.95, 1)})
	f.cell(cellSpec{scenario: "s", target: "wide", rates: around(1000), guards: seen(3, 8)})
	b := newBuilder(f.in, Options{})
	if s := b.spending(); s.at == nil || s.at.Coord.Target != "narrow" || s.used != (cpuUse{0.95, 1}) {
		t.Errorf("the worst is %+v in %+v", s.used, s.at)
	}
	for _, r := range f.in.Runs[3:] {
		r.Guards[2].Seen.CPUs = 0 // not known: cores are compared
	}
	if s := b.spending(); s.at.Coord.Target != "wide" || s.used.cores != 3 {
		t.Errorf("the worst is %+v in %+v", s.used, s.at)
	}
}
