package dsl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
)

// loadFiles loads a plan from texts by path.
func loadFiles(files map[string]string, opt dsl.Options) (*dsl.Plan, diag.List) {
	opt.Vocabulary = vocabulary
	opt.ReadFile = func(path string) ([]byte, error) {
		if s, ok := files[path]; ok {
			return []byte(s), nil
		}
		return nil, fmt.Errorf("no such file")
	}
	return dsl.Load("dir/p.yaml", opt)
}

func TestMerge(t *testing.T) {
	files := map[string]string{
		"dir/p.yaml": `
plan: p
include: [lib/a.yaml, lib/b.yaml]
params: {x: 3, only_plan: 1, limit: {value: 5}}
targets:
  base: {from: targets/base.yaml, with: {workers: 2, gone: null}}
  child: {extends: base, about: child, with: {buffer: {value: 8k, why: bigger}, workers: {value: 4}}}
  grown: {extends: child, install: [start: {command: [other]}], limits: {sut: {memory: 1GiB}}}
scenarios:
  s: {use: t, vars: {attack: {slow-read: {connections: 1}}, other: {b: 2}}}
backends: {web: {ready: {http: /ready}, routes: {b.local: /b}}}
loads:
  l: {use: k, tls: {resume: true}, headers: {c: "3"}}
`,
		"dir/lib/a.yaml": `
params: {x: 1, y: 1, limit: {value: 4, about: the limit}}
backends: {web: {replicas: 3, ready: {tcp: http, timeout: 3s}, routes: {a.local: [/a, /b]}}}
scenarios:
  t: {about: t, vars: {attack: {slowloris: {connections: 2}}, other: {a: 1}, third: 3}, phases: [measure: {for: 1s, do: [load: l]}]}
loads: {k: {endpoint: http, connections: 4, tls: {server-name: x}, headers: {a: "1", b: "2"}}}
`,
		"dir/lib/b.yaml": `
params: {x: 2, z: 2}
`,
		"dir/targets/base.yaml": `
about: base
with: {workers: {value: 1, why: one CPU}, buffer: 4k, gone: 5}
install: [write: {file: c, template: sub/c.tmpl}, start: {command: [x]}]
unsupported: {s: no reason}
limits: {sut: {cpu: 1}}
`,
	}
	p, list := loadFiles(files, dsl.Options{})
	if len(list) > 0 {
		t.Fatal(list)
	}
	value := func(name string) any { return p.Params.Get(name).Val.Value.V }
	if value("x") != 3.0 || value("y") != 1.0 || value("z") != 2.0 || value("only_plan") != 1.0 {
		t.Error("include < plan does not hold")
	}
	if l := p.Params.Get("limit").Val; l.Value.V != 5.0 || l.About != "the limit" {
		t.Errorf("limit %+v", l)
	}
	knob := func(target, name string) string {
		k, ok := p.Targets.Get(target).Val.With.Get(name)
		return fmt.Sprint(k.Value.Written, ",", k.Why, ",", ok)
	}
	for _, tt := range [][3]string{
		{"base", "workers", "2,,true"}, // a new value clears the why
		{"base", "buffer", "4k,,true"},
		{"base", "gone", ",,false"}, // null removes, also what a file said
		{"child", "workers", "4,,true"},
		{"child", "buffer", "8k,bigger,true"},
		{"child", "gone", ",,false"},
		{"grown", "buffer", "8k,bigger,true"},
	} {
		if got := knob(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%s.%s is %s, want %s", tt[0], tt[1], got, tt[2])
		}
	}
	child := p.Targets.Get("child").Val
	if child.About != "child" || len(child.Install) != 2 || len(child.Unsupported) != 1 || child.Extends != "base" || child.From != "" {
		t.Errorf("child %+v", child)
	}
	if w := child.Install[0].Val.Spec.(*writeSpec); w.Template != "dir/targets/sub/c.tmpl" {
		t.Errorf("the path is resolved to %s", w.Template)
	}
	grown := p.Targets.Get("grown").Val
	if len(grown.Install) != 1 || grown.Limits[0].Val.CPU != 1 || grown.Limits[0].Val.Memory != 1<<30 || !grown.Limits[0].Val.CountSocketBuffers {
		t.Errorf("grown %+v", grown.Limits)
	}
	web := p.Backends.Get("web").Val
	if web.Replicas != 3 || web.Ready.TCP != "" || web.Ready.HTTP != "/ready" || web.Ready.Timeout.Seconds() != 10 || len(web.Routes) != 2 {
		t.Errorf("backend %+v", web)
	}
	s := p.Scenarios.Get("s").Val
	if got := fmt.Sprint(s.Vars.Names()); got != "[attack other third]" || s.About != "t" {
		t.Errorf("vars %s", got)
	}
	attack, _ := s.Vars.Get("attack")
	other, _ := s.Vars.Get("other")
	if fmt.Sprint(attack.V, other.V) != "map[slow-read:map[connections:1]] map[b:2]" {
		t.Errorf("vars are not replaced whole: %v %v", attack.V, other.V)
	}
	l := p.Loads.Get("l").Val.Spec.(*loadSpec)
	if !l.TLS.Resume || l.TLS.ServerName != "x" || l.Connections != 4 || !slices.Equal(l.Headers.Names(), []string{"a", "b", "c"}) {
		t.Errorf("load %+v", l)
	}
}

func TestPrecedence(t *testing.T) {
	files := map[string]string{
		"dir/p.yaml": `
plan: p
include: a.yaml
params: {b: plan, c: plan, d: plan, secret: {env: TOKEN, secret: true, about: kept}, list: [1]}
presets: {one: {c: one, d: one}, two: {d: two, secret: from preset}}
targets: {t: {endpoints: {http: "127.0.0.1:1"}}}
scenarios: {s: {phases: [measure: {for: 1s}]}}
`,
		"dir/a.yaml": "params: {a: include, b: include, c: include, d: include, e: include}\n",
	}
	p, list := loadFiles(files, dsl.Options{Presets: []string{"one", "two"}, Set: []string{"e=set", "list=[1, 2s]", "secret=a: b: c"}})
	if len(list) > 0 {
		t.Fatal(list)
	}
	for name, want := range map[string]string{"a": "include", "b": "plan", "c": "one", "d": "two", "e": "set", "secret": "a: b: c", "list": "[1 2]"} {
		v := p.Params.Get(name).Val
		if got := fmt.Sprint(v.Value.V); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if s := p.Params.Get("secret").Val; !s.Secret || s.Env != "" || s.About != "kept" {
		t.Errorf("secret %+v", s)
	}
	if got := p.Params.Get("e").Val.Value.Pos().String(); got != "--set e:1:1" {
		t.Errorf("a --set value is at %s", got)
	}
}

func TestOverridesThatAreWrong(t *testing.T) {
	files := map[string]string{"dir/p.yaml": "plan: p\nparams: {rate: 1}\ntargets: {t: {endpoints: {http: \"h:1\"}}}\nscenarios: {s: {phases: [measure: {for: 1s}]}}\n"}
	for _, tt := range []struct {
		opt  dsl.Options
		want string
	}{
		{dsl.Options{Set: []string{"rte=1"}}, `--set rte:1:1: the plan has no param "rte"; did you mean "rate"?`},
		{dsl.Options{Set: []string{"scenarios.s.repeats=1"}}, `--set scenarios.s.repeats:1:1: the plan has no param "scenarios.s.repeats"; --set changes params only; make what you want to change a param of the plan`},
		{dsl.Options{Set: []string{"rate"}}, `--set rate:1:1: --set wants name=value, have "rate"; write --set rate=VALUE`},
		{dsl.Options{Set: []string{"rate=010"}}, `--set rate:1:1: value: "010" is read differently by different versions of YAML; write 10, or quote it if it is text`},
		{dsl.Options{Presets: []string{"smok"}}, `--preset:1:1: the plan has no preset "smok"; there are no presets`},
	} {
		_, list := loadFiles(files, tt.opt)
		if got := list.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestWhereProblemsAreReported(t *testing.T) {
	files := map[string]string{
		"dir/p.yaml": "plan: p\ninclude: a.yaml\nbad: 1\nscenarios: {s: {phases: [measure: {for: soon}]}}\n",
		"dir/a.yaml": "worse: 2\ntargets: {t: {from: t.yaml}}\n",
		"dir/t.yaml": "endpoints: {http: nowhere}\nworst: 3\n",
	}
	_, list := loadFiles(files, dsl.Options{})
	var places []string
	for _, p := range list {
		places = append(places, p.Pos.String())
	}
	want := "dir/p.yaml:3:1 dir/p.yaml:4:41 dir/a.yaml:1:1 dir/t.yaml:1:19 dir/t.yaml:2:1"
	if got := strings.Join(places, " "); got != want {
		t.Errorf("got %s\nwant %s\n%v", got, want, list)
	}
}
