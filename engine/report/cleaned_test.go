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
		r.Actions = []record.Action{{Kind: "load", Name: "load", Phase: "measure", Start: 1},
			{Kind: "scale", Name: "scale web to 4", Phase: "warm-up", Start: 0.2}, // no phase of the headline
			{Kind: "scale", Name: "scale web to 8", Phase: "measure", Start: 1.1, End: 1.2},
			{Kind: "scale", Name: "scale web to 2", Phase: "measure", Start: 2}}
	}
	f.in.Runs[2].Actions[2].Start = 2.5
	f.in.Results.Verdicts = []record.Judgement{{Verdict: "near", Coord: record.Coord{Scenario: "churn", Target: "a"}, Outcome: record.Fail, Expression: "p99_clean_ms < 1"}}
	want := "p99_clean_ms in \u201cnear\u201d is not the p99_ms of the other findings: it is p99_ms without some seconds; in churn 2 of 6 actions that changed something began in a second that it is without (scale web to 8)."
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

// An action began in a second that is left out if that is one of its own phase: not if it only went on in it, nor if only the
// part of the second that the phase before has is left out.
func TestWhereAnActionBegan(t *testing.T) {
	phases := []record.Phase{{Name: "warm-up", End: 1}, {Name: "before", Start: 1, End: 3.4, Headline: true}, {Name: "storm", Start: 3.4, End: 6, Headline: true}}
	left := []record.LeftOut{{T: 1, Phase: "before"}, {T: 3, Phase: "before"}, {T: 5, Phase: "storm"}}
	for _, tc := range []struct {
		what   string
		action record.Action
		n, all int
	}{
		{"began in it", record.Action{Kind: "scale", Phase: "before", Start: 1.5, End: 2.5}, 1, 1},
		{"went on in it", record.Action{Kind: "toxic", Phase: "storm", Start: 4.5, End: 6}, 0, 1},
		{"began in the part of the second that counts", record.Action{Kind: "scale", Phase: "storm", Start: 3.5, End: 3.6}, 0, 1},
		{"began in the part that does not", record.Action{Kind: "scale", Phase: "before", Start: 3.2, End: 3.6}, 1, 1},
		{"of a warm-up", record.Action{Kind: "scale", Phase: "warm-up", Start: 0.5, End: 1.5}, 0, 0},
		{"never", record.Action{Kind: "scale", Phase: "before", Start: 1.5, Never: true}, 0, 0},
		{"of the load", record.Action{Kind: "load", Phase: "before", Start: 1.5}, 0, 0},
	} {
		var u unseen
		if u.add(&record.Run{Phases: phases, LeftOut: left, Actions: []record.Action{tc.action}}); u.n != tc.n || u.all != tc.all {
			t.Errorf("%s: %d of %d, want %d of %d", tc.what, u.n, u.all, tc.n, tc.all)
		}
	}
	u := unseen{}
	if u.add(&record.Run{Phases: phases, LeftOut: []record.LeftOut{{T: 3}}, Actions: []record.Action{{Kind: "scale", Phase: "storm", Start: 3.5}}}); u.n != 1 {
		t.Error("a second of an older result set is of any phase")
	}
}
