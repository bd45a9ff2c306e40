package engine_test

import (
	"fmt"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/machine"
)

// Each run has the host's speed, once a second, and as a metric that expressions know. How fast this machine is nobody can
// say here; a piece takes neither a nanosecond nor a minute.
func TestHostSpeedIsRecorded(t *testing.T) {
	cpu := fmt.Sprint(machine.Allowed()[0])
	out := run(t, compile(t, `
plan: speed
host: {cpus: {sut: "`+cpu+`"}}
backends: {web: {}}
targets:
  relay: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}
scenarios:
  s: {phases: [{measure: {for: 2500ms, do: [{load: {path: /small, rate: 50/s, timeout: 5s}}]}}]}
verdicts: [{verdict: known, pass: host_speed > 0, gate: true}]
`), engine.RunOptions{})
	if out.Exit != 0 {
		t.Errorf("exit %d: %s", out.Exit, out.Why)
	}
	r := only(t, out)
	speed, ok := r.Metrics[""].Get("host_speed")
	if !ok || speed < 1e-5 || speed > 1e6 {
		t.Errorf("host_speed is %v (%v): %s", speed, ok, r.Missing["host_speed"])
	}
	data, err := out.Set.Data(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range data.Points {
		if p.Series == "host_speed" {
			n++
		}
	}
	if n < 2 || n > 4 {
		t.Errorf("%d samples of it in a run of 2.5 s", n)
	}
}
