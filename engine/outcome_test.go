package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// withoutOnPath makes a PATH that has everything that this machine has, but one program.
func withoutOnPath(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("this test takes %s from PATH, and needs it there: %v", program, err)
	}
	bin := t.TempDir()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.Name() != program {
				_ = os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(bin, e.Name())) // the first one wins, as in PATH
			}
		}
	}
	t.Setenv("PATH", bin)
}

// A missing program and a scenario that a target cannot do are results: the report says so, the other cells run, and the
// exit code is that of what was judged.
func TestMissingProgram(t *testing.T) {
	withoutOnPath(t, "haproxy")
	dir := t.TempDir()
	lib, err := filepath.Abs("../plans/lib/targets")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(`
plan: missing
backends: {web: {routes: {bench.local: /}}}
targets:
  nginx: {from: `+lib+`/nginx.yaml}
  haproxy: {from: `+lib+`/haproxy.yaml}
  proxy: {from: `+lib+`/builtin-proxy.yaml, unsupported: {hard: it is too hard}}
scenarios:
  easy: {phases: [{measure: {for: 1s, do: [{load: {path: /small, host: bench.local, connections: 2}}]}}]}
  hard: {phases: [{measure: {for: 1s, do: [{load: {path: /small, host: bench.local, connections: 2}}]}}]}
verdicts:
  - {verdict: served, pass: failed == 0 && requests > 0, gate: true}
  - {verdict: as fast, where: target == "proxy" && scenario == "easy", pass: 'req_per_s > target("haproxy").req_per_s'}
report:
  - table: Rates
    rows: target
    metrics: [req_per_s]
    ratios: [{of: haproxy, to: nginx}]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	out := run(t, compileFile(t, file), engine.RunOptions{})
	if out.Exit != 0 {
		t.Errorf("exit %d: %s", out.Exit, out.Why)
	}
	for _, want := range []string{"could not be judged: ", "haproxy (not installed on this machine: haproxy)", "proxy (it is too hard)"} {
		if !strings.Contains(out.Why, want) {
			t.Errorf("the last line does not say %q: %s", want, out.Why)
		}
	}
	got := map[string]string{}
	for _, r := range runs(t, out) {
		got[r.Coord.Target+" "+r.Coord.Scenario] = string(r.Status) + " " + r.Reason
	}
	for cell, want := range map[string]string{
		"nginx easy": "done ", "nginx hard": "done ", "proxy easy": "done ", "proxy hard": "unsupported it is too hard",
		"haproxy easy": "unsupported not installed on this machine: haproxy", "haproxy hard": "unsupported not installed on this machine: haproxy",
	} {
		if got[cell] != want {
			t.Errorf("%s: %q, want %q", cell, got[cell], want)
		}
	}
	v := verdictsOf(out)
	if served := v["served"]; count(served, "pass") != 3 || count(served, "unsupported") != 3 {
		t.Errorf("verdicts: %v", v)
	}
	if !slices.Equal(v["as fast"], []string{"unsupported"}) {
		t.Errorf("a verdict that reads what is not installed: %v, %+v", v["as fast"], out.Results.Verdicts)
	}
	text := reportOf(t, out)
	for _, want := range []string{"unsupported", "haproxy", "not installed on this machine", "it is too hard"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
}

func count(list []string, what string) (n int) {
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

// An install that fails is an error of the harness; the other targets run all the same.
func TestFailedInstall(t *testing.T) {
	out := run(t, compile(t, `
plan: broken
backends: {web: {}}
targets:
  fails: {install: [{start: {builtin: proxy, listen: [http], upstreams: web}}, {exec: {command: [sh, -c, "echo no licence >&2; exit 3"]}}]}
  dies: {install: [{start: {command: [sh, -c, "echo bad config >&2; exit 1"], listen: [http], ready: {timeout: 5s}}}]}
  works: {install: [{start: {builtin: proxy, listen: [http], upstreams: web}}]}
scenarios:
  s: {repeats: 2, phases: [{measure: {for: 1s, do: [{load: {path: /small}}]}}]}
verdicts: [{verdict: served, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	if out.Exit != 4 {
		t.Errorf("exit %d: %s", out.Exit, out.Why)
	}
	status := map[string][]record.Status{}
	for _, r := range runs(t, out) {
		status[r.Coord.Target] = append(status[r.Coord.Target], r.Status)
		if says := map[string]string{"fails": "no licence", "dies": "bad config"}[r.Coord.Target]; !strings.Contains(r.Reason, says) {
			t.Errorf("%s: %q does not say %q", r.Coord.Target, r.Reason, says)
		}
	}
	if !slices.Equal(status["works"], []record.Status{record.Done, record.Done}) || !slices.Equal(status["fails"], []record.Status{record.Failed}) || !slices.Equal(status["dies"], []record.Status{record.Failed}) {
		t.Errorf("runs: %v", status)
	}
	if v := verdictsOf(out)["served"]; count(v, "error") != 2 || count(v, "pass") != 1 {
		t.Errorf("verdicts: %v", v)
	}
}

// A process of the target that dies in the middle of a run is an event with its status; one that the plan itself ends is
// none. The next run has a new installation in both cases.
func TestTargetThatDies(t *testing.T) {
	out := run(t, compile(t, `
plan: dies
backends: {web: {}}
targets:
  both:
    install:
      - start: {name: relay, builtin: relay, listen: [http], upstreams: web}
      - start: {name: helper, command: [sh, -c, 'echo $$ > pid; echo up; exec sleep 600'], ready: {log: up}}
scenarios:
  dies: {repeats: 2, phases: [{measure: {for: 3s, do: [{load: {path: /small, timeout: 1s}}, {exec: {command: [sh, -c, "kill -9 $(cat pid)"]}, at: 400ms}]}}]}
  ended: {repeats: 2, phases: [{measure: {for: 3s, do: [{load: {path: /small, timeout: 1s}}, {signal: {process: relay, send: KILL}, at: 400ms}]}}]}
  stopped: {repeats: 2, phases: [{measure: {for: 3s, do: [{load: {path: /small, timeout: 1s}}, {stop: {process: relay}, at: 400ms}]}}]}
  restarted: {repeats: 2, phases: [{measure: {for: 3s, do: [{load: {path: /small, timeout: 1s}}, {restart: {process: helper}, at: 400ms}]}}]}
verdicts:
  - {verdict: it dies, where: scenario == "dies", each: run, pass: 'size(events("exit")) == 1 && failed == 0', gate: true}
  - {verdict: it fails, where: scenario == "ended", each: run, pass: 'size(events("exit")) == 0 && failed > 0', gate: true}
  - {verdict: it works, where: scenario == "stopped" || scenario == "restarted", each: run, pass: 'size(events("exit")) == 0 && requests > 0', gate: true}
`), engine.RunOptions{})
	installs := map[string]map[string]bool{}
	for _, r := range runs(t, out) {
		if installs[r.Coord.Scenario] == nil {
			installs[r.Coord.Scenario] = map[string]bool{}
		}
		installs[r.Coord.Scenario][r.Install] = true
		died := ""
		for _, p := range r.Processes {
			died += p.Died
		}
		if strings.Contains(died, "killed") != (r.Coord.Scenario == "dies") {
			t.Errorf("%s: processes died: %q", r.Coord.Scenario, died)
		}
		if r.Status != record.Done {
			t.Errorf("%s: %s (%s)", r.Coord.Scenario, r.Status, r.Reason)
		}
	}
	for scenario, want := range map[string]int{"dies": 2, "ended": 2, "stopped": 2, "restarted": 1} {
		if len(installs[scenario]) != want {
			t.Errorf("%s: %d installations, want %d", scenario, len(installs[scenario]), want)
		}
	}
	if v := verdictsOf(out); out.Exit != 0 {
		t.Errorf("verdicts %v, exit %d: %s", v, out.Exit, out.Why)
	}
}
