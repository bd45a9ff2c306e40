package engine_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
)

// A pause and a signal are faults that are seen to be in force; a pause that somebody else ends is not.
func TestHalts(t *testing.T) {
	out := run(t, compile(t, `
plan: halts
backends: {web: {}, other: {replicas: 2}}
targets: {t: {install: [{start: {name: relay, builtin: relay, listen: [http], upstreams: web}}]}}
loads: {small: {path: /small, rate: 100/s, connections: 2, timeout: 300ms}}
scenarios:
  backend:
    phases:
      - fault: {for: 1500ms, do: [{load: small}, {pause: {process: web, for: 1s}, at: 100ms}]}
  target:
    phases:
      - load: {name: before, for: 500ms, do: [{load: small, through: fault}]} # something is answered
      - fault: {for: 1s, do: [{pause: relay}]}
  disturbed:
    phases:
      - fault: {for: 2s, do: [{load: small}, {pause: other}, {signal: {process: other, replica: 1, send: CONT}, at: 1s}]}
  signals:
    phases:
      - fault: {for: 1s, do: [{load: {use: small, timeout: 10s}}, {signal: {process: other, replica: 0, send: STOP}}, {signal: {process: other, replica: 0, send: CONT}, at: 900ms}]}
verdicts:
  - {verdict: felt, where: 'scenario in ["backend", "target"]', pass: failed > 0}
  - {verdict: disturbed, where: scenario == "disturbed", pass: failed == 0}
  - {verdict: signals, where: scenario == "signals", pass: failed == 0}
`), engine.RunOptions{})
	got := verdictsOf(out)
	if strings.Join(got["felt"], " ") != "pass pass" || strings.Join(got["disturbed"], " ") != "inconclusive" || strings.Join(got["signals"], " ") != "pass" {
		t.Errorf("%v\n%s", got, reasons(out))
	}
	for _, tc := range []struct {
		scenario, kind, what string
		ok                   bool
		why                  string
	}{
		{"backend", "pause", "pause of web/0", true, "everything was seen to be stopped for "},
		{"target", "pause", "pause of relay/0", true, "everything was seen to be stopped for "},
		{"disturbed", "pause", "pause of other (2 replicas)", false, "other/1 was running again after "},
		{"signals", "signal", "SIGSTOP to other/0", true, "it was seen to be stopped"},
	} {
		r := of(t, out, tc.scenario)
		if f := r.Facts.Faults; len(f) != 1 || f[0].Kind != tc.kind || f[0].What != tc.what || f[0].Phase != "fault" || f[0].Start <= 0 || f[0].End < f[0].Start {
			t.Errorf("%s: %+v", tc.scenario, f)
		}
		if g := guardsOf(r, "fault"); len(g) != 1 || g[0].OK != tc.ok || !strings.Contains(g[0].Message, tc.why) {
			t.Errorf("%s: %+v, want %q", tc.scenario, g, tc.why)
		}
	}
	if f := of(t, out, "backend").Facts.Faults; len(f) == 1 && f[0].StoppedS < 0.5 { // it lasts a second at least
		t.Errorf("it was seen to be stopped for %v s", f[0].StoppedS)
	}
	if text := reportOf(t, out); !strings.Contains(text, "pause of relay/0") || !strings.Contains(text, "other/1 was running again") {
		t.Errorf("the report does not tell of the faults:\n%s", text)
	}
}
