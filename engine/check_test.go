package engine_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine"
)

// Names that mean nothing are problems of the plan, at their place.
func TestNamesThatMeanNothing(t *testing.T) {
	for _, tc := range []struct{ text, says string }{
		{"targets: {t: {limits: {stu: {files: 64}}}}", `no process has the role "stu"`},
		{"scenarios: {s: {limits: {lod: {files: 64}}}}", `no process has the role "lod"`},
		{"schedule: [{stage: a, probes: {without: [hots]}}]", `no probe is called "hots"`},
		{"schedule: [{stage: a, probes: {without: [host, all]}}]", ""},
		{inLoad("endpoint: htp"), `has no endpoint "htp"`},
		{do("{toxic: {relay: slow_web, latency: 1ms}}"), "is not in the path of scenario"},
		{do("{stop: {process: stu}}"), `unknown process "stu"`},
		{install("upstreams: wbe"), `"wbe"`},
		{"params: {a: '${{ params.b }}', b: '${{ params.a }}'}", "depends on itself"},
		{"params: {a: '${{ \"not params.a itself\" }}'}", ""},
		{"params: {a: '${{ with.knob }}'}", `unknown name "with"`},
		{"report: [{table: A, rows: trget, metrics: [req_per_s]}]", `"trget"`},
		{"report: [{table: A, rows: target, metrics: [req_per_s.mni]}]", `unknown statistic "mni"`},
		{"report: [{table: A, rows: target, metrics: [req_pers]}]", `unknown metric "req_pers"`},
		{"report: [{chart: rss_mb}]", `unknown metric or series "rss_mb"`},
		{inScenario("repeats: '${{ p99_ms }}'"), "p99_ms"},
	} {
		text := tc.text
		if strings.Contains(text, "upstreams: wbe") {
			text = "targets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: wbe}}]}}"
		}
		prog, list := check(laid(t, text), engine.Options{})
		switch {
		case tc.says == "" && prog == nil:
			t.Errorf("%s: %v", text, list)
		case tc.says != "" && (prog != nil || !strings.Contains(list.Error(), tc.says) || list[0].Pos.Line == 0):
			t.Errorf("%s: %v, want %q", text, list, tc.says)
		}
	}
}

// More connections than a process may have open files are found before anything is dialled.
func TestDescriptors(t *testing.T) {
	small := "targets: {t: {limits: {load: {files: 64}}}}\n"
	for _, tc := range []struct {
		text, says string
		warning    bool
	}{
		{inLoad("connections: 900"), "", false},
		{inLoad("connections: 5000"), "a worker of this load would hold 5000 connections, with at most 1000 open files, which is what a process may have here (ulimit -Hn)", false},
		{inLoad("connections: 1800, workers: 2"), "the loads of phase measure hold 1800 connections together; a server that planrun starts may have 1000 open files", true},
		{small + inLoad("connections: 32"), "", false},
		{small + inLoad("connections: 33"), "a worker of this load would hold 33 connections, with at most 64 open files, which is what limits leaves a process of the role load", false},
		{small + inLoad("connections: 64, workers: 2"), "", false},
		{"scenarios: {s: {phases: [{load: {name: a, for: 1s, do: [{load: {use: small, connections: 600}, through: b}]}}, {measure: {name: b, for: 1s, do: [{load: {use: small, connections: 700}, name: c}]}}]}}",
			"the loads of phase b hold 1300 connections together", true},
		{"scenarios: {s: {phases: [{load: {name: a, for: 1s, do: [{load: {use: small, connections: 600}}]}}, {measure: {name: b, for: 1s, do: [{load: {use: small, connections: 700}, name: c}]}}]}}", "", false},
	} {
		_, list := check(laid(t, tc.text), engine.Options{Files: 1000})
		switch {
		case tc.says == "" && len(list) > 0:
			t.Errorf("%s: %v", tc.text, list)
		case tc.says != "" && (len(list) != 1 || !strings.Contains(list[0].Msg, tc.says) || list[0].Warning != tc.warning || list[0].Pos.Line < 2):
			t.Errorf("%s: %v, want %q", tc.text, list, tc.says)
		}
	}
}

// Whatever goes wrong while a plan that has problems is compiled, they are told, and so is that.
func TestPanicIsAProblem(t *testing.T) {
	plan, found := dsl.Load(write(t, "plan: p\nparams: {n: {env: N}}\ntargets: {t: {endpoint: {http: '127.0.0.1:1'}}}\n"+oneLoad), dsl.Options{Vocabulary: vocabulary})
	if !found.HasErrors() {
		t.Fatal("the plan has no problem")
	}
	more := engine.Check(plan, found, engine.Options{Env: func(string) (string, bool) { panic("no environment") }})
	if len(more) != 1 || more[0].Warning || more[0].Pos.File != plan.File || !strings.Contains(more[0].Msg, "a mistake in planrun: no environment") {
		t.Errorf("told: %v", more)
	}
}

// --only and --skip choose cells by their names and matrix values.
func TestOnlyAndSkip(t *testing.T) {
	file := laid(t, twoTargets+"\nscenarios: {s: {matrix: {size: [1, 2]}}}")
	for _, tc := range []struct {
		only, skip []string
		want       int // cells that run, of 4
	}{
		{nil, nil, 4}, {[]string{"t"}, nil, 2}, {[]string{"size=1"}, nil, 2}, {[]string{"*/t/s"}, nil, 2}, {[]string{"all/t/size=2"}, nil, 1},
		{nil, []string{"u"}, 2}, {[]string{"t"}, []string{"size=2"}, 1}, {[]string{"nobody"}, nil, 0},
	} {
		prog, list := checkAs(file, dsl.Options{Only: tc.only, Skip: tc.skip}, engine.Options{})
		if list.HasErrors() {
			t.Fatal(list)
		}
		if n := prog.Takes().Runs; n != tc.want {
			t.Errorf("only %v, skip %v: %d runs, want %d", tc.only, tc.skip, n, tc.want)
		}
	}
}
