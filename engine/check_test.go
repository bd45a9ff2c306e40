package engine_test

import (
	"strings"
	"testing"

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
		prog, list := check(file, engine.Options{Only: tc.only, Skip: tc.skip})
		if list.HasErrors() {
			t.Fatal(list)
		}
		if n := prog.Takes().Runs; n != tc.want {
			t.Errorf("only %v, skip %v: %d runs, want %d", tc.only, tc.skip, n, tc.want)
		}
	}
}
