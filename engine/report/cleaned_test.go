package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// A clean latency may lack the very change that a verdict is about: it says which actions were done where it does not look.
func TestWhatACleanLatencyCannotHaveSeen(t *testing.T) {
	f := newFixture()
	f.in.Results.Descs["p99_clean_ms"] = series.Desc{Name: "p99_clean_ms", Unit: "ms", Doc: "p99_ms without some seconds"}
	f.cell(cellSpec{scenario: "churn", target: "a", rates: around(1000), open: true})
	f.cell(cellSpec{scenario: "other", target: "a", rates: around(1000), open: true})
	for _, r := range f.in.Runs {
		r.LeftOut = []record.LeftOut{{T: 1, Why: "the window's first second"}}
		r.Actions = []record.Action{{Kind: "load", Name: "load", Start: 1}, {Kind: "scale", Name: "scale web to 8", Start: 0.9, End: 1.1}, {Kind: "scale", Name: "scale web to 2", Start: 2}}
	}
	f.in.Runs[2].Actions[1].Start = 2.5 // and no end: it went on
	f.in.Results.Verdicts = []record.Judgement{{Verdict: "near", Coord: record.Coord{Scenario: "churn", Target: "a"}, Outcome: record.Fail, Expression: "p99_clean_ms < 1"}}
	want := "p99_clean_ms in \u201cnear\u201d is not the p99_ms of the other findings: it is p99_ms without some seconds; in churn 2 of 6 actions that changed something fell into a second that it is without, at least in part (scale web to 8)."
	says(t, f, want)
	v := &f.in.Results.Verdicts[0] // by a name that stands for it
	v.Expression, v.About, v.Let = "grown > 1.5", "it matters", []record.Operand{{Text: "grown", Value: "ratio(p99_clean_ms, mean_ms)"}}
	says(t, f, want)
	var b strings.Builder
	if err := Write(&b, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "it matters; grown = ratio(p99_clean_ms, mean_ms)"; !strings.Contains(strings.ReplaceAll(b.String(), `\_`, "_"), want) {
		t.Errorf("the report does not say %q:\n%s", want, b.String())
	}
	for _, r := range f.in.Runs {
		r.LeftOut = nil
	}
	if got := said(t, f); strings.Contains(got, "a second that it is without") {
		t.Errorf("nothing was left out:\n%s", got)
	}
}
