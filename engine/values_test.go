package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// Values that setup, an install and an earlier phase find out are known afterwards, also where they say when something
// happens.
func TestValuesFoundOut(t *testing.T) {
	out := run(t, compile(t, `
plan: values
backends: {web: {}}
setup: [{exec: {command: [echo, '{"n": 3}'], set: {from_setup: n}}}]
targets:
  t:
    install:
      - start: {builtin: relay, listen: [http], upstreams: web}
      - exec: {command: [echo, '{"n": "${{ values.from_setup * 2 }}"}'], set: {from_install: n}}
scenarios:
  s:
    repeats: 2
    vars: {at: "${{ endpoint('http') }}"}
    phases:
      - load: {do: [{exec: {command: [echo, '{"a": 0.3}'], set: {late: a}}}]}
      - measure:
          for: "${{ values.late * 2 }}"
          do:
            - {load: {url: "http://${{ vars.at }}/small", rate: 50/s}}
            - {exec: [test, "${{ values.from_install }}", "=", "6"], at: "${{ values.late }}", name: late}
verdicts: [{verdict: v, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	passed(t, out)
	for _, r := range runs(t, out) {
		if len(r.Phases) != 2 || len(r.Actions) == 0 {
			t.Fatalf("%s (%s)", r.Status, r.Reason)
		}
		a := r.Actions[len(r.Actions)-1]
		if p := r.Phases[1]; a.Name != "late" || math.Abs(p.End-p.Start-0.6) > 1e-3 || math.Abs(a.Due-p.Start-0.3) > 1e-3 {
			t.Errorf("phase %+v, action %+v", p, a)
		}
	}
}

// Knobs, repeats, rounds and params that come from an earlier stage.
func TestStageValues(t *testing.T) {
	prog := compile(t, `
plan: stages
params:
  answered: {value: '${{ stage("a").scenario("s").target("t").requests }}'}
  n: '${{ params.answered > 10 ? 2 : 1 }}'
backends: {web: {}}
targets:
  t: {with: {k: 1}, install: [{start: {builtin: relay, listen: [http], upstreams: web}}, {write: {file: k, content: "{{.With.k}}"}}]}
scenarios:
  s: {phases: [{measure: {for: 500ms, do: [{load: {path: /small, rate: 100/s}}]}}]}
  u:
    repeats: '${{ params.n }}'
    with: {k: '${{ params.n + 5 }}'}
    phases: [{measure: {for: 300ms, do: [{load: {path: /small, rate: 50/s}}, {exec: [grep, -qx, "7", k]}]}}]
schedule: [{stage: a, scenarios: [s]}, {stage: b, scenarios: [u], rounds: '${{ params.n }}'}]
verdicts: [{verdict: v, where: stage == "b", each: run, pass: failed == 0 && with_k == 7, gate: true}]
metrics: {with_k: {of: params.n + 5}}
`)
	out := run(t, prog, engine.RunOptions{})
	passed(t, out)
	n := 0
	for _, r := range runs(t, out) {
		if r.Coord.Stage == "b" {
			n++
			if r.With["k"] != 7.0 || r.Params["n"] != 2.0 {
				t.Errorf("%+v: with %v, params %v", r.Coord, r.With, r.Params)
			}
		}
	}
	if n != 4 {
		t.Errorf("%d runs of stage b, want 2 repeats in 2 rounds", n)
	}
	if !out.Results.Complete {
		t.Error("the result set is not complete")
	}
	left, list := checkAs(prog.Plan.File, dsl.Options{Only: []string{"b"}}, engine.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	if _, err := left.Run(t.Context(), engine.RunOptions{Out: t.TempDir() + "/x"}); err == nil || !strings.Contains(err.Error(), "--set answered=VALUE") {
		t.Errorf("without its first stage: %v", err)
	}
}

// A stage value that comes from figures that a guard spoils is used, and marked.
func TestTaintedStageValue(t *testing.T) {
	out := run(t, compile(t, `
plan: tainted
params:
  seen: {value: '${{ stage("a").scenario("s").target("t").p99_ms + 50 }}'}
  rate: '${{ params.seen }}'
host: {guards: {shortest: 1h}}
backends: {web: {}}
targets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}
scenarios:
  s: {phases: [{measure: {for: 500ms, do: [{load: {path: /small, rate: 100/s}}]}}]}
  u: {phases: [{measure: {for: 500ms, do: [{load: {path: /small, rate: '${{ params.rate }}'}}]}}]}
schedule: [{stage: a, scenarios: [s]}, {stage: b, scenarios: [u]}]
`), engine.RunOptions{})
	for _, s := range out.Results.Stages {
		if s.Name == "b" && (!strings.Contains(s.Tainted["seen"], "length") || !strings.Contains(s.Tainted["rate"], "length")) {
			t.Errorf("tainted: %v", s.Tainted)
		}
	}
}

// What is new for whom, and what stays installed.
func TestFresh(t *testing.T) {
	for _, tc := range []struct {
		top, scenario, stage string
		want                 string // installations in the order of the runs
	}{
		{"", "", "order: blocked", "aaaaaa bbbbbb"},
		{"fresh: run", "", "order: blocked", "abcdef ghijkl"},
		{"fresh: scenario", "", "order: blocked", "aaaabb ccccdd"}, // its matrix and repeats share one
		{"fresh: run", "fresh: target,", "order: blocked", "aaaabc ddddef"},
		{"", "", "order: interleave", "abcdefghijkl"},
		{"", "", "order: interleave, together: true", "abababababab"},
		{"", "", "order: reverse", "aaaaaa bbbbbb"},
		{"", "", "order: random, seed: 3, together: true", "*"},
	} {
		t.Run(tc.top+" "+tc.scenario+" "+tc.stage, func(t *testing.T) {
			t.Parallel()
			out := run(t, compile(t, `
plan: fresh
`+tc.top+`
targets:
  t: {with: {k: 1}, install: [{start: {command: [sleep, "600"]}}]}
  u: {with: {k: 1}, install: [{start: {command: [sleep, "600"]}}]}
scenarios:
  s: {repeats: 2, `+tc.scenario+` matrix: {m: [1, 2]}, phases: [{load: {do: [{exec: ["true"]}]}}]}
  r: {repeats: 2, phases: [{load: {do: [{exec: ["true"]}]}}]}
schedule: [{stage: a, `+tc.stage+`}]
`), engine.RunOptions{})
			names, got := map[string]rune{}, ""
			for _, r := range runs(t, out) {
				if r.Status != record.Done {
					t.Fatalf("%+v: %s", r.Coord, r.Reason)
				}
				if names[r.Install] == 0 {
					names[r.Install] = rune('a' + len(names))
				}
				got += string(names[r.Install])
			}
			if want := strings.ReplaceAll(tc.want, " ", ""); tc.want == "*" && len(names) != 2 || tc.want != "*" && got != want {
				t.Errorf("installations %s, want %s", got, want)
			}
		})
	}
}
