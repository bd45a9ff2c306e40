package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// said are the findings of a fixture, a line each.
func said(t *testing.T, f *fixture) string {
	t.Helper()
	s, err := findings(newBuilder(f.in, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, block := range s[0].Blocks {
		if l, ok := block.(List); ok {
			for _, item := range l.Items {
				lines = append(lines, terminal(item))
			}
		}
	}
	return strings.Join(lines, "\n")
}

func TestFindings(t *testing.T) {
	pair := func(a, b cellSpec) func(*fixture) {
		return func(f *fixture) {
			a.scenario, a.target, b.scenario, b.target = "s", "a", "s", "b"
			f.cell(a)
			f.cell(b)
		}
	}
	for _, c := range []struct {
		name string
		make func(*fixture)
		want []string
		not  string
	}{
		{"a closed loop is compared by its rate", pair(cellSpec{rates: around(2000)}, cellSpec{rates: around(1000)}),
			[]string{"a is ahead beyond the noise in 1 of 1 comparison: s (req_per_s 2.000 times that of b (95 % interval 1.955 to 2.046), noise floor 1.023)."}, "p99_ms"},
		{"an open loop is compared by its latency", pair(cellSpec{rates: around(2000), open: true}, cellSpec{rates: around(1000), open: true}),
			[]string{"a is ahead beyond the noise in 1 of 1 comparison: s (p99_ms 0.500 times that of b"}, "req_per_s"},
		{"one run a side says nothing about noise", pair(cellSpec{rates: []float64{2000}}, cellSpec{rates: []float64{1000}}),
			[]string{"Too few runs to tell noise from difference (3 a side are the least) in 1 of 1 comparison: s (req_per_s of a 2.000 times that of b)."}, "ahead"},
		{"noise puts nobody ahead", pair(cellSpec{rates: around(1000)}, cellSpec{rates: around(1005)}),
			[]string{"Within the noise, so nobody is ahead, in 1 of 1 comparison: s (req_per_s of b 1.005 times that of a, noise floor 1.023)."}, "is ahead beyond"},
		{"a tainted comparison puts nobody ahead", pair(cellSpec{rates: around(2000), tainted: "busy"}, cellSpec{rates: around(1000)}),
			[]string{"A guard did not hold, so who is ahead is not to be trusted, in 1 of 1 comparison: s (req_per_s of a 2.000 times that of b)."}, "is ahead beyond"},
		{"failures are counted", pair(cellSpec{rates: around(1000), failed: load.Counts{Non2xx: map[int]int64{502: 3}, Errors: map[string]int64{load.Reset: 2}}}, cellSpec{rates: around(1000)}),
			[]string{"5 requests failed of 30,000 (0.0167 %), in 1 of 2 cells.", "s / a: 5 of 15,000 (3 answered 502, 2 reset), in 1 of 3 runs; in repeat 3, in phase measure."}, "No request failed"},
		{"none failed", pair(cellSpec{rates: around(1000)}, cellSpec{rates: around(1000)}), []string{"No request failed, of 30,000 in 6 runs."}, ""},
		{"no load, no claim", func(f *fixture) { f.cell(cellSpec{scenario: "s", target: "a", status: record.Skipped}) },
			[]string{"No request was counted"}, "No request failed"},
		{"a guard of two loads breaks once a run", func(f *fixture) {
			g := record.Guard{Name: "send-lag", Taints: "timing", Message: "the load generator was the bottleneck: 1 % of the requests were sent 40 ms late"}
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{g, g}})
		}, []string{"The load generator was the bottleneck in 1 of 1 run: it sent late (send-lag, in 1 run of s / a). Latencies, rates and CPU figures of these are not to be trusted. Seen: 1 % of the requests were sent 40 ms late."}, ""},
		{"the generator was no bottleneck", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{{Name: "send-lag", OK: true}, {Name: "generator-cpu", OK: true}}})
			f.in.Results.Cells[0].Metrics[""]["load_cpu_cores"] = record.Value{Value: 0.5, Runs: []float64{0.5}}
		}, []string{"The load generator was not the bottleneck in any run: 2 guards of it held. At its worst, in closed loops it used up to 0.500 of 2 CPUs (s / a)."}, ""},
		{"warnings come together", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{{Name: "foreign-cpu", Message: "12 %"}, {Name: "clock", Taints: "timing", Message: "1 s"}}})
		}, []string{"The machine's clock stepped while it was measured (clock, in 1 run of s / a); latencies, rates and CPU figures are not to be trusted. Seen: 1 s.", "Only a warning, nothing is withdrawn: something that is not of the plan used the machine's CPU (foreign-cpu, in 1 run of s / a; 12 %)."}, ""},
		{"fewer runs than planned", func(f *fixture) {
			f.cell(cellSpec{stage: "one", scenario: "s", target: "a", matrix: []record.Axis{{Name: "x", Value: "1"}, {Name: "y", Value: "2"}}, rates: around(1000)})
			f.in.Results.Stages = []record.Stage{{Name: "one", Planned: map[string]int{"one/a/s[x=1,y=2]": 5}}}
			f.in.Runs[1].Status = record.Failed
		}, []string{"Fewer runs with results than planned: s / x=1 / y=2 / a 2 of 5 (1 error and 2 never began)."}, "Nothing is missing"},
		{"cells without a result are put together by reason", func(f *fixture) {
			for _, target := range []string{"a", "b", "c"} {
				f.cell(cellSpec{scenario: "s", target: target, status: record.Failed, reason: "install: no"})
			}
		}, []string{"No result of s / a, s / b and s / c (error: install: no)."}, ""},
		{"nothing is missing", pair(cellSpec{rates: around(1000)}, cellSpec{rates: around(1000)}), []string{"Nothing is missing: 2 cells with a result, and no run less than planned."}, ""},
		{"of three targets each one's losses are named", func(f *fixture) {
			for i, target := range []string{"a", "b", "c"} {
				f.cell(cellSpec{scenario: "s", target: target, rates: around(1000 * float64(i+1))})
			}
		}, []string{"c is ahead beyond the noise in 1 of 1 comparison", "a loses beyond the noise in 1 of 1 comparison: s (req_per_s 0.333 times that of c)."}, "c loses"},
		{"a process that died", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
			f.in.Runs[0].Processes[0].Died = "a/0 ended: signal: killed"
		}, []string{"1 process died: a/0 ended: signal: killed (s / a, repeat 1)."}, ""},
		{"a pool that was full", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true})
			l := &f.in.Runs[0].Loads[0]
			n := l.Totals["measure"]
			n.Sent, n.StalledLagNs = 2000, 12e6
			l.Totals["measure"] = n
			f.in.Runs[0].Guards = append(f.in.Runs[0].Guards, record.Guard{Name: "send-lag", OK: true})
		}, []string{"No connection was free in s / a (16 connections): in phase measure 2,000 of 5,000 requests that were due were sent (40.0 %), the others waited.",
			"in open loops its own delay in sending was 12.0 ms (s / a)."}, "ms late"},
		{"a generator that stalled filled no pool", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true})
			l := &f.in.Runs[0].Loads[0]
			n := l.Totals["measure"]
			n.Sent, n.StalledLagNs = 2000, 900e6
			l.Totals["measure"] = n
		}, nil, "No connection was free"},
		{"a machine that was too busy is not the generator's bottleneck", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{{Name: "send-lag", OK: true}, {Name: "busy-machine", Taints: "timing", Message: "this machine was too busy for the load generator: it waited 60 % of the time"}}})
		}, []string{"The load generator was not the bottleneck in any run", "This machine was too busy for the load generator: it had to wait for processes that are not of the plan (busy-machine, in 1 run of s / a)", "Seen: it waited 60 % of the time."}, "was the bottleneck in"},
		{"a gate of its own round", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
			f.in.Results.Verdicts = []record.Judgement{{Verdict: "v", Coord: record.Coord{Target: "a", Round: 2}, Outcome: record.Fail, Gate: "true", Expression: "x < 1", Operands: []record.Operand{{Text: "x", Value: "2"}}}}
		}, []string{"The gate \u201cv\u201d fails: a, round 2 (x < 1, x = 2)."}, ""},
		{"a case keeps its word, and nothing is said twice", func(f *fixture) {
			x := record.Operand{Text: "x", Value: "2"}
			f.in.Results.Verdicts = []record.Judgement{{Verdict: "v", Coord: record.Coord{Target: "a"}, Outcome: record.Fail, Label: "refuted", Expression: "x >= 1", Reason: "x >= 1", Operands: []record.Operand{x, x}},
				{Verdict: "w", Coord: record.Coord{Target: "a"}, Outcome: record.Fail, Label: "refuted", Expression: "x >= 1", Reason: "1 of 3 runs: x >= 1", Operands: []record.Operand{x}}}
		}, []string{"fails: a (refuted, x >= 1, x = 2).", "fails: a (refuted, x >= 1, x = 2, 1 of 3 runs)."}, ""},
		{"what is inconclusive says why", func(f *fixture) {
			f.in.Results.Verdicts = []record.Judgement{{Verdict: "v", Coord: record.Coord{Target: "a"}, Outcome: record.Inconclusive, Label: "the noise hides a loss that matters", Gate: "true"},
				{Verdict: "w", Coord: record.Coord{Target: "a"}, Outcome: record.Inconclusive, Expression: "x > 1", Operands: []record.Operand{{Text: "x", Value: "2"}}}}
		}, []string{"is inconclusive: a; because: the noise hides a loss that matters.", "is inconclusive: a; because: x > 1, x = 2."}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture()
			c.make(f)
			got := said(t, f)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("the findings do not say %q:\n%s", w, got)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("the findings say %q:\n%s", c.not, got)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a and b"}, {[]string{"a", "b", "c"}, "a, b and c"}, {[]string{"a", "b", "c", "d"}, "a, b, c and 1 more"}} {
		if got := some(c.names, 3); got != c.want {
			t.Errorf("%v: got %q, want %q", c.names, got, c.want)
		}
	}
}

// However many cells there are, the findings fit a screen.
func TestFindingsStayShort(t *testing.T) {
	f := newFixture()
	for s := range 20 {
		for target := range 20 {
			f.cell(cellSpec{scenario: fmt.Sprintf("scenario-%d", s), target: fmt.Sprintf("target-%d", target), rates: around(1000 + 100*float64((s*7+target*3)%20)), phases: shakenPhases,
				failed: load.Counts{Errors: map[string]int64{load.Reset: int64(1 + s)}}, guards: []record.Guard{{Name: "send-lag", Taints: "timing", Message: "late"}, {Name: "foreign-cpu", Message: "busy"}, {Name: "clock", Taints: "timing", Message: "stepped"}}})
		}
		f.cell(cellSpec{scenario: fmt.Sprintf("scenario-%d", s), target: "broken", status: record.Failed, reason: fmt.Sprintf("error %d", s)})
	}
	got := said(t, f)
	lines := strings.Split(got, "\n")
	if len(lines) > 45 {
		t.Errorf("%d findings:\n%s", len(lines), got)
	}
	for _, l := range lines {
		if len(l) > 900 {
			t.Errorf("a finding of %d letters: %s", len(l), l)
		}
	}
}
