package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// An interrupt ends a routes-changed that hangs and cannot be told to end, in its phase and after it.
func TestInterruptEndsTelling(t *testing.T) {
	for _, length := range []string{"5m", "300ms"} {
		sign := filepath.Join(t.TempDir(), "late")
		ctx, cancel := context.WithCancelCause(t.Context())
		var at time.Time
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(sign); err == nil {
					at = time.Now()
					cancel(engine.ErrInterrupted)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		out := runIn(ctx, t, compile(t, `
plan: hang
backends: {web: {}}
targets:
  t:
    install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}]
    routes-changed: [{exec: {command: [sh, -c, 'trap "" TERM; sleep 1; echo >`+sign+`; while :; do sleep 0.1; done'], timeout: 3m}}]
scenarios: {s: {phases: [{measure: {for: `+length+`, do: [{load: {path: /small, rate: 10/s}}, {scale: {backends: web, to: 2}}]}}]}}
`), engine.RunOptions{})
		if took := time.Since(at); took > time.Minute {
			t.Errorf("%s: it went on for %v", length, took)
		}
		r := only(t, out)
		if out.Exit != 130 || r.Status != record.Interrupted {
			t.Errorf("%s: exit %d (%s), %s: %s", length, out.Exit, out.Why, r.Status, r.Reason)
		}
		if len(r.Facts.Changes) != 1 || r.Facts.Changes[0].Why != "it was interrupted before" {
			t.Errorf("%s: %+v", length, r.Facts.Changes)
		}
		cancel(nil)
	}
}

// What waits behind a telling that hangs is not begun after its phase, and the change says what hung.
func TestNothingBeginsAfterItsPhase(t *testing.T) {
	r := only(t, run(t, compile(t, `
plan: hang
backends: {web: {}, db: {}}
targets:
  t:
    install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}]
    routes-changed: [{exec: {command: [sleep, '600'], timeout: 2s}}]
scenarios: {s: {phases: [{measure: {for: 1s, do: [{load: {path: /small, rate: 10/s}}, {scale: {backends: web, to: 2}}, {scale: {backends: db, to: 2}, at: 900ms}]}}]}}
`), engine.RunOptions{}))
	if r.Status != record.Done || len(r.Facts.Changes) != 2 {
		t.Fatalf("%s: %s: %+v", r.Status, r.Reason, r.Facts.Changes)
	}
	for _, c := range r.Facts.Changes {
		if strings.Contains(c.What, "web") && (!c.Refused || !strings.Contains(c.Why, "routes-changed") || !strings.Contains(c.Why, "within 2s, its timeout")) {
			t.Errorf("what hung: %+v", c)
		}
		if strings.Contains(c.What, "db") && (!c.Unmade || !strings.HasPrefix(c.Why, "it was not made, its phase ended before") || len(c.Came) > 0) {
			t.Errorf("%+v", c)
		}
	}
}

// More replicas than a phase has time for are a result, and none of them stays.
func TestScaleIsBoundedByItsPhase(t *testing.T) {
	out := run(t, compile(t, `
plan: runaway
backends: {web: {}}
targets: {t: {install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}]}}
scenarios: {s: {phases: [{measure: {for: 1s, do: [{load: {path: /small, rate: 10/s}}, {scale: {backends: web, to: 5000}}]}}]}}
verdicts: [{verdict: ok, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	r := only(t, out)
	if r.Status != record.Done || out.Exit != 3 {
		t.Errorf("%s, exit %d: %s", r.Status, out.Exit, reasons(out))
	}
	if len(r.Facts.Changes) != 1 {
		t.Fatalf("changes: %+v", r.Facts.Changes)
	}
	if c := r.Facts.Changes[0]; c.Arrived || len(c.Came) > 0 || !strings.HasSuffix(c.Why, "of 4999 replicas were ready") {
		t.Errorf("%+v", c)
	}
}

// A target that the plan kills cannot be told of the next change: that is the target's failure, and the run has its figures.
// A replica that ends by itself is one that nobody tells to end, and taints.
func TestChangesOfWhatDied(t *testing.T) {
	flag := filepath.Join(t.TempDir(), "flag")
	out := run(t, compile(t, `
plan: died
backends: {web: {}, db: {replicas: 2, command: [sh, -c, 'echo up; test ${{ replica }} = 0 && exec sleep 600; while ! test -e `+flag+`; do sleep 0.05; done; kill -9 $$'], ready: {log: up}}}
targets:
  t:
    install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}, {start: {name: other, command: [sleep, '600']}}]
    routes-changed: [{signal: {process: other, send: CONT}}]
scenarios:
  s:
    phases:
      - load:
          do:
            - {exec: [sh, -c, 'echo >`+flag+`; sleep 1']}
            - {scale: {backends: db, to: 1, within: 20ms}}
            - {signal: {process: other, send: KILL}}
            - {scale: {backends: web, to: 2}}
      - measure: {for: 300ms, do: [{load: {path: /small, rate: 100/s}}]}
verdicts: [{verdict: ok, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	r := only(t, out)
	if r.Status != record.Done || out.Exit != 3 || r.Metrics[""].Value("requests") == 0 {
		t.Errorf("%s (%s), exit %d, %g requests", r.Status, r.Reason, out.Exit, r.Metrics[""].Value("requests"))
	}
	if n := len(r.Facts.Changes); n != 2 || !strings.HasPrefix(r.Facts.Changes[n-1].Why, "other of the target does not run any more") {
		t.Errorf("changes: %+v", r.Facts.Changes)
	}
	if !slices.ContainsFunc(r.Guards, func(g record.Guard) bool {
		return g.Name == "backends" && !g.OK && strings.Contains(g.Message, "db/1 ended: signal: killed")
	}) {
		t.Errorf("no guard says which replica died: %+v", r.Guards)
	}
	for _, e := range happened(t, out, r.ID, "replica") {
		if e.Fields["process"] == "db" && e.Fields["state"] == "leaving" {
			t.Errorf("a replica that is dead: %s", e.Message)
		}
	}
}
