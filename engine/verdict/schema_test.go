package verdict

import (
	"context"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
)

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
		r0.Metrics.(Numbers)[cs[i].Name], _ = r.Value.(float64)
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
