package probes

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

func TestKinds(t *testing.T) {
	if !slices.IsSortedFunc(Kinds, func(a, b dsl.Kind) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("Kinds is not sorted by name")
	}
	for _, k := range Kinds {
		spec, ok := k.New().(task.Probe)
		if !ok || k.Doc == "" {
			t.Errorf("%s is no probe, or has no documentation", k.Name)
			continue
		}
		seen := map[string]bool{}
		for _, d := range spec.Produces() {
			if seen[d.Name] || d.Doc == "" || d.Shape != series.Gauge && d.Shape != series.Counter || d.Class != series.Timing && d.Class != series.Count {
				t.Errorf("%s produces %+v, which is incomplete or there twice", k.Name, d)
			}
			seen[d.Name] = true
		}
		if f, ok := spec.(task.Fresh); ok && reflect.TypeOf(f.Fresh()) != reflect.TypeOf(spec) {
			t.Errorf("%s: Fresh gives another kind", k.Name)
		}
		if k.Later == "" && k.Name != "host" {
			if _, ok := spec.(task.Fresh); !ok {
				t.Errorf("%s cannot be read once", k.Name)
			}
		}
	}
}

// Plans reach every field of the specs.
func TestPlansLoad(t *testing.T) {
	text := `plan: probes
probes:
  - process: {of: nginx, every: 100ms, threads: 3}
  - process
  - host: {every: 200ms}
  - cgroup: {of: sut}
  - backend-connections: {of: web}
  - relay: to_web
  - balancer: {of: balancer, every: 1s}
  - prometheus: {of: pod, every: 1s, keep: {goaways: http2_goaway_total, by_worker: {name: connections, by: worker}}}
  - nginx-stub-status: {of: nginx, port: status}
  - haproxy-stats: {of: haproxy, proxy: web, keep: {sessions: scur}}
  - envoy: {url: "http://127.0.0.1:9901/stats", keep: {x: y}}
  - command: {command: [ss, -s], keep: {n: a.b}}
  - log: {of: nginx, count: {alerts: "\\[alert\\]"}}
backends: {web: {}}
relays: {to_web: {of: web}}
targets: {direct: {endpoints: {http: 127.0.0.1:1}}}
scenarios: {s: {phases: [{measure: {for: 1s, do: []}}]}}
`
	plan, problems := dsl.Load("plan.yaml", dsl.Options{
		Vocabulary: dsl.Vocabulary{Probes: Kinds},
		ReadFile:   func(string) ([]byte, error) { return []byte(text), nil },
	})
	for _, p := range problems {
		t.Errorf("%v", p)
	}
	if t.Failed() {
		t.FailNow()
	}
	spec := func(i int) any { return plan.Probes[i].Val.Spec }
	p := spec(0).(*process)
	if p.Of != "nginx" || p.Every.Milliseconds() != 100 || p.Threads != 3 {
		t.Errorf("process %+v", p)
	}
	if p := spec(1).(*process); p.Of != "" || p.Every.Seconds() != 1 || p.Threads != 64 {
		t.Errorf("process without anything %+v", p)
	}
	if r := spec(5).(*relay); r.Of != "to_web" {
		t.Errorf("relay %+v", r)
	}
	pr := spec(7).(*prometheus)
	if k, _ := pr.Keep.Get("by_worker"); k.Name != "connections" || k.By != "worker" {
		t.Errorf("prometheus %+v", pr)
	}
	for _, d := range pr.Produces() {
		if want := d.Name != "by_worker"; want != (d.Shape == series.Counter) {
			t.Errorf("%+v", d)
		}
	}
}

func TestPace(t *testing.T) {
	for _, c := range []struct {
		at   []float64
		gaps float64
	}{
		{[]float64{0, 1, 2, 3}, 0},
		{[]float64{0, 1.3, 2.1, 3.2}, 0},
		{[]float64{0, 1, 3, 4}, 1},
		{[]float64{0, 5.1, 6}, 4},
		{[]float64{7}, 0},
	} {
		p := pace{Every: 1e9}
		got := -1.0
		for _, now := range c.at {
			p.step("x", &task.ProbeEnv{Now: now, Emit: func(pt series.Point) {
				if pt.V < got && got >= 0 || pt.Series != "probe_gaps" || pt.Source != "x" {
					t.Errorf("%+v after %v", pt, got)
				}
				got = pt.V
			}})
		}
		if got != c.gaps {
			t.Errorf("%v: %v gaps, want %v", c.at, got, c.gaps)
		}
	}
}

func TestResumed(t *testing.T) {
	var r resumed
	for _, step := range []struct {
		pid       int
		now, want float64
	}{{1, 5, 5}, {1, 7, 7}, {2, 0, 7}, {2, 3, 10}, {3, 1, 11}} {
		if got := r.read(step.pid, map[string]float64{"n": step.now})["n"]; got != step.want {
			t.Errorf("%+v: %v", step, got)
		}
	}
}
