package engine_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/record"
)

// Limits hold from the start or for a phase, are verified and recorded, and kills for want of memory are events. Where cgroups
// cannot be made this is said, and is a result.
func TestLimit(t *testing.T) {
	prog, list := check(write(t, `
plan: limits
backends: {web: {}}
targets:
  t:
    install:
      - start: {builtin: relay, listen: [http], upstreams: web}
      - start: {name: busy, as: helper, command: [sh, -c, 'while :; do :; done']}
      - start: {name: hungry, as: eater, command: [sh, -c, 'while :; do head -c 100000000 /dev/zero | tail >/dev/null; sleep 0.3; done']}
scenarios:
  always:
    limits: {eater: {memory: 24MiB}, helper: {cpu: 0.1, processes: 30}}
    phases: [{measure: {for: 30s, until: events("oom").size() > 0 && seconds > 1, do: [{load: {path: /small, rate: 50/s}}]}}]
  a_while:
    phases:
      - fault: {for: 30s, until: events("oom").size() > 0 && seconds > 1, do: [{load: {path: /small, rate: 50/s}}, {limit: {process: busy, replica: 0, cpu: 0.1, processes: 40}}, {limit: {process: hungry, memory: 24MiB}}]}
      - measure: {for: 300ms, do: [{load: {path: /small, rate: 50/s}}]}
verdicts:
  - {verdict: killed, pass: events("oom").size() > 0 && failed == 0, gate: true}
`), engine.Options{}) // under a memory limit head and tail are what is killed, the shell goes on
	if list.HasErrors() {
		t.Fatal(list)
	}
	out := run(t, prog, engine.RunOptions{})
	for _, o := range []machine.Offer{machine.LimitMemory(), machine.LimitCPU(), machine.LimitProcesses()} {
		if o.OK {
			continue
		}
		for _, r := range runs(t, out) {
			if r.Status != record.Unsupported || !strings.Contains(r.Reason, o.Detail) || !strings.Contains(list.Error(), o.Detail) {
				t.Errorf("%s: %s (%s), though %s", r.Coord.Scenario, r.Status, r.Reason, o.Detail)
			}
		}
		return
	}
	passed(t, out)
	always, aWhile := of(t, out, "always"), of(t, out, "a_while")
	seen := 0
	for _, p := range always.Processes {
		if p.WantLimits != nil {
			seen++
			if !p.Limits.Holds(p.WantLimits) {
				t.Errorf("%s is under %s", p.Name, p.Limits.Words())
			}
		}
	}
	if g := guardsOf(always, "limits"); seen != 2 || len(g) != 1 || !g[0].OK {
		t.Errorf("%d processes: %+v", seen, g)
	}
	if g := guardsOf(aWhile, "limits"); len(g) > 0 {
		t.Errorf("nothing is limited when the run begins: %+v", g)
	}
	for _, f := range aWhile.Facts.Faults {
		switch {
		case f.Gone != "" || f.Kind != "limit" || f.End-f.Start < 0.5:
			t.Errorf("%+v", f)
		case f.What == "limit of busy/0: 0.1 CPUs, 40 processes":
			if !strings.Contains(f.Seen, "its CPUs were used up in ") || strings.Contains(f.Seen, "used up in 0 of") {
				t.Errorf("%+v", f)
			}
		case f.What == "limit of hungry/0: 24 MiB":
			if strings.Contains(f.Seen, "killed 0 processes") {
				t.Errorf("%+v", f)
			}
		default:
			t.Errorf("%+v", f)
		}
	}
	if g := guardsOf(aWhile, "fault"); len(aWhile.Facts.Faults) != 2 || len(g) != 2 {
		t.Errorf("%d faults: %+v", len(aWhile.Facts.Faults), g)
	}
}
