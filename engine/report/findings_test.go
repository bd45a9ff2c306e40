package report

import (
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
	for _, item := range s[0].Blocks[0].(List).Items {
		lines = append(lines, terminal(item))
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
			[]string{"s: req_per_s puts a ahead: 2.000 times that of b (range 1.960 to 2.040), beyond the noise floor of 1.023."}, "p99_ms"},
		{"an open loop is compared by its latency", pair(cellSpec{rates: around(2000), open: true}, cellSpec{rates: around(1000), open: true}),
			[]string{"s: p99_ms puts a ahead: 0.500 times that of b"}, "req_per_s"},
		{"one run a side says nothing about noise", pair(cellSpec{rates: []float64{2000}}, cellSpec{rates: []float64{1000}}),
			[]string{"s: req_per_s of a is 2.000 times that of b, but below 3 runs a side the noise is unknown (1 and 1)"}, "ahead"},
		{"noise puts nobody ahead", pair(cellSpec{rates: around(1000)}, cellSpec{rates: around(1005)}),
			[]string{"s: req_per_s does not tell b and a apart: b to a is 1.005", "within the noise floor of 1.023; about"}, "ahead"},
		{"a tainted comparison puts nobody ahead", pair(cellSpec{rates: around(2000), tainted: "busy"}, cellSpec{rates: around(1000)}),
			[]string{"s: req_per_s of a is 2.000 times that of b (range 1.960 to 2.040), but a guard did not hold: not to be trusted.*"}, "ahead"},
		{"failures are counted", pair(cellSpec{rates: around(1000), failed: load.Counts{Non2xx: map[int]int64{502: 3}, Errors: map[string]int64{load.Reset: 2}}}, cellSpec{rates: around(1000)}),
			[]string{"5 requests failed of 30,000 (0.0167 %). s / a: 5 of 15,000 (3 answered 502, 2 reset)."}, "No request failed"},
		{"none failed", pair(cellSpec{rates: around(1000)}, cellSpec{rates: around(1000)}), []string{"No request failed, of 30,000 in 6 runs."}, ""},
		{"no load, no claim", func(f *fixture) { f.cell(cellSpec{scenario: "s", target: "a", status: record.Skipped}) },
			[]string{"No request was counted"}, "No request failed"},
		{"a guard of two loads breaks once a run", func(f *fixture) {
			g := record.Guard{Name: "send-lag", Taints: "timing", Message: "the load generator was the bottleneck: 1 % of the requests were sent 40 ms late"}
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, guards: []record.Guard{g, g}})
		}, []string{"The load generator was the bottleneck: it sent late (send-lag, in 1 run of s / a); latencies, rates and CPU figures are not to be trusted. Seen: 1 % of the requests were sent 40 ms late; and 1 like it."}, ""},
		{"a process that died", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
			f.in.Runs[0].Processes[0].Died = "a/0 ended: signal: killed"
		}, []string{"1 process died: a/0 ended: signal: killed (s / a, repeat 1)."}, ""},
		{"a gate of its own round", func(f *fixture) {
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
			f.in.Results.Verdicts = []record.Judgement{{Verdict: "v", Coord: record.Coord{Target: "a", Round: 2}, Outcome: record.Fail, Gate: "true", Expression: "x < 1", Operands: []record.Operand{{Text: "x", Value: "2"}}}}
		}, []string{"The gate \u201cv\u201d fails: a, round 2 (x < 1, x = 2)."}, ""},
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
