package verdict

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
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

// Every function is documented with an example that works, in the current cell throughput/h1-small/ours or latency.
func TestExamples(t *testing.T) {
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, lat)
	seen := map[string]bool{}
	for _, f := range Functions() {
		if f.Doc == "" || f.Usage == "" || f.Family == "" || f.Example == "" {
			t.Errorf("%s lacks a part of its documentation", f.Name)
		}
		if !strings.Contains(f.Example, f.Name) && f.Name != "load" {
			t.Errorf("the example of %s does not use it: %s", f.Name, f.Example)
		}
		if key := f.Family + f.Name; seen[key] {
			t.Errorf("%s is documented twice", f.Name)
		} else {
			seen[key] = true
		}
		res := mustCompile(t, c, f.Example, AtJudge, at).Eval(context.Background(), Values{At: at, Data: d})
		got := fmt.Sprint(res.Value)
		if x, ok := res.Value.(float64); ok {
			got = number(math.Round(x*1e6) / 1e6)
		}
		if got != f.Result || len(res.Absorbed) > 0 {
			t.Errorf("%s = %s (%v), documented as %s", f.Example, got, res.Err, f.Result)
		}
	}
	env, err := c.env(AtJudge)
	if err != nil {
		t.Fatal(err)
	}
	for name := range env.Functions() { // what can be called is documented
		if identifier.MatchString(name) && name[0] != '@' && !strings.HasSuffix(name, "_") &&
			!slices.ContainsFunc(Functions(), func(f Doc) bool { return f.Name == name }) {
			t.Errorf("%s() is offered but not documented", name)
		}
	}
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

func TestExplain(t *testing.T) {
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, hap)
	r := mustCompile(t, c, `p99_ms < 5 && p99_ms <= 1.5 * scenario("latency").p99_clean_ms && runs.req_per_s.min() > target("ours").req_per_s / 2 && scenario == "churn" && ratio(req_per_s, target("ours").req_per_s) > 0.5 && params.token == "a"`,
		AtJudge, at).Eval(context.Background(), Values{At: at, Data: d})
	mine := run(d, "fixed", "churn", "haproxy", "", 0).Metrics["req_per_s"]
	ours := run(d, "fixed", "churn", "ours", "", 1).Metrics["req_per_s"]
	want := fmt.Sprintf(`p99_ms = 4, scenario("latency").p99_clean_ms: no data: fixed/latency/haproxy has no run, runs.req_per_s.min() = %v, target("ours").req_per_s = %v, scenario = "churn", ratio(req_per_s, target("ours").req_per_s) = %.4g, req_per_s = %v, params.token = (secret)`,
		mine, ours, (mine+1000)/ours, mine+1000)
	if r.Explain() != want {
		t.Errorf("got  %s\nwant %s", r.Explain(), want)
	}
	var reads []string
	for _, x := range r.Reads {
		reads = append(reads, fmt.Sprintf("%s %s %d", x.Cell, x.Metric, len(x.runs)))
	}
	if want := []string{"fixed/churn/haproxy p99_ms 3", "fixed/latency/haproxy p99_clean_ms 0", "fixed/churn/haproxy req_per_s 3", "fixed/churn/ours req_per_s 3"}; !slices.Equal(reads, want) {
		t.Errorf("read %v, want %v", reads, want)
	}
}

func TestBroke(t *testing.T) {
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, slow)
	for text, want := range map[string]string{
		`phase("attack").series("sut_rss_mib").max() < 150`:                             `phase("attack").series("sut_rss_mib") first broke it at 25.5 s with 151`,
		`150 >= phase("attack").series("sut_rss_mib").max() && failed == 0`:             `phase("attack").series("sut_rss_mib") first broke it at 25.5 s with 151`,
		`phase("attack").series("sut_rss_mib").after(40.5).max() < 50`:                  `phase("attack").series("sut_rss_mib").after(40.5) first broke it at 40.5 s with 180`,
		`failed == 0 && phase("attack").series("sut_rss_mib").all(x, x < 150 && x > 1)`: `phase("attack").series("sut_rss_mib") first broke it at 25.5 s with 151`,
		`!phase("attack").series("sut_rss_mib").exists(x, x > 150)`:                     "",
		`events("exit").size() == 0`:                                                    `first of events("exit") at 12 s`,
		`failed > 0`:                                                                    "",
		`phase("attack").series("sut_rss_mib").max() < 1500`:                            "",
		`phase("attack").series("sut_rss_mib").min() > 100 && events("oom") == []`:      `phase("attack").series("sut_rss_mib") first broke it at 0.5 s with 100`,
	} {
		r := mustCompile(t, c, text, AtJudge, at).Eval(context.Background(), Values{At: at, Data: d})
		if r.Broke != want || r.Err != nil {
			t.Errorf("%s: %q %v, want %q", text, r.Broke, r.Err, want)
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
	slowCell := coordOf(t, c.ix, slow)
	if n := mustCompile(t, c, `series("sut_rss_mib").max() > p99_ms && events("oom").size() == 0`, AtJudge, slowCell).Needs(); !n.Series ||
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
		{4, 0, `ratio(p99_ms, target("nginx").p99_ms) < 2`, "inconclusive: ratio() is n/a: distorted: 0.133 % of the requests of fixed/latency/nginx failed or were slow"},
		{2, 2, `ratio(target("nginx").p99_ms, p99_ms) < 2`, "inconclusive: ratio() is n/a: distorted"},
		{4, 0, `ratio(req_per_s, target("nginx").req_per_s) > 0`, "pass"}, // no latency
		{4, 0, `ratio(p99_ms, scenario("churn").p99_ms) < 2`, "pass"},     // another cell
	} {
		c, d := newCompiler(t)
		m := run(d, "fixed", "latency", "nginx", "", 0).Metrics
		m["failed"], m["slow_over_1s"] = x.failed, x.slow
		at := coordOf(t, c.ix, lat)
		if got := mustCompile(t, c, x.text, AtJudge, at).Eval(context.Background(), Values{At: at, Data: d}).outcome(); !strings.HasPrefix(got, x.want) {
			t.Errorf("%s with %v failed: %s, want %s", x.text, x.failed, got, x.want)
		}
	}
}

func TestExtend(t *testing.T) {
	c, _ := newCompiler(t)
	with := []Name{{Name: "with.workers", Value: 4, In: InCell}, {Name: "vars.attack", Value: map[string]any{"connections": 200}, In: InCell}}
	x, err := c.Extend(with, []Function{{Name: "path", In: AtRun, Result: TypeOfKind(Text)}})
	if err != nil {
		t.Fatal(err)
	}
	at := coordOf(t, c.ix, lat)
	r := mustCompile(t, x, `with.workers * vars.attack.connections + path().size() + params.in_flight`, AtRun, at).
		Eval(context.Background(), Values{At: at, Call: func(string, []any) (any, error) { return "/x", nil }})
	if r.Value != 1058.0 {
		t.Error(r.Value, r.Err)
	}
	if _, ps := x.Compile(`with.worker`, AtRun, []Coord{at}); len(ps) != 1 || ps[0].Hint != `did you mean "workers"?` {
		t.Error(ps)
	}
	if _, ps := c.Compile(`with.workers`, AtRun, []Coord{at}); len(ps) != 1 {
		t.Error("a name of an extension is known outside of it", ps)
	}
	if _, err := x.Extend(with[:1], nil); err == nil {
		t.Error("one name twice is accepted")
	}
	if _, err := c.Extend([]Name{{Name: "p99_ms", Value: 1, In: AtRun}}, nil); err == nil {
		t.Error("a name that hides a metric is accepted")
	}
}

func TestConcurrent(t *testing.T) {
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, lat)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, at2 := range []Time{AtJudge, AtRun} {
				if p, ps := c.Compile(`params.in_flight + 1`, at2, []Coord{at}); ps != nil || p.Eval(context.Background(), Values{At: at, Data: d}).Value != 257.0 {
					t.Error(ps)
				}
			}
		})
	}
	wg.Wait()
}

func TestCustom(t *testing.T) {
	s, d := fixture()
	cs, ps := s.AddCustom([]CustomMetric{{Name: "cv_cpu", Of: `cv(replicas("pod").cpu_cores_mean)`}, {Name: "cv_workers", Of: `replicas("pod").map(p, cv(p.by_worker)).mean()`},
		{Name: "double_cv", Of: `2 * cv_cpu`}, {Name: "bad", Of: `cv(replicas("pods").cpu_cores_mean)`}, {Name: "p99_ms", Of: `1`}, {Name: "text", Of: `"a"`}})
	if len(ps) != 3 || ps[0].Definition != 3 || !strings.Contains(ps[0].Msg, `has no replicas of "pods"`) || ps[1].Definition != 4 || ps[2].Definition != 5 {
		t.Fatal(ps)
	}
	at := Coord{"fixed", "fleet", "nginx", "pods=6"}
	r0 := d.Cells[at].Runs[0]
	for i, want := range []float64{math.Sqrt(5), 0, 2 * math.Sqrt(5)} {
		r, ok := cs[i].Eval(context.Background(), at, r0)
		if v, isNum := r.Value.(float64); !ok || !isNum || want > 0 && math.Abs(v-want) > 1e-9 {
			t.Errorf("%s = %v %v", cs[i].Name, r.Value, r.Err)
		}
		r0.Metrics[cs[i].Name], _ = r.Value.(float64)
	}
	if cs[0].Class != CPU || cs[1].Class != OtherClass {
		t.Error(cs[0].Class, cs[1].Class)
	}
	if _, ok := cs[0].Eval(context.Background(), Coord{"fixed", "latency", "ours", ""}, r0); ok {
		t.Error("a scenario without replicas has the metric")
	}
	c, err := NewCompiler(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, ps := c.Compile(`cv_cpu > 2`, AtJudge, []Coord{at}); ps != nil {
		t.Error(ps)
	}
	if _, ps := c.Compile(`cv_cpu > 2`, AtJudge, []Coord{{"fixed", "latency", "ours", ""}}); ps == nil {
		t.Error("a scenario without replicas has the metric")
	}
}

func TestSchemaErrors(t *testing.T) {
	for name, s := range map[string]*Schema{
		"two stages":       {Stages: []Stage{{Name: "a"}, {Name: "a"}}},
		"unknown scenario": {Stages: []Stage{{Name: "a", Scenarios: []string{"x"}}}},
		"two names":        {Names: []Name{{Name: "stage", In: AtRun}}},
		"a metric":         {Scenarios: map[string]*Scenario{"a": {Metrics: []Metric{{Name: "dir"}}}}, Names: []Name{{Name: "dir", In: AtRun}}},
		"two functions":    {Functions: []Function{{Name: "port"}, {Name: "port"}}},
		"a function of us": {Functions: []Function{{Name: "stage"}}},
	} {
		if _, err := NewCompiler(s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCoord(t *testing.T) {
	axes := map[string]string{"b": "x", "a": `1,2="y"`, "c": "", "d": "e f"}
	c := Coord{Matrix: MatrixText(axes)}
	if got := c.Axes(); !reflect.DeepEqual(got, axes) {
		t.Errorf("%q gives %v", c.Matrix, got)
	}
	if MatrixText(nil) != "" || len((Coord{}).Axes()) != 0 {
		t.Error("nothing is not empty")
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

// FuzzCompile: no panic, and every problem has a place in the text.
func FuzzCompile(f *testing.F) {
	for _, r := range rows {
		f.Add(r.expr)
	}
	c, d := newCompiler(f)
	f.Fuzz(func(t *testing.T, text string) {
		for at := AtPlan; at <= AtJudge; at <<= 1 {
			cell := Coord{}
			if at&InCell != 0 {
				cell = coordOf(t, c.ix, slow)
			}
			p, ps := c.Compile(text, at, []Coord{cell})
			if (p == nil) != (len(ps) > 0) {
				t.Fatalf("%q: a program and problems, or neither: %v", text, ps)
			}
			lines := strings.Split(text, "\n")
			for _, x := range ps {
				if x.Line < 1 || x.Line > len(lines)+1 || x.Col < 1 || x.Msg == "" {
					t.Fatalf("%q: %+v", text, x)
				}
			}
			if p != nil {
				r := p.Eval(context.Background(), Values{At: cell, Data: d})
				if (r.Value == nil) == (r.Err == nil) {
					t.Fatalf("%q: a value and an error, or neither: %+v", text, r)
				}
			}
		}
	})
}
