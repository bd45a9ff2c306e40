package engine_test

import (
	"context"
	"os"
	"path/filepath"
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

// What waits behind a telling that hangs is not begun after its phase, and the error says what hung.
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
	if r.Status != record.Failed || !strings.Contains(r.Reason, "routes-changed") || !strings.Contains(r.Reason, "within 2s, its timeout") {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	for _, c := range r.Facts.Changes {
		if strings.Contains(c.What, "db") && (c.Why != "its phase ended before" || len(c.Came) > 0) {
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
