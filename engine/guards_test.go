package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/record"
)

// pinned is a plan whose load is pinned to some CPUs, and its target and origin to others.
const pinned = `
plan: pinned
host: {cpus: {sut: "%s", backends: "%s", load: "%s"}}
backends: {web: {}}
targets:
  proxy: {install: [{start: {builtin: proxy, listen: [http], upstreams: web}}]}
scenarios:
  s: {phases: [{warm-up: {for: 500ms, do: [{load: {path: /small, connections: 32, rate: %d/s, timeout: 5s}, through: measure}]}}, {measure: {for: 2s}}]}
verdicts:
  - {verdict: fast, pass: p99_ms < 10000, gate: true}
  - {verdict: served, pass: requests > 0}
`

// The load and the target on one CPU, with more to do than it can: the verdict about time is inconclusive, and the report
// says in words that the generator was the bottleneck. On a CPU of its own it is not.
//
// Other programs on this machine can take the generator's CPU too. So that is tried several times, and if it never works
// out the guards must say that it was them.
func TestGeneratorIsTheBottleneck(t *testing.T) {
	cpus := machine.Allowed()
	if len(cpus) < 2 {
		t.Fatalf("this test needs two CPUs; %s offers %d", runtime.GOOS, len(cpus))
	}
	one, two := fmt.Sprint(cpus[0]), fmt.Sprint(cpus[1])
	out := run(t, compile(t, fmt.Sprintf(pinned, two, two, two, 60000)), engine.RunOptions{})
	r := only(t, out)
	for _, p := range r.Processes {
		if p.Role != "load" && p.Role != "sut" {
			continue
		}
		if fmt.Sprint(p.CPUs) != fmt.Sprintf("[%s]", two) {
			t.Errorf("%s is pinned to %v, want %s", p.Name, p.CPUs, two)
		}
	}
	if v := verdictsOf(out); v["fast"][0] != "inconclusive" || v["served"][0] != "pass" || out.Exit != 3 {
		t.Errorf("on one CPU: %v, exit %d: %s; guards: %+v", v, out.Exit, out.Why, r.Guards)
	}
	if text := reportOf(t, out); !strings.Contains(text, "generator was the bottleneck") {
		t.Errorf("the report does not say that the generator was the bottleneck:\n%s", text)
	}

	var seen []string
	for range 4 {
		out := run(t, compile(t, fmt.Sprintf(pinned, one, one, two, 500)), engine.RunOptions{})
		if verdictsOf(out)["fast"][0] == "pass" && !strings.Contains(reportOf(t, out), "generator was the bottleneck") {
			return
		}
		seen = append(seen, failedGuards(only(t, out))...)
	}
	text := strings.Join(seen, "\n")
	if !strings.Contains(text, "foreign-cpu") {
		t.Errorf("on a CPU of its own the generator does not keep up, and nothing else used the machine:\n%s", text)
	} else {
		t.Logf("cannot be shown here: what this test did not start used the machine's CPUs:\n%s", text)
	}
}

func failedGuards(r *record.Run) (out []string) {
	for _, g := range r.Guards {
		if !g.OK {
			out = append(out, g.Name+": "+g.Message)
		}
	}
	return out
}
