package verdict

import (
	"context"
	"math"
	"testing"
)

// The distance is of the values as they are, not as they are shown, and of one comparison only.
func TestDistance(t *testing.T) {
	t.Parallel()
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, hap)
	rate := run(d, "fixed", "churn", "haproxy", "", 1).Metrics.(Numbers)["req_per_s"]
	none := math.NaN()
	for text, want := range map[string]float64{
		"p99_ms < 2":                           math.Log(2), // it is 4
		"p99_ms <= 1.5 * 2":                    math.Log(4.0 / 3),
		"2 * 3 > p99_ms * 2":                   math.Log(8.0 / 6),
		"p99_ms >= 12.000001":                  math.Log(12.000001 / 4), // shown with four digits it is 12
		"(p99_ms) == 1":                        math.Log(4),
		"within(p99_ms, 2, percent(4))":        math.Log(2),
		"within(2, p99_ms, percent(4))":        math.Log(2),
		"req_per_s < 1":                        math.Log(rate),
		"p99_ms == 0":                          4,
		"0 >= p99_ms":                          4,
		"0 == p99_ms - 6":                      2,
		"p99_ms < 8":                           math.Log(2), // it holds: a case may fail where it does
		"within(p99_ms, 4, percent(4))":        none,
		"p99_ms == 4":                          none,
		"p99_ms != 4":                          none,
		"p99_ms < p99_ms - 4":                  none, // a limit that came out as 0
		"p99_ms < -1":                          none,
		"p99_ms - 4 > 1":                       none, // no ratio to 0
		"p99_ms < 2 && p99_ms < 3":             none,
		"!(p99_ms > 2)":                        none,
		"p99_ms > 2 ? p99_ms < 3 : p99_ms < 4": none,
		`scenario == "latency"`:                none,
		`scenario("latency").p99_clean_ms < 1`: none, // it has no value
	} {
		got := none
		if r := mustCompile(t, c, text, AtJudge, at).Eval(context.Background(), Values{At: at, Data: d}); r.Distance != nil {
			got = *r.Distance
		}
		if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A judgement has the distance of what made it fail, and none where it did not fail.
func TestDistanceOfJudgements(t *testing.T) {
	t.Parallel()
	spoil := func(_ *Schema, d *Data) {
		run(d, "fixed", "latency", "ours", "", 0).Taints = []Taint{{Class: Timing, Guard: "send-lag", Message: "late"}}
	}
	worse := func(i int, v float64) func(*Schema, *Data) {
		return func(_ *Schema, d *Data) { run(d, "fixed", "latency", "ours", "", i).Metrics.(Numbers)["p99_ms"] = v }
	}
	cell := Definition{Where: `scenario == "latency" && target == "ours"`}
	pass := func(pass, each, mixed string) Definition {
		d := cell
		d.Pass, d.Each, d.Mixed = pass, each, mixed
		return d
	}
	cases := cell
	cases.Cases = []Case{{When: "p99_ms >= 1000", Is: "slow", Outcome: Fail}, {When: "p99_ms == 0", Is: "other", Outcome: Fail}, {Is: "fine", Outcome: Pass}}
	huge := func(s *Schema, d *Data) {
		for i := range d.Cells[Coord{"fixed", "latency", "ours", ""}].Runs {
			worse(i, 4000)(s, d)
		}
	}
	for _, c := range []struct {
		name   string
		def    Definition
		change func(*Schema, *Data)
		of     Outcome
		want   float64
	}{
		{"fails", pass("p99_ms < 1000", "", ""), huge, Fail, math.Log(4)},
		{"of the run that decides", pass("p99_ms < 1000", "run", ""), worse(1, 8000), Fail, math.Log(8)},
		{"noisy", pass("p99_ms < 1000", "run", "inconclusive"), worse(1, 8000), Inconclusive, -1},
		{"spoilt", pass("p99_ms < 0.001", "", ""), spoil, Inconclusive, -1},
		{"passes", pass("p99_ms < 1000", "", ""), nil, Pass, -1},
		{"a case that fails", cases, huge, Fail, math.Log(4)},
		{"a case that passes", cases, nil, Pass, -1},
	} {
		js, _ := judged(t, c.def, c.change)
		for _, j := range js {
			got := -1.0
			if j.Distance != nil {
				got = *j.Distance
			}
			if j.Outcome != c.of || math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%s: %s at %v, want %s at %v", c.name, short(j), got, c.of, c.want)
			}
		}
		if len(js) != 1 {
			t.Errorf("%s: %d judgements", c.name, len(js))
		}
	}
}
