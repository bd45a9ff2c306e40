package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

var shakenPhases = []record.Phase{
	{Name: "before", Kind: "load", End: 3, Recorded: true},
	{Name: "less", Kind: "churn", Start: 3, End: 6, Recorded: true},
	{Name: "after", Kind: "measure", Start: 6, End: 9, Recorded: true, Headline: true},
}

// phased makes a cell whose phases have a p99 and failures.
func phased(f *fixture, target string, before, less float64, failed float64) {
	c := f.cell(cellSpec{scenario: "s", target: target, rates: around(1000), open: true, phases: shakenPhases})
	for phase, v := range map[string]float64{"before": before, "less": less, "after": before} {
		c.Metrics["phase/"+phase] = record.CellWindowOf(map[string]record.Value{"p99_ms": {Value: v, Runs: around(v)}, "req_per_s": {Value: 1000, Runs: around(1000)}, "failed": {}})
	}
	c.Metrics["phase/less"].Set("failed", record.Value{Value: failed, Runs: []float64{failed, 0, 0}})
}

func TestChurnBesideQuiet(t *testing.T) {
	f := newFixture()
	phased(f, "a", 2, 4, 0)
	phased(f, "b", 2, 20, 6)
	got := said(t, f)
	want := "s, phase less beside phase before: the p99_ms of b went from 2.00 to 20.0 ms (10.0 times, beyond the noise floor of 1.023); of a went from 2.00 to 4.00 ms (2.000 times, beyond the noise floor of 1.023); failed in it, all runs together: 6 of b (0 in quiet)."
	if !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
}

// A scenario that is never quiet is set beside the one that sends the same to the same target, and to no other one.
func TestChurnBesideQuietScenario(t *testing.T) {
	churn := []record.Phase{{Name: "less", Kind: "churn", End: 3, Recorded: true, Headline: true}}
	f := newFixture()
	f.cell(cellSpec{scenario: "other load", target: "a", rates: around(500)})
	f.cell(cellSpec{scenario: "quiet", target: "b", rates: around(100), open: true})
	f.cell(cellSpec{scenario: "quiet", target: "a", rates: around(1000), open: true})
	f.cell(cellSpec{scenario: "churned", target: "a", rates: around(250), open: true, phases: churn})
	if got, want := said(t, f), "churned beside scenario quiet: the p99_ms of a went from 1.00 to 4.00 ms (4.000 times, beyond the noise floor of 1.023); no request failed in it; req_per_s fell: of a to 0.250 times, beyond the noise."; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
	f = newFixture()
	f.cell(cellSpec{scenario: "churned", target: "a", rates: around(250), open: true, phases: churn})
	if got, want := said(t, f), "churned cannot be set beside anything quiet: it has no quiet phase before"; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
}

// A rate counts requests where they were due: that they were sent late is said beside it, with what is counted where.
func TestSentLateUnderChurn(t *testing.T) {
	f := newFixture()
	phased(f, "a", 2, 4, 0)
	m := f.in.Results.Cells[0].Metrics["phase/less"]
	for name, v := range map[string]float64{"sent": 1100, "requests": 3000, "generator": 0, "errors_connect": 0, "errors_tls": 0} {
		m.Set(name, record.Value{Value: v, Runs: []float64{v}})
	}
	if got, want := said(t, f), "no request failed in it; fewer requests were sent in it than were due in it, all runs together: of a 1,100 of 3,000 (req_per_s counts each that was answered where it was due, however late, and does not show that)."; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
}

// What is measured after a fault without a quiet phase before it is no figure of the fault.
func TestFaultWithoutQuietBefore(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "quiet", target: "a", rates: around(1000), open: true})
	c := f.cell(cellSpec{scenario: "broken", target: "a", rates: around(1000), open: true, phases: []record.Phase{
		{Name: "cut", Kind: "fault", End: 3, Recorded: true}, {Name: "after", Kind: "measure", Start: 3, End: 6, Recorded: true, Headline: true}}})
	c.Metrics["phase/cut"] = record.CellWindowOf(map[string]record.Value{"p99_ms": {Value: 8, Runs: around(8)}, "req_per_s": {Value: 1000, Runs: around(1000)}, "failed": {Value: 3, Runs: []float64{3, 0, 0}}})
	if got, want := said(t, f), "broken, phase cut beside scenario quiet: the p99_ms of a went from 1.00 to 8.00 ms (8.000 times, beyond the noise floor of 1.023); failed in it, all runs together: 3 of a (0 in quiet)."; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
	c.Metrics["phase/cut"] = without(c.Metrics["phase/cut"], "failed")
	if got, want := said(t, f), "whether requests failed in it is not known."; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
}

// What waited for a connection comes first. p99_ms is the median of the runs' p99s: it has the waits in it where most of these have.
func TestWaitsUnderChurnComeFirst(t *testing.T) {
	churn := []record.Phase{{Name: "less", Kind: "churn", End: 5, Recorded: true, Headline: true}}
	f := newFixture()
	f.cell(cellSpec{scenario: "quiet", target: "a", rates: around(1000), open: true})
	f.cell(cellSpec{scenario: "churned", target: "a", rates: around(250), open: true, phases: churn})
	f.waits(5, 700, 50)
	says(t, f, "churned beside scenario quiet: requests waited for a connection, all runs together: of a 750 of 3,749 (20.0 %, the longest at least 2,000 ms; 0 in quiet; in 1 of 3 runs so many that their own p99 has them); the p99_ms of a went from 1.00 to 4.00 ms")
	f.waits(6, 30)
	says(t, f, "of a 780 of 3,749 (20.8 %, the longest at least")
	f.in.Runs[0].Metrics["load/small"] = record.WindowOf(map[string]float64{"waited": 7})
	says(t, f, "; 7 of 15,000 in quiet; p99_ms has the waits in it)")
	f.waits(5, 5)
	f.waits(6, 5)
	if got := said(t, f); strings.Contains(got, "requests waited for a connection, all") {
		t.Errorf("5 of 1,250 requests are in no p99:\n%s", got)
	}
}

// Those whose p99 has no ratio because too much failed are among the worst: they are named, with their value and why.
func TestTheWorstUnderChurnAreNamed(t *testing.T) {
	f := newFixture()
	for i, target := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		phased(f, target, 2, 4+float64(i), 0)
		c := &f.in.Results.Cells[i]
		if target == "a" || target == "b" {
			c.Metrics["phase/less"].Set("p99_ms", record.Value{Value: 3000, Runs: []float64{3000}})
			c.Metrics["phase/less"].Set("requests", record.Value{Value: 1000, Runs: []float64{1000}})
			c.Metrics["phase/less"].Set("failed", record.Value{Value: 30, Runs: []float64{30}})
		}
		if target == "c" {
			c.Metrics["phase/less"] = without(c.Metrics["phase/less"], "p99_ms")
			c.Missing = map[string]string{"phase/less/p99_ms": "no request succeeded"}
		}
	}
	got := said(t, f)
	for _, want := range []string{"the p99_ms of c is not known (p99_ms: no request succeeded); of a went from 2.00 to 3,000 ms (no ratio: distorted: 3 % of the requests of s / a, phase less failed or took over a second once sent); of b went from 2.00 to 3,000 ms (no ratio:",
		"; of f went from 2.00 to 9.00 ms (4.500 times, beyond the noise floor of 1.023); of 2 other targets see What churn and faults did; "} {
		if !strings.Contains(got, want) {
			t.Errorf("the findings do not say %q:\n%s", want, got)
		}
	}
}

// without is a window without a metric.
func without(w *record.CellWindow, name string) *record.CellWindow {
	m := w.Map()
	delete(m, name)
	return record.CellWindowOf(m)
}
