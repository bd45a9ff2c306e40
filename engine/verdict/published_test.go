package verdict

import (
	"context"
	"testing"
)

// What is known of all runs of a cell together is the cell's value, and says nothing of single runs; runs of which only the
// order of their values is known are not set beside others.
func TestPublishedRuns(t *testing.T) {
	s := &Schema{Targets: []Target{{Name: "a"}, {Name: "b"}}, Stages: []Stage{{Name: "all", Scenarios: []string{"s"}}},
		Scenarios: map[string]*Scenario{"s": {Metrics: []Metric{{Name: "p99_ms", Class: Latency}, {Name: "req_per_s", Class: Rate}, {Name: "cores", Class: CPU},
			{Name: "requests", Class: Count, Across: BySum}, {Name: "failed", Class: Count, Across: BySum}, {Name: "slow_over_1s", Class: Count, Across: BySum}}}}}
	c, err := NewCompiler(s)
	if err != nil {
		t.Fatal(err)
	}
	cell := func(p99, failed float64) *Cell {
		cell := &Cell{Planned: 3, Whole: map[string]float64{"p99_ms": p99, "requests": 1000, "failed": failed, "slow_over_1s": 0}}
		for i := range 3 {
			cell.Runs = append(cell.Runs, &Run{Round: 1, Repeat: i + 1, Metrics: Numbers{"req_per_s": float64(100 + i), "cores": 2},
				Absent: map[string]string{"p99_ms": "only the median of the runs was published"}, Ranked: map[string]bool{"req_per_s": true}})
		}
		return cell
	}
	d := &Data{Cells: map[Coord]*Cell{{Stage: "all", Scenario: "s", Target: "a"}: cell(2, 0), {Stage: "all", Scenario: "s", Target: "b"}: cell(4, 5)}}
	for _, x := range []struct{ each, pass, outcome, reason string }{
		{"cell", `p99_ms < 3`, "pass", ""},
		{"cell", `p99_ms < target("b").p99_ms && failed == 0`, "pass", ""},
		{"cell", `p99_ms > 3`, "fail", ""},
		{"cell", `ratio(p99_ms, p99_ms) == 1`, "pass", ""},
		{"cell", `ratio(p99_ms, target("b").p99_ms) < 1`, "inconclusive", "ratio() is n/a: distorted: 0.5 % of the requests of all/s/b failed or took over a second once sent"},
		{"cell", `runs.p99_ms.max() < 3`, "inconclusive", "no data: run 1 of all/s/a has no p99_ms: only the median of the runs was published"},
		{"run", `p99_ms < 3`, "inconclusive", "no data: run 1 of all/s/a has no p99_ms: only the median of the runs was published"},
		{"run", `req_per_s >= 100`, "pass", ""},
		{"run", `req_per_s >= 102`, "fail", "2 of 3 runs"},
		{"run", `cores == target("b").cores`, "pass", ""},
		{"run", `req_per_s > 40 * cores`, "inconclusive", "which run of all/s/a gave which req_per_s is not known, so it cannot be set beside cores run by run"},
		{"run", `req_per_s == target("b").req_per_s`, "inconclusive", "which run of all/s/a gave which req_per_s is not known, so it cannot be set beside req_per_s run by run"},
		{"cell", `req_per_s == target("b").req_per_s`, "pass", ""},
	} {
		rules, problems := NewRules(c, []Definition{{Name: "v", Each: x.each, Where: `target == "a"`, Pass: x.pass}})
		if len(problems) > 0 {
			t.Errorf("%s: %v", x.pass, problems)
			continue
		}
		js := rules.Judge(context.Background(), d, Options{})
		if len(js) != 1 || string(js[0].Outcome) != x.outcome || js[0].Reason != x.reason {
			t.Errorf("each %s, %s: %+v, want %s: %s", x.each, x.pass, js, x.outcome, x.reason)
		}
	}
}
