package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
		switch x := block.(type) {
		case List:
			for _, item := range x.Items {
				lines = append(lines, terminal(item))
			}
		case Table:
			for _, row := range x.Rows {
				var cells []string
				for _, c := range row {
					cells = append(cells, terminal(c))
				}
				lines = append(lines, strings.Join(cells, " | "))
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
			[]string{"s | req_per_s | a | 2,000 | b | 1,000 | 2.000 | yes: the noise floor is 1.023 (95 % interval 1.955 to 2.046)"}, "p99_ms"},
		{"an open loop is compared by its latency", pair(cellSpec{rates: around(2000), open: true}, cellSpec{rates: around(1000), open: true}),
			[]string{"s | p99_ms | a | 0.500 | b | 1.00 | 0.500 | yes: the noise floor is"}, "req_per_s"},
		{"one run a side says nothing about noise", pair(cellSpec{rates: []float64{2000}}, cellSpec{rates: []float64{1000}}),
			[]string{"s | req_per_s | a | 2,000 | b | 1,000 | 2.000 | not known: 1 run a side, 3 are needed"}, "yes"},
		{"noise puts nobody ahead", pair(cellSpec{rates: around(1000)}, cellSpec{rates: around(1005)}),
			[]string{"s | req_per_s | b | 1,005 | a | 1,000 | 1.005 | no: within the noise floor of 1.023; about 33 runs a side would tell"}, "yes"},
		{"a tainted comparison puts nobody ahead", pair(cellSpec{rates: around(2000), tainted: "busy"}, cellSpec{rates: around(1000)}),
			[]string{"s | req_per_s | a | 2,000 | b | 1,000 | 2.000 | not to be trusted*: a guard did not hold; as measured beyond the noise floor of 1.023"}, "yes"},
		{"two and three runs", pair(cellSpec{rates: around(2000)}, cellSpec{rates: []float64{1000, 1001}}), []string{"not known: 3 and 2 runs, 3 a side are needed"}, "yes"},
		{"only one has a value", pair(cellSpec{rates: around(2000)}, cellSpec{status: record.Failed, reason: "install: no"}), []string{"s | req_per_s | n/a |  | n/a |  | n/a | nothing to compare: only a has a value*"}, "yes"},
		{"what has no ratio says why", pair(cellSpec{rates: around(2000), open: true}, cellSpec{rates: around(1000), open: true, failed: load.Counts{Errors: map[string]int64{load.Reset: 100}}}),
			[]string{"s | p99_ms | a | 0.500 | b | 1.00 | n/a | no ratio: distorted: 0.667 % of the requests of b failed or took over a second once sent"}, "yes"},
		{"ties beyond the second", func(f *fixture) {
			for i, target := range []string{"a", "b", "c", "d"} {
				f.cell(cellSpec{scenario: "s", target: target, rates: around([]float64{1005, 1004, 1003, 500}[i])})
			}
		}, []string{"s | req_per_s | a | 1,005 | b | 1,004 | 1.001 | no: within the noise floor of 1.023", "; nor is c (ratio 1.002, noise floor 1.023) told apart", "d loses beyond the noise in 1 of 1 comparison"}, "yes"},
		{"a third whose runs are far apart may be as good as the first", func(f *fixture) {
			for i, rates := range [][]float64{around(2000), around(1000), {300, 900, 2700}} {
				f.cell(cellSpec{scenario: "s", target: []string{"a", "b", "c"}[i], rates: rates})
			}
		}, []string{"s | req_per_s | a | 2,000 | b | 1,000 | 2.000 | not of all: b is behind, the noise floor is 1.023 (95 % interval 1.955 to 2.046); c (ratio 2.222, noise floor 5.819) is not told apart"}, "yes"},
		{"of the same value nobody is first", func(f *fixture) {
			for _, target := range []string{"a", "b", "c"} {
				f.cell(cellSpec{scenario: "s", target: target, rates: around(1000), open: true})
			}
			for i, v := range []float64{0, 0, 7} {
				f.in.Results.Cells[i].Metrics[""].Set("p99_ms", record.Value{Value: v, Runs: []float64{v, v, v}})
			}
		}, []string{"s | p99_ms | nobody | 0 | n/a |  | n/a | no: a and b have the same value", "c has no ratio to the best in 1 of 1 comparison: s (p99_ms 7.00 beside 0 of a; a is 0)."}, "yes"},
		{"of values that say nothing none is first", func(f *fixture) {
			for i, target := range []string{"a", "b"} {
				f.cell(cellSpec{scenario: "s", target: target, rates: around(float64(1000 * (i + 1))), open: true, failed: load.Counts{Errors: map[string]int64{load.Reset: 100}}})
			}
		}, []string{"s | p99_ms | nobody | n/a | n/a |  | n/a | no: no value says anything: distorted: 0.333 % of the requests of b failed or took over a second once sent"}, "yes"},
		{"what has no ratio to the best is not passed over where losses are named", func(f *fixture) {
			for _, scenario := range []string{"s", "t"} {
				for i, target := range []string{"a", "b", "c", "d"} {
					c := cellSpec{scenario: scenario, target: target, rates: around([]float64{2000, 1990, 1000, 1950}[i]), open: true}
					if scenario == "t" && target == "c" {
						c.failed = load.Counts{Errors: map[string]int64{load.Reset: 100}}
					}
					f.cell(c)
				}
			}
			worst := &f.in.Results.Cells[7] // none of its requests succeeded
			worst.Metrics[""] = without(worst.Metrics[""], "p99_ms")
			worst.Missing = map[string]string{"p99_ms": "no request succeeded"}
		}, []string{
			"c loses beyond the noise in 1 of 2 comparisons: s (p99_ms 2.000 times that of a).", "c has no ratio to the best in 1 of 2 comparisons: t (p99_ms 1.00 beside 0.500 of a; distorted: 0.667 % of the requests of c failed or took over a second once sent).",
			"d loses beyond the noise in 1 of 2 comparisons: s (p99_ms 1.026 times that of a).", "d has no ratio to the best in 1 of 2 comparisons: t (no p99_ms beside 0.500 of a; p99_ms: no request succeeded).",
		}, "b loses"},
		{"several comparisons are counted", func(f *fixture) {
			for i, scenario := range []string{"s", "t", "u"} {
				f.cell(cellSpec{scenario: scenario, target: "a", rates: around(1000)})
				f.cell(cellSpec{scenario: scenario, target: "b", rates: around([]float64{2000, 500, 1001}[i])})
			}
		}, []string{"a is ahead beyond the noise in 1 of 3 comparisons, b in 1; within the noise in 1."}, "Nobody"},
		{"nobody is ahead", func(f *fixture) {
			for _, scenario := range []string{"s", "t"} {
				f.cell(cellSpec{scenario: scenario, target: "a", rates: around(1000)})
				f.cell(cellSpec{scenario: scenario, target: "b", rates: []float64{2000}})
			}
		}, []string{"Nobody is ahead beyond the noise in any of 2 comparisons; the noise is not known in 2."}, "yes"},
		{"failures are counted", pair(cellSpec{rates: around(1000), failed: load.Counts{Non2xx: map[int]int64{502: 3}, Errors: map[string]int64{load.Reset: 2}}}, cellSpec{rates: around(1000)}),
			[]string{"5 requests failed of 30,000 due in recorded phases of 6 runs (0.0167 %), in 1 of 2 cells.", "s / a: 5 of 15,000 due (3 answered 502, 2 reset), in 1 of 3 runs; in repeat 3, in phase measure."}, "No request failed"},
		{"none failed", pair(cellSpec{rates: around(1000)}, cellSpec{rates: around(1000)}), []string{"No request failed, of 30,000 due in recorded phases of 6 runs."}, ""},
		{"no load, no claim", func(f *fixture) { f.cell(cellSpec{scenario: "s", target: "a", status: record.Skipped}) },
			[]string{"No request was counted"}, "No request failed"},
		{"a guard of two loads breaks once a run", func(f *fixture) {
			g := record.Guard{Name: "send-lag", Taints: "timing", Message: "the load generator was the bottleneck: 1 % of the requests were sent 40 ms late"}
			other := g
			other.Message = "the load generator was the bottleneck: 2 % of the others."
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{g, other}})
		}, []string{"The load generator or the machine it ran on may have shaped the figures of 1 of 1 run, in 1 of 1 cell: not all of these figures are to be trusted (send-lag in 1 run).",
			"The load generator was the bottleneck: it sent late (send-lag, in 1 run of s / a); latencies, rates and CPU figures are not to be trusted. Seen: 1 % of the requests were sent 40 ms late; 2 % of the others."}, "every guard"},
		{"the generator was no bottleneck", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{{Name: "send-lag", OK: true}, {Name: "generator-cpu", OK: true}}})
			f.in.Runs[0].Metrics[""].Set("load_cpu_cores", 0.5)
		}, []string{"Neither the load generator nor the machine it ran on is seen to have shaped the figures of the 1 run: every guard of theirs held (2 guards of these kinds).",
			"At its worst the load generator used 0.500 of 2 CPUs in a closed loop (s / a); that is of 1 of 1 run with a closed loop."}, "may have shaped"},
		{"warnings come together", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{{Name: "foreign-cpu", Message: "12 %"}, {Name: "clock", Taints: "timing", Message: "1 s"}}})
		}, []string{"The machine's clock stepped while it was measured (clock, in 1 run of s / a); latencies, rates and CPU figures are not to be trusted. Seen: 1 s.", "Something that the plan did not start used the machine's CPU (foreign-cpu, in 1 run of s / a); a warning: nothing is withdrawn. Seen: 12 %.",
			"in 1 of 1 cell: not all of these figures are to be trusted (clock in 1 run, foreign-cpu in 1; some in the same run)."}, ""},
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
		}, []string{"s | req_per_s | c | 3,000 | b | 2,000 | 1.500 | yes", "a loses beyond the noise in 1 of 1 comparison: s (req_per_s 0.333 times that of c)."}, "c loses"},
		{"a process that died", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
			f.in.Runs[0].Processes[0].Died = "a/0 ended: signal: killed"
		}, []string{"1 process died: a/0 ended: signal: killed (s / a, repeat 1)."}, ""},
		{"requests that were sent again, where it matters", func(f *fixture) {
			resend := func(i int, phase string, n load.Counts) { f.in.Runs[i].Loads[0].Totals[phase] = n }
			churn := []record.Phase{{Name: "storm", Kind: "churn", End: 5, Recorded: true, Headline: true}, {Name: "after", Kind: "measure", Start: 5, End: 9, Recorded: true}}
			f.cell(cellSpec{scenario: "churn", target: "a", rates: []float64{1000}, phases: churn}) // few, and the plan made trouble
			resend(0, "storm", load.Counts{Due: 20_000, OK: 20_000, ReuseRetried: 3})
			resend(0, "after", load.Counts{Due: 20_000, OK: 20_000, ReuseRetried: 1})
			f.cell(cellSpec{scenario: "steady", target: "b", rates: []float64{1000}}) // many
			resend(1, "measure", load.Counts{Due: 2_000, OK: 2_000, Retried: 4, ReuseRetried: 2})
			f.cell(cellSpec{scenario: "steady", target: "c", rates: []float64{1000}}) // few, and something failed
			resend(2, "measure", load.Counts{Due: 20_000, OK: 19_999, Non2xx: map[int]int64{502: 1}, ReuseRetried: 2})
			f.cell(cellSpec{scenario: "steady", target: "d", rates: []float64{1000}}) // few
			resend(3, "measure", load.Counts{Due: 20_000, OK: 20_000, ReuseRetried: 20})
			f.cell(cellSpec{scenario: "steady", target: "e", rates: []float64{1000}}) // many, while it was warmed up
			resend(4, "warm-up", load.Counts{Due: 20_000, OK: 20_000, ReuseRetried: 20_000})
		}, []string{"Requests were sent again in recorded phases of all runs of a cell: steady / b, 4 above a GOAWAY's last stream and 2 on a closed connection of 2,000 due (0.300 %), all in phase measure; " +
			"churn / a, 4 on a closed connection of 40,000 due (0.0100 %), most in phase storm (churn) (3); steady / c, 2 on a closed connection of 20,000 due (0.0100 %), all in phase measure. " +
			"Each counts once, as what it came to at last, and had failed without a second try."}, "steady / e"},
		{"requests due after a phase count in none", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true})
			f.in.Runs[0].Loads[0].Totals[record.Between("measure")] = load.Counts{Due: 66, OK: 65, Errors: map[string]int64{load.Reset: 1}}
		}, []string{"No request failed, of 5,000 due in recorded phases of 1 run.", "66 more requests were due after a phase had ended and before the load stopped, and count in no metric (1 of them failed)."}, "5,066"},
		{"in a closed loop nothing is due after a phase", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
			f.cell(cellSpec{scenario: "t", target: "a", rates: []float64{1000}, open: true}) // whose load sent nothing then
			f.in.Runs[0].Loads[0].Totals[record.Between("measure")] = load.Counts{Due: 66, OK: 66}
		}, []string{"66 more requests were sent after a phase had ended and before the load stopped, and count in no metric (none of them failed)."}, "were due"},
		{"some loops are open, some closed, after a phase", func(f *fixture) {
			for i := range 2 {
				f.cell(cellSpec{scenario: fmt.Sprint(i), target: "a", rates: []float64{1000}, open: i > 0})
				f.in.Runs[i].Loads[0].Totals[record.Between("measure")] = load.Counts{Due: 1, OK: 1}
			}
		}, []string{"2 more requests were due (in closed loops: sent) after a phase had ended"}, ""},
		{"verdicts that hold say of what", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
			f.cell(cellSpec{scenario: "s", target: "b", rates: []float64{1000}})
			cell := func(target string) record.Coord { return record.Coord{Scenario: "s", Target: target} }
			f.in.Results.Verdicts = []record.Judgement{{Verdict: "v", Coord: cell("a"), Outcome: record.Pass}, {Verdict: "v", Coord: cell("b"), Outcome: record.Pass}, {Verdict: "v", Coord: record.Coord{Scenario: "t", Target: "b"}, Outcome: record.NotJudged},
				{Verdict: "w", Coord: cell("a"), Outcome: record.Pass}, {Verdict: "x", Coord: record.Coord{Target: "a"}, Outcome: record.Pass}, {Verdict: "y", Outcome: record.Pass}}
		}, []string{"4 verdicts hold in all they are asked of: \u201cv\u201d (2 cells), \u201cw\u201d (1 cell), \u201cx\u201d (1 target), \u201cy\u201d (the plan)."}, "everywhere"},
		{"of what the generator used the most is said that a guard or the metric knows", func(f *fixture) {
			for i, target := range []string{"a", "b", "c", "d"} {
				g := record.Guard{Name: "generator-cpu", OK: true, Seen: &record.Seen{Cores: 0.3, CPUs: 1, Waited: 0.1}}
				switch target {
				case "b":
					g.Seen.Cores, g.Seen.Waited = 0.91, 0.4
				case "d":
					g.Name, g.OK, g.Seen = "generator-known", false, nil
				}
				f.cell(cellSpec{scenario: "s", target: target, rates: []float64{1000}, open: i == 2, guards: []record.Guard{g}})
			}
			cells, runs := f.in.Results.Cells, f.in.Runs
			runs[0].Metrics[""].Set("load_cpu_cores", 0.6)
			cells[0].Metrics[""].Set("small_generator_run_wait_s_per_s", record.Value{Value: 0.5, Runs: []float64{0.5}}) // of two workers
			runs[1].Missing = map[string]string{"load_cpu_cores": "load_cpu_cores: sampled too seldom: less than half of it"}
			runs[2].Metrics[""].Set("load_cpu_cores", 0.99)
			runs[3].Missing = map[string]string{"load_cpu_cores": "never sampled"}
		}, []string{"At its worst the load generator used 0.910 of 1 CPU in a closed loop (s / b) and was ready to run without a CPU for 40.0 % of the time (s / b); that is of 2 of 3 runs with a closed loop, of the other 1 it is not known (never sampled); " +
			"in 1 of these load_cpu_cores has no value (sampled too seldom), and what speaks is the generator's own count of its CPU time, which the guard generator-cpu reads.",
			"Whether the load generator had the CPU that it needed is not known in 1 of 4 runs: 1 run of s / d (generator-known); latencies, rates and CPU figures are not to be trusted.",
			"In 3 of 4 runs every guard of the load generator and of its machine held (3 guards of these kinds)."}, "0.99"},
		{"of what the generator used the metric knows more", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{{Name: "generator-cpu", OK: true, Seen: &record.Seen{Cores: 0.3, CPUs: 1}}}})
			f.in.Runs[0].Metrics[""].Set("load_cpu_cores", 0.6)
		}, []string{"used 0.600 of 2 CPUs in a closed loop (s / a)"}, "not known"},
		{"what a load waited is by its own workers", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{{Name: "generator-cpu", OK: true}}})
			r, c := f.in.Runs[0], f.in.Results.Cells[0]
			r.Loads[0].Workers = 4
			r.Loads = append(r.Loads, record.Load{Name: "side-load", Workers: 1})
			r.Metrics[""].Set("load_cpu_cores", 0.6)
			c.Metrics[""].Set("small_generator_run_wait_s_per_s", record.Value{Value: 1.2, Runs: []float64{1.2}})
			c.Metrics[""].Set("side_load_generator_run_wait_s_per_s", record.Value{Value: 0.9, Runs: []float64{0.9}})
		}, []string{"was ready to run without a CPU for 90.0 % of the time (s / a);"}, ""},
		{"an own delay above the p99, and one of which the guard warns", func(f *fixture) {
			for target, seen := range map[string]record.Seen{"a": {Delay: 43, P99: 9, Above: 2}, "b": {Delay: 60, P99: 12, Above: 1}, "c": {Delay: 5, P99: 9}} {
				f.cell(cellSpec{scenario: target, target: target, rates: []float64{1000}, open: true, guards: []record.Guard{
					{Name: "own-delay", OK: target != "a", Message: "it held up 11 %", Seen: &seen}, {Name: "send-lag", OK: true}}})
			}
		}, []string{"In open loops the load generator's own delay in sending reached 60.0 ms in b / b, beside a p99 of 12.0 ms. It was above the p99 of its run in 2 of 3 cells: in 1 of these of more requests than the guard own-delay lets pass (43.0 ms in a / a, beside a p99 of 9.00 ms), in 1 of no more requests than the guard own-delay lets pass (60.0 ms in b / b, beside a p99 of 12.0 ms).",
			"The load generator or the machine it ran on may have shaped the figures of 1 of 3 runs, in 1 of 3 cells: guards only warn, and nothing is withdrawn (own-delay in 1 run).",
			"In 2 of 3 runs every guard of the load generator and of its machine held (4 guards of these kinds); figures of the highest latencies (p99_ms, p99_9_ms, p99_clean_ms, p99_9_clean_ms, worst_second_p99_ms, max_ms) may still be partly the generator's in 1 of them (b / b): its own delay in sending was above the p99 there, for no more requests than the guard own-delay lets pass.",
			"The load generator's own delay in sending may have made p99_ms (own-delay, in 1 run of a / a); a warning: nothing is withdrawn. Seen: it held up 11 %."}, "bottleneck"},
		{"an own delay above the p99 of which no guard warns", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true, guards: []record.Guard{{Name: "own-delay", OK: true, Seen: &record.Seen{Delay: 12, P99: 9, Above: 1}}}})
		}, []string{"reached 12.0 ms in s / a, beside a p99 of 9.00 ms. It was above the p99 of its run in 1 of 1 cell: of no more requests than the guard own-delay lets pass (12.0 ms in s / a, beside a p99 of 9.00 ms)."}, "of more requests"},
		{"a pool that was full", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true})
			l := &f.in.Runs[0].Loads[0]
			n := l.Totals["measure"]
			n.Sent, n.StalledLagNs = 2000, 12e6
			l.Totals["measure"] = n
			f.in.Runs[0].Guards = append(f.in.Runs[0].Guards, record.Guard{Name: "send-lag", OK: true}, record.Guard{Name: "own-delay", OK: true, Seen: &record.Seen{Delay: 12, P99: 14}})
			f.waits(1, 1800, 600, 600, 0)
		}, []string{"Requests waited for a free connection in s / a (16 connections): 3,000 of 5,000 due (60.0 %), for longer than 50 ms or without being sent at all, in 1 of 1 run, repeat 1; the longest wait there, at least 2,000 ms, was of those due from 2.1 s to 5.1 s, and from 3.1 s to 5.1 s none was sent, as no connection became free. A request counts where it was due in req_per_s, and from when it was sent in slow_over_1s: neither shows a wait.",
			"Neither the load generator nor the machine it ran on is seen to have shaped the figures of the 1 run", "No wait for a connection counts as the load generator's: requests waited for one in 1 cell (s / a), which is in the latencies",
			"In open loops the load generator's own delay in sending reached 12.0 ms in s / a, beside a p99 of 14.0 ms."}, "above the p99"},
		{"an own delay where nothing was answered", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true, guards: []record.Guard{{Name: "send-lag", OK: true}}})
			f.in.Runs[0].Loads[0].Totals["measure"] = load.Counts{Due: 9, StalledLagNs: 12e6, Errors: map[string]int64{load.Reset: 9}}
		}, []string{"In open loops the load generator's own delay in sending reached 12.0 ms in s / a."}, "p99 of"},
		{"a generator that stalled filled no pool", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true})
			l := &f.in.Runs[0].Loads[0]
			n := l.Totals["measure"]
			n.Sent, n.StalledLagNs = 2000, 900e6
			l.Totals["measure"] = n
			f.waits(1, 1800, 600, 600, 0)
		}, []string{"What is said of waits for a connection is without 1 run of s / a: the load generator's own delay in sending went above 500 ms and may be why requests waited (3,000 by the metric waited)."}, "Requests waited"},
		{"requests that waited and were never sent", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true})
			f.in.Runs[0].Loads[0].Totals["measure"] = load.Counts{Due: 5000, Errors: map[string]int64{load.Dropped: 100}}
			f.in.Waited = func(string) ([]record.WaitedSecond, error) {
				return []record.WaitedSecond{{Load: "small", T: 2, Phase: "measure", Waited: 100}}, nil
			}
		}, []string{"100 of 5,000 due (2.00 %), for longer than 50 ms or without being sent at all, in 1 of 1 run, repeat 1; none of those that waited there was ever sent."}, "the longest wait"},
		{"requests that waited in many cells", func(f *fixture) {
			for _, target := range []string{"a", "b", "c", "d", "e"} {
				f.cell(cellSpec{scenario: "s", target: target, rates: []float64{1000}, open: true})
				f.in.Runs[len(f.in.Runs)-1].Metrics[""].Set("lag_max_ms", 70)
			}
			f.in.Waited = func(string) ([]record.WaitedSecond, error) {
				return []record.WaitedSecond{{Load: "small", T: 2, Phase: "measure", Waited: 100, Longest: 70 * time.Millisecond, Sent: 1000}}, nil
			}
		}, []string{"Requests waited for a connection also in 2 more cells. A request counts"}, "s / d (16"},
		{"few that waited", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true})
			f.waits(1, 4)
		}, nil, "Requests waited"},
		{"a machine that was too busy is not the generator's bottleneck", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{{Name: "send-lag", OK: true}, {Name: "busy-machine", Taints: "timing", Message: "this machine was too busy for the load generator: it waited 60 % of the time"}}})
		}, []string{"The load generator or the machine it ran on may have shaped the figures of 1 of 1 run, in 1 of 1 cell: not all of these figures are to be trusted (busy-machine in 1 run).", "This machine was too busy for the load generator: it had to wait for processes that the plan did not start (busy-machine, in 1 run of s / a); latencies", "Seen: it waited 60 % of the time."}, "bottleneck"},
		{"a gate of its own round", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
			f.in.Results.Verdicts = []record.Judgement{{Verdict: "v", Coord: record.Coord{Target: "a", Round: 2}, Outcome: record.Fail, Gate: "true", Expression: "x < 1", Operands: []record.Operand{{Text: "x", Value: "2"}}}}
		}, []string{"The gate \u201cv\u201d fails (x < 1): a, round 2 (x = 2)."}, ""},
		{"the worst is said first, its expression once", func(f *fixture) {
			at := func(target string, v float64) record.Judgement {
				return record.Judgement{Verdict: "v", Coord: record.Coord{Target: target}, Outcome: record.Fail, Expression: "failed == 0", Distance: &v, Operands: []record.Operand{{Text: "failed", Value: fmt.Sprint(v)}}}
			}
			f.in.Results.Verdicts = []record.Judgement{at("a", 97), at("b", 2201)}
		}, []string{"fails for 2 of 2 (failed == 0), worst first: b (failed = 2,201); a (failed = 97)."}, ""},
		{"a case keeps its word, and nothing is said twice", func(f *fixture) {
			x := record.Operand{Text: "x", Value: "2"}
			f.in.Results.Verdicts = []record.Judgement{{Verdict: "v", Coord: record.Coord{Target: "a"}, Outcome: record.Fail, Label: "refuted", Expression: "x >= 1", Reason: "x >= 1", Operands: []record.Operand{x, x}},
				{Verdict: "w", Coord: record.Coord{Target: "a"}, Outcome: record.Fail, Label: "refuted", Expression: "x >= 1", Reason: "1 of 3 runs: x >= 1", Operands: []record.Operand{x}}}
		}, []string{"fails (x >= 1): a (refuted, x = 2).", "fails (x >= 1): a (refuted, x = 2, 1 of 3 runs)."}, ""},
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
		if got := plain(some(c.names, 3)); got != c.want {
			t.Errorf("%v: got %q, want %q", c.names, got, c.want)
		}
	}
}

// What a bounded list does not name is kept for a writer that folds.
func TestBoundedListsKeepTheRest(t *testing.T) {
	for _, got := range []Text{list([]string{"a", "b", "c"}, 1), some([]string{"a", "b", "c"}, 1)} {
		last := got[len(got)-1]
		if last.Text != "2 more" || !slices.EqualFunc(last.Rest, []string{"b", "c"}, func(t Text, s string) bool { return plain(t) == s }) {
			t.Errorf("the rest of %q is %v", plain(got), last.Rest)
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
	if len(lines) > 50 {
		t.Errorf("%d findings:\n%s", len(lines), got)
	}
	for _, l := range lines {
		if len(l) > 900 {
			t.Errorf("a finding of %d letters: %s", len(l), l)
		}
	}
}
