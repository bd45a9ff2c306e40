package verdict

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func mustCompile(t testing.TB, c *Compiler, text string, at Time, cell Coord) *Program {
	t.Helper()
	p, ps := c.Compile(text, at, []Coord{cell})
	if ps != nil {
		t.Fatalf("%s: %v", text, ps)
	}
	return p
}

func TestDeadline(t *testing.T) {
	s, _ := fixture()
	s.Params["big"] = Param{Value: make([]float64, 30000)}
	c, err := NewCompiler(s)
	if err != nil {
		t.Fatal(err)
	}
	for text, value := range map[string]bool{
		`params.big.all(x, params.big.all(y, x + y == 0))`:                                 false,
		`params.big.all(x, params.big.all(y, x + y == 0)) || true`:                         true, // true, but it absorbed
		`params.big.map(x, params.big.map(y, x + y).sum()).sum() == 0 ? true : 1 / 0 == 1`: false,
	} {
		r := mustCompile(t, c, text, AtJudge, Coord{}).Eval(context.Background(), Values{})
		ok, why := r.Holds()
		if ok || why == nil || value != (r.Value == true) {
			t.Errorf("%s: %v %v, want no pass, because of the deadline", text, r.Value, why)
		} else if why.Cause != Deadline {
			t.Errorf("%s: %+v", text, why)
		}
	}
}

func TestNeeds(t *testing.T) {
	c, _ := newCompiler(t)
	cell := coordOf(t, c.ix, bh)
	for _, x := range []struct {
		at       Time
		text     string
		earliest Time
		names    string
		results  bool
	}{
		{AtRun, `params.in_flight / 4`, AtPlan, "params.in_flight", false},
		{AtRun, `5`, AtPlan, "", false},
		{AtRun, `params.rate * 2`, AtStage, "params.rate", false},
		{AtRun, `matrix.fault + scenario`, AtSelect, "matrix.fault scenario", false},
		{AtRun, `scenario == "x" ? params.rate : 5`, AtRun, "params.rate scenario", false},
		{AtRun, `round + params.in_flight`, AtRun, "params.in_flight round", false},
		{AtRun, `dir`, AtRun, "dir", false},
		{AtRun, `port("http") + params.in_flight`, AtRun, "params.in_flight", false},
		{AtRun, `targets.map(t, t.name)`, AtPlan, "targets", false},
		{AtStage, `targets.measured.size()`, AtStage, "targets.measured", true},
		{AtStage, `stage("fixed").scenario("latency").target("ours").p99_ms`, AtStage, "", true},
		{AtLive, `p99_ms < params.in_flight`, AtLive, "params.in_flight", true},
		{AtJudge, `phase("after").seconds > 5`, AtJudge, "", true},
	} {
		n := mustCompile(t, c, x.text, x.at, cell).Needs()
		if n.Earliest != x.earliest || strings.Join(n.Names, " ") != x.names || n.Results != x.results {
			t.Errorf("%s: %+v, want %v %s %v", x.text, n, x.earliest, x.names, x.results)
		}
	}
	if n := mustCompile(t, c, `port("http") + port("https")`, AtRun, cell).Needs(); !slices.Equal(n.Calls, []string{"port"}) {
		t.Error(n)
	}
	if n := mustCompile(t, c, `targets.measured.map(t, stage("throughput").scenario("h1-small").target(t).req_per_s).min() + scenario("latency").target("ours").p99_ms`, AtStage, Coord{}).Needs(); !slices.Equal(n.Stages, []string{"fixed", "throughput"}) {
		t.Error(n)
	}
	slowCell := coordOf(t, c.ix, slow)
	if n := mustCompile(t, c, `series("sut_rss_mib").max() > p99_ms && events("oom").size() == 0`, AtJudge, slowCell).Needs(); !slices.Equal(n.Series, []string{"sut_rss_mib"}) ||
		!slices.Equal(n.Metrics, []string{"events oom", "p99_ms", "sut_rss_mib"}) {
		t.Error(n)
	}
}

func TestMismatch(t *testing.T) {
	c, _ := newCompiler(t)
	for _, x := range []struct {
		text string
		want []Kind
		msg  string
	}{
		{`5`, []Kind{Number}, ""},
		{`"5"`, []Kind{Number}, "a number is wanted here, but this is text"},
		{`[1]`, []Kind{Number, Text}, "a number or text is wanted here, but this is a list"},
		{`params.knobs`, []Kind{Map}, ""},
		{`params.knobs.mode`, []Kind{Number}, ""}, // shows when it is read
		{`targets[0]`, []Kind{Text}, "text is wanted here, but this is a target"},
		{`5 < 6`, []Kind{Number}, "a number is wanted here, but this is a condition"},
	} {
		m := mustCompile(t, c, x.text, AtPlan, Coord{}).Mismatch(x.want...)
		if (m == nil) != (x.msg == "") || m != nil && m.Msg != x.msg {
			t.Errorf("%s: %v, want %q", x.text, m, x.msg)
		}
	}
}

func TestValues(t *testing.T) {
	s := &Schema{Params: map[string]Param{}}
	for name, v := range map[string]any{"n": 5, "u": uint8(3), "f": 2.5, "d": 1500 * time.Millisecond, "list": []any{1, "a", true}, "ints": []int{1, 2},
		"m": map[string]any{"a": map[string]any{"b": []any{1.5}}}, "nan": math.NaN(), "inf": []float64{math.Inf(1)}} {
		s.Params[name] = Param{Value: v}
	}
	c, err := NewCompiler(s)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]any{
		`params.n / 2`: 2.5, `params.u + 1`: 4.0, `params.d`: 1.5, `params.list`: []any{1.0, "a", true}, `params.ints.map(x, x / 2)`: []any{0.5, 1.0},
		`params.m`: map[string]any{"a": map[string]any{"b": []any{1.5}}}, `params.m.a.b[0]`: 1.5, `params.list[1]`: "a", `params.nan`: nil, `params.inf[0]`: nil,
		`params.nan < 5 || true`: nil, `{"a": params.n}`: map[string]any{"a": 5.0}, `params.list[0] + params.list[0]`: 2.0, `params.list.sum()`: nil,
	} {
		r := mustCompile(t, c, text, AtPlan, Coord{}).Eval(context.Background(), Values{})
		if !reflect.DeepEqual(r.Value, want) || (want == nil) != (r.Err != nil) {
			t.Errorf("%s = %v (%v), want %v", text, r.Value, r.Err, want)
		}
	}
}

// A stage value that was computed from a tainted metric is used, and its result says so.
func TestStageTaint(t *testing.T) {
	c, d := newCompiler(t)
	d.Cells[Coord{"throughput", "h1-small", "nginx", ""}].Runs[2].Taints = []Taint{{Guard: "cpu", Message: "the generator was busy", Class: Timing}}
	r := mustCompile(t, c, `max(100, floor_to(targets.measured.map(t, stage("throughput").scenario("h1-small").target(t).req_per_s).min() / 2, 1000))`, AtStage, Coord{}).
		Eval(context.Background(), Values{Data: d})
	if r.Value != 5000.0 || len(r.Tainted) != 1 || r.Tainted[0].Guard != "cpu" || r.Tainted[0].Repeat != 3 || r.Tainted[0].Cell.Target != "nginx" {
		t.Errorf("%v %+v", r.Value, r.Tainted)
	}
}

func TestRatioDistorted(t *testing.T) {
	for _, x := range []struct {
		failed, slow float64
		text, want   string
	}{
		{0, 0, `ratio(p99_ms, target("nginx").p99_ms) < 2`, "pass"},
		{2, 0, `ratio(p99_ms, target("nginx").p99_ms) < 2`, "pass"}, // 2 of 3000 are below 0.1 %
		{4, 0, `ratio(p99_ms, target("nginx").p99_ms) < 2`, "inconclusive: ratio() is n/a: distorted: 0.133 % of the requests of fixed/latency/nginx failed or took over a second once sent"},
		{2, 2, `ratio(target("nginx").p99_ms, p99_ms) < 2`, "inconclusive: ratio() is n/a: distorted"},
		{4, 0, `ratio(req_per_s, target("nginx").req_per_s) > 0`, "pass"}, // no latency
		{4, 0, `ratio(p99_ms, scenario("churn").p99_ms) < 2`, "pass"},     // another cell
	} {
		c, d := newCompiler(t)
		m := run(d, "fixed", "latency", "nginx", "", 0).Metrics.(Numbers)
		m["failed"], m["slow_over_1s"] = x.failed, x.slow
		at := coordOf(t, c.ix, lat)
		if got := mustCompile(t, c, x.text, AtJudge, at).Eval(context.Background(), Values{At: at, Data: d}).outcome(); !strings.HasPrefix(got, x.want) {
			t.Errorf("%s with %v failed: %s, want %s", x.text, x.failed, got, x.want)
		}
	}
}

// TestMany reports what 500 expressions cost with 300 more metrics; it asserts nothing about time.
func TestMany(t *testing.T) {
	s, d := fixture()
	for i := range 300 {
		s.Scenarios["latency"].Metrics = append(s.Scenarios["latency"].Metrics, Metric{Name: fmt.Sprintf("metric_%d", i)})
	}
	start := time.Now()
	c, err := NewCompiler(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("compiler", time.Since(start))
	start = time.Now()
	var done []*Program
	for len(done) < 500 {
		for _, r := range rows {
			if !strings.HasPrefix(r.want, "!") && len(done) < 500 {
				done = append(done, mustCompile(t, c, r.expr, r.time, coordOf(t, c.ix, r.at)))
			}
		}
	}
	t.Log(len(done), "expressions compiled", time.Since(start))
	start = time.Now()
	for _, p := range done {
		p.Eval(context.Background(), Values{At: coordOf(t, c.ix, lat), Data: d})
	}
	t.Log(len(done), "evaluated", time.Since(start))
}
