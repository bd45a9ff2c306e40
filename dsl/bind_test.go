package dsl_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
)

// loadText loads a plan from a text, with a target and a load that all have.
func loadText(t testing.TB, text string) (*dsl.Plan, diag.List) {
	t.Helper()
	const base = `
plan: p
targets: {t: {endpoints: {http: "127.0.0.1:1"}}}
backends: {web: {}}
loads:
  small: {endpoint: http, path: /small, connections: "${{ params.n }}"}
  big: {use: small, path: /big}
scenarios: {quiet: {phases: [measure: {for: 1s}]}}
`
	return dsl.Load("p.yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: func(path string) ([]byte, error) {
		if strings.HasSuffix(path, "base.yaml") {
			return []byte(base), nil
		}
		return []byte("include: base.yaml\n" + text), nil
	}})
}

func mustLoad(t testing.TB, text string) *dsl.Plan {
	t.Helper()
	p, list := loadText(t, text)
	if len(list) > 0 {
		t.Fatal(list)
	}
	return p
}

// values fills holes by their text; what is not in it is not known.
func values(m map[string]any) dsl.Filler {
	return func(h *dsl.Hole) (any, bool, error) {
		if err, ok := m[h.Text].(error); ok {
			return nil, false, err
		}
		v, ok := m[h.Text]
		return v, ok, nil
	}
}

func TestBindInSteps(t *testing.T) {
	p := mustLoad(t, `
scenarios:
  s:
    repeats: "${{ params.repeats }}"
    phases:
      - warm-up: {for: "${{ params.length }}", do: [{load: "${{ scenario }}", through: measure}]}
      - measure: {for: "${{ params.length }}", do: [{at: 40%, load: {use: small, path: "/x/${{ port }}/${{ vars.a }}"}}]}
`)
	s := p.Scenarios.Get("s")
	if s.Val.Repeats != 1 || s.Val.Phases[0].Val.For != 0 {
		t.Errorf("unfilled holes have no defaults: %+v", s.Val)
	}
	cell, list := s.Bind(values(map[string]any{"params.repeats": 3.0, "params.length": 2.5, "scenario": "big", "vars.a": "v", "params.n": 7.0}))
	if len(list) > 0 {
		t.Fatal(list)
	}
	if cell.Name != "s" || cell.Val.Repeats != 3 || cell.Val.Phases[1].Val.For != 2500*time.Millisecond {
		t.Errorf("%+v", cell.Val)
	}
	first := cell.Val.Phases[0].Val.Do[0].Val.Spec.(*loadSpec)
	if first.Use != "big" || first.Path != "/big" || first.Endpoint != "http" || first.Connections != 7 {
		t.Errorf("the load that became known is not merged: %+v", first)
	}
	if holes := cell.Holes(); len(holes) != 1 || holes[0].Text != "port" {
		t.Fatalf("holes %v", holes)
	}
	action := cell.Val.Phases[1].Val.Do[0]
	run, list := action.Bind(values(map[string]any{"port": 8080.0, "vars.a": "v"}))
	if len(list) > 0 {
		t.Fatal(list)
	}
	if got := run.Val.Spec.(*loadSpec).Path; got != "/x/8080/v" {
		t.Errorf("path %q", got)
	}
	if len(run.Holes()) != 0 || !run.Val.At.IsPercent || run.Val.At.In(10*time.Second) != 4*time.Second {
		t.Errorf("%+v", run.Val)
	}
	if s.Val.Repeats != 1 || len(s.Holes()) < 5 {
		t.Error("binding changed the plan")
	}
}

func TestBindKeepsHolesAndExprsTheSame(t *testing.T) {
	p := mustLoad(t, `
scenarios: {s: {phases: [measure: {for: "${{ a }}", until: x > 1, do: [load: {use: small, path: "${{ b }}"}]}]}}
`)
	s := p.Scenarios.Get("s")
	bound, _ := s.Bind(values(map[string]any{"a": 1.0}))
	again, _ := s.Bind(values(nil))
	if len(bound.Holes()) != 2 || bound.Holes()[0] != s.Holes()[1] || again.Holes()[0] != s.Holes()[0] {
		t.Errorf("holes are not the same pointers: %v %v", bound.Holes(), s.Holes())
	}
	if bound.Exprs()[0] != s.Exprs()[0] || bound.Val.Phases[0].Val.Until != s.Exprs()[0] {
		t.Error("expressions do not compare equal")
	}
}

func TestBindReplacesByWhatWasWritten(t *testing.T) {
	p := mustLoad(t, `
params: {length: 1m30s, size: 64KiB, buffer: 64k, rate: 30/m, list: [a, b]}
scenarios:
  s:
    vars: {attack: {slow-read: {connections: 200, path: /x, read-rate: 4KiB/s}}}
    phases:
      - measure:
          for: "${{ params.length }}"
          do:
            - attack: "${{ vars.attack }}"
            - load: {use: small, expect: {bytes: "${{ params.size }}"}, rate: "${{ params.rate }}"}
            - exec: [run, "${{ params.buffer }}", "size=${{ params.size }}", "${{ params.length }}"]
            - exec: "${{ params.list }}"
`)
	s := p.Scenarios.Get("s")
	attack, _ := s.Val.Vars.Get("attack")
	fill := map[string]any{"vars.attack": attack, "params.n": 1.0}
	for i := range p.Params {
		fill["params."+p.Params[i].Name] = p.Params[i].Val.Value
	}
	bound, list := s.Bind(values(fill))
	if len(list) > 0 {
		t.Fatal(list)
	}
	do := bound.Val.Phases[0].Val.Do
	if got := do[0].Val.Spec.(*attackSpec).SlowRead; got == nil || got.Connections != 200 || got.ReadRate != 4096 {
		t.Errorf("attack %+v", do[0].Val.Spec)
	}
	if got := do[1].Val.Spec.(*loadSpec); got.Expect.Bytes != 65536 || got.Rate.Rate != 0.5 {
		t.Errorf("load %+v", got)
	}
	if got := strings.Join(do[2].Val.Spec.(*execSpec).Command, " "); got != "run 64k size=64KiB 1m30s" {
		t.Errorf("templates and mixed text see %q", got)
	}
	if got := strings.Join(do[3].Val.Spec.(*execSpec).Command, " "); got != "a b" {
		t.Errorf("a list is %q", got)
	}
	if bound.Val.Phases[0].Val.For != 90*time.Second {
		t.Errorf("for %v", bound.Val.Phases[0].Val.For)
	}
}

func TestBindProblems(t *testing.T) {
	p := mustLoad(t, `
scenarios:
  s:
    phases:
      - measure:
          for: "${{ a }}"
          do:
            - load: {use: small, connections: "${{ b }}"}
            - load: "${{ c }}"
            - attack: "${{ d }}"
            - toxic: {relay: "${{ e }}", latency: "x${{ f }}"}
`)
	for _, tt := range []struct {
		fill map[string]any
		want string
	}{
		{map[string]any{"a": "soon"}, `p.yaml:7:16: for: the text "soon" is not a duration; write a duration such as 250ms or 1m30s`},
		{map[string]any{"a": 0.0}, `p.yaml:7:16: for: 0 is below 1ms; write 1ms or more`},
		{map[string]any{"a": true}, `p.yaml:7:16: for: "true" is not a duration; write a duration such as 250ms or 1m30s`},
		{map[string]any{"a": errors.New("no such param")}, `p.yaml:7:21: for: no such param; see the expression`},
		{map[string]any{"b": 2.5}, `p.yaml:9:47: connections: 2.5 is not an integer; round it`},
		{map[string]any{"b": "2"}, `p.yaml:9:47: connections: the text "2" is not an integer; remove the quotes`},
		{map[string]any{"b": 0.0}, `p.yaml:9:47: connections: 0 is below 1; write 1 or more`},
		{map[string]any{"b": []any{1.0}}, `p.yaml:9:47: connections: want an integer, have a list; write one value`},
		{map[string]any{"c": "smal"}, `p.yaml:10:21: load: no load is called "smal"; did you mean "small"?`},
		{map[string]any{"c": 5.0}, `p.yaml:10:21: load: no load is called "5"; loads: small, big`},
		{map[string]any{"c": map[string]any{"use": "small", "pth": "/"}}, `p.yaml:10:21: unknown key "pth" in load; did you mean "path"?`},
		{map[string]any{"d": map[string]any{"slow-raed": map[string]any{}}}, `p.yaml:11:23: unknown key "slow-raed" in attack; did you mean "slow-read"?`},
		{map[string]any{"d": map[string]any{}}, `p.yaml:11:23: attack: names no attack`},
		{map[string]any{"d": "x"}, `p.yaml:11:23: attack: want a mapping, have the text "x"; write attack: {slowloris: ...}`},
		{map[string]any{"e": "slow"}, `p.yaml:12:30: relay: no relay is called "slow"; there are no relays`},
		{map[string]any{"f": 5.0}, `p.yaml:12:51: latency: "x5" is not a duration; write a duration such as 250ms or 1m30s`},
	} {
		_, list := p.Scenarios.Get("s").Bind(values(tt.fill))
		if got := list.Error(); got != tt.want {
			t.Errorf("%v:\ngot  %s\nwant %s", tt.fill, got, tt.want)
		}
	}
}

func TestCheckWaitsForHoles(t *testing.T) {
	p := mustLoad(t, `
targets: {u: {install: [start: {builtin: "${{ a }}", listen: [http]}]}}
`)
	if _, list := p.Targets.Get("u").Bind(values(map[string]any{"a": "proxy"})); len(list) > 0 {
		t.Error(list)
	}
	_, list := p.Targets.Get("u").Bind(values(map[string]any{"a": ""}))
	if !strings.Contains(list.Error(), "is not origin, proxy, relay") {
		t.Error(list)
	}
}

func TestLater(t *testing.T) {
	p := mustLoad(t, `
scenarios: {s: {phases: [measure: {for: 1s, do: [drop: {port: http}]}]}}
targets: {k: {endpoints: {http: {object: service/web}}}}
`)
	if got := p.Scenarios.Get("s").Later().Error(); got != "p.yaml:3:50: drop is in the language, but this build cannot run it: there is no nftables driver yet; leave it out of what you run" {
		t.Error(got)
	}
	if got := p.Targets.Get("k").Later().Error(); !strings.HasPrefix(got, "p.yaml:4:34: object is in the language") {
		t.Error(got)
	}
	if got := p.Scenarios.Get("quiet").Later(); len(got) > 0 {
		t.Error(got)
	}
}

func TestValues(t *testing.T) {
	p := mustLoad(t, `
params:
  a: 5s
  b: 64KiB
  c: 200/s
  d: 2%
  e: 4KiB/s
  f: 1.5
  g: -3
  h: true
  i: "5"
  j: web
  k: 4k
  l: [1, x, {m: 2s}]
  m: 1m
  n: "${{ a }}"
  o: {value: {x: 1, y: "${{ b }}"}}
`)
	want := map[string]any{"a": 5.0, "b": 65536.0, "c": 200.0, "d": 0.02, "e": 4096.0, "f": 1.5, "g": -3.0, "h": true, "i": "5", "j": "web", "k": "4k", "m": 60.0}
	for name, v := range want {
		if got := p.Params.Get(name).Val.Value.V; got != v {
			t.Errorf("%s is %v, want %v", name, got, v)
		}
	}
	l := p.Params.Get("l").Val.Value
	if items := l.Items(); len(items) != 3 || items[1].V != "x" || items[2].Fields()[0].Val.V != 2.0 || items[2].Fields()[0].Val.Pos().Col != 17 {
		t.Errorf("%+v", items)
	}
	if !l.Known() || p.Params.Get("n").Val.Value.Known() || p.Params.Get("o").Val.Value.Known() {
		t.Error("Known is wrong")
	}
	if p.Params.Get("a").Val.Value.Written != "5s" {
		t.Error("the text is lost")
	}
	o, list := p.Params.Get("o").Bind(values(map[string]any{"b": 2.0}))
	if len(list) > 0 || o.Val.Value.V.(map[string]any)["y"] != 2.0 {
		t.Errorf("%+v %v", o.Val, list)
	}
}

func TestBindWhatIsUsedLater(t *testing.T) {
	p := mustLoad(t, `
loads: {slow: {use: small, rate: 5/s, tls: {resume: true, server-name: x}, expect: {status: 201}}}
scenarios:
  s: {phases: [measure: {for: 1s, do: [load: {use: "${{ scenario }}", rate: null, tls: {resume: null}, expect: {bytes: 5}}]}]}
`)
	s, list := p.Scenarios.Get("s").Bind(values(map[string]any{"scenario": "slow", "params.n": 1.0}))
	if len(list) > 0 {
		t.Fatal(list)
	}
	got := s.Val.Phases[0].Val.Do[0].Val.Spec.(*loadSpec)
	if got.Rate.Rate != 0 || got.TLS.Resume || got.TLS.ServerName != "x" || got.Expect.Status != 201 || got.Expect.Bytes != 5 {
		t.Errorf("%+v", got)
	}
	_, list = p.Scenarios.Get("s").Bind(values(map[string]any{"scenario": "big", "params.n": 1.0}))
	if !strings.HasPrefix(list.Error(), "p.yaml:5:77: rate: there is no value, and nothing to remove") {
		t.Error(list)
	}
}

func TestBindInParallel(t *testing.T) {
	p := mustLoad(t, `
scenarios: {s: {repeats: "${{ n }}", phases: [measure: {for: "${{ x }}", do: [load: "${{ l }}"]}]}}
`)
	done := make(chan string)
	for i := range 8 {
		go func() {
			_, list := p.Scenarios.Get("s").Bind(values(map[string]any{"n": 1.5, "l": []string{"big", "smal"}[i%2]}))
			done <- list.Error()
		}()
	}
	for range 8 {
		if got := <-done; !strings.HasPrefix(got, "p.yaml:3:26: repeats: 1.5 is not an integer") {
			t.Error(got)
		}
	}
}
