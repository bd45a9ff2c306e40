package dsl_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
)

// typed compares plans by what they say, not by where they say it. What a piece built on is merged in a resolved plan.
var typed = cmp.Options{
	cmp.Exporter(func(t reflect.Type) bool { return true }),
	cmpopts.IgnoreUnexported(dsl.Plan{}, dsl.Value{}, dsl.Expr{}),
	cmpopts.IgnoreTypes(diag.Pos{}),
	cmpopts.IgnoreFields(dsl.Plan{}, "File", "Files", "Sources", "Include"),
	cmpopts.IgnoreFields(dsl.Target{}, "From", "Extends"),
	cmpopts.IgnoreFields(dsl.Scenario{}, "Use"),
	cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && (f.Name() == "part" || f.Name() == "Use")
	}, cmp.Ignore()),
	cmpopts.EquateEmpty(),
}

func TestResolvedLoadsAsTheSamePlan(t *testing.T) {
	for _, tt := range []struct {
		name string
		opt  dsl.Options
	}{
		{"quickstart", dsl.Options{}}, {"round2", dsl.Options{}}, {"proxy-capacity", dsl.Options{}}, {"thread-concentration", dsl.Options{}},
		{"round2", dsl.Options{Presets: []string{"smoke"}, Set: []string{"rate=500/s", "fixed=20s"}}},
		{"round2", dsl.Options{Presets: []string{"smoke"}, Only: []string{"throughput", "nginx/churn"}, Skip: []string{"caddy"}, Repeats: 2}},
		{"proxy-capacity", dsl.Options{Presets: []string{"full"}, Set: []string{"ramp_steps=[1, 2]"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := loadSketch(t, tt.name, tt.opt)
			text := dsl.Resolved(p, dsl.ResolvedOptions{})
			if tt.opt.Presets == nil {
				golden(t, "testdata/resolved/"+tt.name+".yaml", scrub(t, text))
			}
			opt := dsl.Options{Vocabulary: vocabulary, ReadFile: func(string) ([]byte, error) { return text, nil }}
			again, list := dsl.Load("resolved.yaml", opt)
			if len(list) > 0 {
				t.Fatalf("%v\n%s", list, text)
			}
			if d := cmp.Diff(p, again, typed); d != "" {
				t.Errorf("loaded again it differs:\n%s", d)
			}
			if twice := dsl.Resolved(again, dsl.ResolvedOptions{}); string(twice) != string(text) {
				t.Errorf("resolved again it differs:\n%s", cmp.Diff(string(text), string(twice)))
			}
		})
	}
}

// What the command line says of cells and repeats is in the plan that it resolves to, beside what the plan itself says.
func TestResolvedHoldsWhatTheCommandLineChose(t *testing.T) {
	src := `
plan: p
only: [a, b]
skip: [t/three]
targets: {t: {endpoints: {http: "127.0.0.1:1"}}, u: {extends: t}}
scenarios:
  one: {repeats: 7, phases: [measure: {for: 1s}]}
  two: {use: one}
  three: {phases: [measure: {for: 1s}]}
schedule: [{stage: a}, {stage: b}, {stage: c}]
`
	files := func(string) ([]byte, error) { return []byte(src), nil }
	p, list := dsl.Load("p.yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: files, Only: []string{"one", "u"}, Skip: []string{"b/u"}, Repeats: 2})
	if len(list) > 0 {
		t.Fatal(list)
	}
	for i := 0; i < 2; i++ {
		if want := []string{"a/one", "a/u", "b/one", "b/u"}; !slices.Equal(p.Only, want) {
			t.Errorf("only %q, want %q", p.Only, want)
		}
		if want := []string{"t/three", "b/u"}; !slices.Equal(p.Skip, want) {
			t.Errorf("skip %q, want %q", p.Skip, want)
		}
		for j := range p.Scenarios {
			if n := p.Scenarios[j].Val.Repeats; n != 2 {
				t.Errorf("%s has %d repeats", p.Scenarios[j].Name, n)
			}
		}
		if own := p.Chosen("only"); len(own) != []int{2, 4}[i] || own[0].Text != []string{"a", "a/one"}[i] {
			t.Errorf("load %d: the plan itself says only %v", i, own)
		}
		text := dsl.Resolved(p, dsl.ResolvedOptions{})
		if p, list = dsl.Load("p.yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: func(string) ([]byte, error) { return text, nil }}); len(list) > 0 {
			t.Fatalf("%v\n%s", list, text)
		}
	}
}

// A cell that a plan chooses by a name that it does not have is a problem at its place.
func TestCellsThatThePlanDoesNotHave(t *testing.T) {
	src := `
plan: p
only: [nginx, t/size=1, "*/s", all]
skip: [q/s, colour=red]
targets: {t: {endpoints: {http: "127.0.0.1:1"}}}
scenarios: {s: {matrix: {size: [1]}, phases: [measure: {for: 1s}]}}
`
	want := []string{
		`3:8 only: the plan has no stage, target, scenario or axis=value "nginx"`,
		`4:8 skip: the plan has no stage, target, scenario or axis=value "q"`,
		`4:13 skip: the plan has no stage, target, scenario or axis=value "colour=red"`,
	}
	// What the command line says beside them does not hide them.
	for _, opt := range []dsl.Options{{}, {Only: []string{"t"}, Skip: []string{"s"}}} {
		opt.Vocabulary, opt.ReadFile = vocabulary, func(string) ([]byte, error) { return []byte(src), nil }
		_, list := dsl.Load("p.yaml", opt)
		var got []string
		for _, x := range list {
			got = append(got, fmt.Sprintf("%d:%d %s", x.Pos.Line, x.Pos.Col, x.Msg))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("--only %q: problems (-want +got):\n%s", opt.Only, d)
		}
	}
}

// scrub makes paths independent of where the tests run.
func scrub(t *testing.T, b []byte) []byte {
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.ReplaceAll(string(b), dir+"/", ""))
}

func TestResolvedRedactsSecretsAndRewritesPaths(t *testing.T) {
	src := `
plan: p
params:
  token: {value: hunter2, secret: true}
  key: {env: KEY, secret: true}
  "on": {value: "5"}
presets: {prod: {token: hunter3}}
targets:
  t:
    install:
      - write: {file: a, template: sub/a.tmpl}
      - write: {file: b, template: "${{ params.token }}"}
      - apply: sub/object.yaml
scenarios:
  s: {phases: [measure: {for: 1s, require: "true"}]}
`
	files := func(string) ([]byte, error) { return []byte(src), nil }
	p, list := dsl.Load("dir/p.yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: files, Set: []string{"token=hunter4"}})
	if len(list) > 0 {
		t.Fatal(list)
	}
	got := string(dsl.Resolved(p, dsl.ResolvedOptions{Path: func(path string) string { return "sources/" + filepath.Base(path) }}))
	for _, secret := range []string{"hunter2", "hunter3", "hunter4"} {
		if strings.Contains(got, secret) {
			t.Errorf("%s is in the resolved plan:\n%s", secret, got)
		}
	}
	for _, want := range []string{"template: sources/a.tmpl", "apply: sources/object.yaml", `template: "${{ params.token }}"`, "env: KEY", `value: "5"`, `require: "true"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in the resolved plan:\n%s", want, got)
		}
	}
}
