package engine_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// recovering is a target behind a relay whose latency rises by more than any busy machine adds, and falls again.
const recovering = `
plan: recovering
host: {guards: {send-lag: 1s, generator-cpu: 100%, rate-delivered: 50%}} # what is timed here is far apart
params: {back: 3s}
backends: {web: {}}
relays: {slow_web: {of: web}}
targets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}
scenarios:
  s:
    relays: [slow_web]
    recovery: {rate: 50%, p99: 150%, slack: 300ms, hold: 1s}
    phases:
      - load: {name: before, for: 1500ms, do: [{load: {path: /small, rate: 50/s}, through: after}]}
      - fault: {for: 1200ms, do: [{toxic: {relay: slow_web, latency: 400ms}}]}
      - measure: {name: after, for: "${{ params.back }}"}
verdicts:
  - {verdict: back, each: run, pass: not_recovered == 0 && recovery_s < 60 && recovery_rate_s < 60 && recovery_p99_s < 60}
  - {verdict: slower in the fault, pass: phase("fault").p50_ms > 350 && phase("fault").failed == 0}
  - {verdict: nothing is left, pass: relay_connections_left == 0}
`

// A target that comes back does so in a time that is known; its relays then hold nothing. The load's last requests may
// still be answered after their phase, so the last second is that of the load.
func TestRecovery(t *testing.T) {
	out := run(t, compile(t, recovering), engine.RunOptions{})
	r := ran(t, out)
	passed(t, out)
	if want := (record.Recovery{Rate: 0.5, P99: 1.5, SlackMs: 300, HoldS: 1}); r.Recovery == nil || *r.Recovery != want {
		t.Errorf("the bound as recorded: %+v, want %+v", r.Recovery, want)
	}
	if v, ok := r.Metrics[""].Get("recovery_s"); !ok || v < 0 || v > 3 {
		t.Errorf("recovery_s = %v %v (%s)", v, ok, r.Missing["recovery_s"])
	}
	if left := r.Facts.RelaysLeft; len(left) != 1 || left[0].Opened == 0 {
		t.Errorf("the relays at the end: %+v", left)
	}
	text := reportOf(t, out)
	for _, want := range []string{"How long it took to come back", "rate at least 50 %, p99 at most 150 % or 300 ms more, for 1 s", "Failures in each phase"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}

	out = run(t, compile(t, recovering, "back=300ms"), engine.RunOptions{})
	if r := ran(t, out); !strings.Contains(r.Missing["recovery_s"], "no whole second of the headline load followed the last fault") {
		t.Errorf("recovery_s = %v, missing because %q", r.Metrics[""].Value("recovery_s"), r.Missing["recovery_s"])
	}
	if v := verdictsOf(out)["back"]; len(v) != 1 || v[0] != "inconclusive" {
		t.Errorf("a recovery that nobody saw: %v", v)
	}

	// The names are known where something is broken, and nowhere else.
	quiet := strings.Replace(recovering, "[{toxic: {relay: slow_web, latency: 400ms}}]", "[]", 1)
	quiet = strings.Replace(quiet, "- fault:", "- load:", 1)
	if prog, list := check(write(t, quiet), engine.Options{}); prog != nil && !list.HasErrors() || !strings.Contains(list.Error(), "recovery_s") {
		t.Errorf("a recovery from nothing: %v", list)
	}
}
