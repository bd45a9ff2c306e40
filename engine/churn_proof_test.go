package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
)

// Replicas that are killed with requests on them lose these, and each second in which requests fail has the end of a replica
// or a reload beside it. Where the target is told first, fewer fail. The report says all of that.
func TestFailuresUnderChurnAreExplained(t *testing.T) {
	out := run(t, compile(t, `
plan: explained
backends: {web: {replicas: 4, routes: {bench.local: /}}}
targets: {haproxy: {from: `+shipped(t, "haproxy")+`}}
scenarios:
  none:
    vars: {drain: none}
    phases:
      - churn:
          do:
            - {load: {host: bench.local, path: /delay/80ms, rate: 200/s, connections: 64, timeout: 10s}, through: after}
            - {wait: {until: ok > 50}}
            - {scale: {backends: web, to: 1, drain: "${{ vars.drain }}", grace: 0s, within: 60s}}
      - load: {name: after, for: 300ms}
  first: {use: none, vars: {drain: announce-first}}
verdicts:
  - {verdict: churn loses requests, where: scenario == "none", pass: failed > 0, gate: true}
  - {verdict: all of them beside a change, pass: failed_unexplained == 0, gate: true}
`), engine.RunOptions{})
	if out.Exit != 0 {
		t.Errorf("exit %d: %s", out.Exit, reasons(out))
	}
	failed := map[string]float64{}
	for _, r := range runs(t, out) {
		failed[r.Coord.Scenario] = r.Metrics[""].Value("failed")
		d, err := out.Set.Data(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, s := range measure.FailedSeconds(d) {
			sum += besideAnEnd(t, d, s)
		}
		if sum != r.Metrics[""].Value("failed") {
			t.Errorf("%s: %g failed, by code, class and second %g", r.Coord.Scenario, r.Metrics[""].Value("failed"), sum)
		}
	}
	t.Logf("failed: %v", failed)
	if failed["first"] > 0 && failed["first"] >= failed["none"] {
		t.Errorf("failed: %v", failed)
	}
	for _, want := range []string{"### Second by second", "told to end", "reload: the target was told of scale web 4 -"} {
		if !strings.Contains(reportOf(t, out), want) {
			_, failures, _ := strings.Cut(reportOf(t, out), "\n## Failures")
			t.Errorf("the report does not say %q:\n%.3000s", want, failures)
		}
	}
}

// besideAnEnd makes sure that a replica ended, or the target was told, between two seconds before requests were due and the
// moment at which the last of them was over; it gives how many failed, by code and class.
func besideAnEnd(t *testing.T, d *record.Data, s record.FailedSecond) (n float64) {
	t.Helper()
	if !slices.ContainsFunc(d.Events, func(e record.Event) bool {
		end := e.Kind == "reload" || e.Kind == "replica" && (e.Fields["state"] == "leaving" || e.Fields["state"] == "exited")
		return end && e.T >= s.T-2 && e.T <= s.Over
	}) {
		t.Errorf("%s: in second %g failed %v and %v, and no replica ended: %+v", d.Run.Coord.Scenario, s.T, s.Counts.Non2xx, s.Counts.Errors, d.Events)
	}
	for _, k := range s.Counts.Non2xx {
		n += float64(k)
	}
	for _, k := range s.Counts.Errors {
		n += float64(k)
	}
	return n
}

// A backend that goes and comes again is an outage that can be judged, of a target that tells hosts apart and of one that
// does not. Churn that changes nothing proves nothing.
func TestOutage(t *testing.T) {
	out := run(t, compile(t, `
plan: outage
backends: {web: {replicas: 2, routes: {bench.local: /}}}
targets:
  nginx: {from: `+shipped(t, "nginx")+`, unsupported: {outage: haproxy is enough}}
  haproxy: {from: `+shipped(t, "haproxy")+`, unsupported: {routed: it answers a host without a server as one without a route}}
  hostless: {install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}], unsupported: {routed: it knows no hosts}}
scenarios:
  routed: {phases: [{load: {do: [{scale: {backends: web, to: 0, within: 60s}}, {add-route: {host: other.local, backends: web, within: 60s}}]}}]}
  outage:
    phases:
      - churn:
          do:
            - {load: {host: bench.local, path: /small, rate: 100/s, timeout: 10s}, through: after}
            - {scale: {backends: web, to: 0, within: 60s}}
            - {wait: {until: failed > 0}}
            - {scale: {backends: web, to: 2, within: 60s}}
            - {wait: {until: ok > 0}}
      - load: {name: after, for: 500ms}
verdicts:
  - {verdict: it is out, where: 'scenario == "outage" && target != "nginx"', pass: phase("churn").failed > 0, gate: true}
  - {verdict: and explained, where: 'scenario == "outage" && target != "nginx"', pass: failed_unexplained == 0, gate: true}
`), engine.RunOptions{})
	if out.Exit != 0 {
		t.Errorf("exit %d: %s", out.Exit, reasons(out))
	}
	for _, r := range runs(t, out) {
		for _, c := range r.Facts.Changes {
			if !c.Arrived {
				t.Errorf("%s: %s: %s", r.Coord.Target, c.What, c.Why)
			}
		}
	}
	out = run(t, compile(t, `
plan: nothing
backends: {web: {replicas: 4}}
targets: {t: {install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}]}}
scenarios: {s: {phases: [{churn: {for: 500ms, do: [{load: {path: /small, rate: 100/s}}, {scale: {backends: web, to: 4}}]}}]}}
verdicts: [{verdict: nothing fails, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	if out.Exit != 3 || !strings.Contains(reasons(out), "scale web 4 -> 4") {
		t.Errorf("4 -> 4: exit %d: %s", out.Exit, reasons(out))
	}
}

// A target that does not take a change has failed, not planrun: the run goes on, what failed stands and nothing passes. A
// program that is missing is the plan's fault.
func TestTargetRefusesAChange(t *testing.T) {
	const plan = `
plan: refused
backends: {web: {}}
targets:
  t:
    install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}]
    routes-changed: [{exec: [%s]}]
scenarios: {s: {phases: [{load: {do: [{load: {path: /small, rate: 100/s}, through: measure}, {scale: {backends: web, to: 2}}]}}, {measure: {for: 1s}}]}}
verdicts:
  - {verdict: would pass, pass: failed == 0, gate: true}
  - {verdict: fails, pass: requests == 0}
`
	out := run(t, compile(t, fmt.Sprintf(plan, `sh, -c, 'echo no such module; exit 1'`)), engine.RunOptions{})
	r := only(t, out)
	if len(r.Facts.Changes) != 1 || !r.Facts.Changes[0].Refused || !strings.Contains(r.Facts.Changes[0].Why, "no such module") {
		t.Errorf("changes: %+v", r.Facts.Changes)
	}
	if v := verdictsOf(out); r.Status != record.Done || out.Exit != 3 || v["would pass"][0] != "inconclusive" || v["fails"][0] != "fail" {
		t.Errorf("%s (%s), exit %d, %v: %s", r.Status, r.Reason, out.Exit, v, reasons(out))
	}
	out = run(t, compile(t, fmt.Sprintf(plan, `no-such-program-at-all`)), engine.RunOptions{})
	if r := only(t, out); r.Status != record.Failed || out.Exit != 4 {
		t.Errorf("a program that is missing: %s (%s), exit %d", r.Status, r.Reason, out.Exit)
	}
}

// Replicas that are not ready in time give their ports up at once.
func TestPortsOfReplicasThatDoNotStart(t *testing.T) {
	ports := filepath.Join(t.TempDir(), "ports")
	out := run(t, compile(t, `
plan: ports
backends:
  web: {}
  db: {command: [sh, -c, 'test ${{ replica }} = 0 && echo up && exec sleep 600; echo ${{ port("http") }} >>`+ports+`; exec sleep 600'], ready: {log: up}}
targets: {t: {install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}]}}
scenarios:
  s: {phases: [{load: {name: late, for: 2s, do: [{scale: {backends: db, to: 3}}]}}, {load: {do: [{exec: [cp, /proc/net/unix, '`+ports+`.held']}]}}]}
`), engine.RunOptions{})
	if r := only(t, out); r.Status != record.Done {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	taken, err := os.ReadFile(ports)
	held, err2 := os.ReadFile(ports + ".held")
	if err != nil || err2 != nil || len(taken) == 0 || !strings.Contains(string(held), "@planrun/port/") {
		t.Fatalf("%v, %v, ports %q", err, err2, taken)
	}
	for _, port := range strings.Fields(string(taken)) {
		if strings.Contains(string(held), "@planrun/port/"+port+"\n") {
			t.Errorf("port %s is still taken", port)
		}
	}
}
