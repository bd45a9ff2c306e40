package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/servetest"
)

// guardsOf are those of a name.
func guardsOf(r *record.Run, name string) (out []record.Guard) {
	for _, g := range r.Guards {
		if g.Name == name {
			out = append(out, g)
		}
	}
	return out
}

// of is the run of a scenario.
func of(t *testing.T, out *engine.Outcome, scenario string) *record.Run {
	t.Helper()
	for _, r := range runs(t, out) {
		if r.Coord.Scenario == scenario {
			return r
		}
	}
	t.Fatalf("no run of %s", scenario)
	return nil
}

// Packets are dropped for as long as the phase lasts, on connections that live, and what was dropped is counted.
func TestDrop(t *testing.T) {
	if !servetest.OwnNetwork(t) {
		return
	}
	out := run(t, compile(t, `
plan: drop
backends: {web: {replicas: 2}}
targets: {t: {install: [{start: {builtin: proxy, listen: [http], upstreams: web}}]}}
loads: {small: {path: /small, rate: 100/s, connections: 4, timeout: 500ms}}
scenarios:
  endpoint:
    phases:
      - load: {name: before, for: 600ms, do: [{load: small, through: after}]}
      - fault: {for: 1s, do: [{drop: {endpoint: http}}]}
      - measure: {name: after, for: 2s}
  backends:
    phases:
      - fault: {for: 1s, do: [{load: small}, {drop: {backends: web, share: 30%, direction: both}}]}
  counted:
    phases:
      - measure: {for: 500ms, do: [{load: {use: small, timeout: 10s}}, {drop: {endpoint: http, share: 0%, direction: out}}]}
  nobody:
    phases:
      - fault: {for: 500ms, do: [{load: small}, {drop: {port: 9}}]}
verdicts:
  - {verdict: before, where: scenario == "endpoint", pass: phase("before").requests - phase("before").failed > 10}
  - {verdict: felt, where: scenario == "endpoint", pass: phase("fault").failed > 1 && dropped_packets > 3 && events("fault").size() == 2}
  - {verdict: again, where: scenario == "endpoint", pass: phase("after").requests - phase("after").failed > 10}
  - {verdict: part, where: scenario == "backends", pass: dropped_packets > 0}
  - {verdict: counted, where: scenario == "counted", pass: failed == 0 && dropped_packets == 0}
  - {verdict: nobody, where: scenario == "nobody", pass: failed == 0}
`), engine.RunOptions{})
	for v, got := range verdictsOf(out) {
		want := "pass"
		if v == "nobody" {
			want = "inconclusive"
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v, want %s\n%s", v, got, want, reasons(out))
		}
	}
	for _, tc := range []struct {
		scenario, what string
		ok             bool
		why            string
	}{
		{"endpoint", "drop of packets to endpoint http", true, "(100 %; 100 % were to be)"},
		{"backends", "drop of 30 % of the packets to and from web", true, "30 % were to be"},
		{"counted", "drop of 0 % of the packets from endpoint http", true, "0 of "},
		{"nobody", "drop of packets to port 9", false, "no packet came that could have been dropped"},
	} {
		r := of(t, out, tc.scenario)
		if f := r.Facts.Faults; len(f) != 1 || f[0].Kind != "drop" || f[0].What != tc.what || f[0].End-f[0].Start < 0.3 || f[0].End > r.Seconds {
			t.Errorf("%s: %+v", tc.scenario, f)
		}
		if g := guardsOf(r, "fault"); len(g) != 1 || g[0].OK != tc.ok || !strings.Contains(g[0].Message, tc.why) {
			t.Errorf("%s: %+v, want %q", tc.scenario, g, tc.why)
		}
	}
	if text := reportOf(t, out); !strings.Contains(text, "drop of packets to endpoint http") || !strings.Contains(text, "no packet came that could have been dropped") {
		t.Errorf("the report does not tell of the faults:\n%s", text)
	}
	if left := servetest.Tables(t); len(left) > 0 {
		t.Errorf("tables left: %q", left)
	}
}

// An engine that is killed leaves no rule, even before anybody cleans up.
func TestDropOfAKilledEngine(t *testing.T) {
	if !servetest.OwnNetwork(t) {
		return
	}
	dir := filepath.Join(t.TempDir(), "set")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "victim", write(t, `
plan: doomed
params: {outside: .}
backends: {web: {}}
targets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}
scenarios: {s: {phases: [{fault: {for: 10m, do: [{drop: {endpoint: http}}]}}]}}
`), dir, t.TempDir(), "-1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 100 * time.Millisecond
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tables := func() []string { // without those with which it is tried out what there is
		return slices.DeleteFunc(servetest.Tables(t), func(name string) bool { return strings.HasPrefix(name, "planrun-try-") })
	}
	servetest.Eventually(t, "a table", func() bool { return len(tables()) == 1 })
	j, err := journal.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if name := tables()[0]; !strings.HasPrefix(name, "planrun-"+j.Owner.Token+"-") {
		t.Errorf("the table is called %s, the result set's token is %s", name, j.Owner.Token)
	}
	cmd.Process.Kill()
	cmd.Wait()
	servetest.Eventually(t, "no table", func() bool { return len(servetest.Tables(t)) == 0 })
	r, err := journal.Clean(t.Context(), dir, undos, 20*time.Second, nil)
	if err != nil || len(r.Failed) > 0 {
		t.Errorf("cleaning: %+v, %v", r, err)
	}
}

// What this machine lacks is said at what needs it, and is a result of the cells that need it and of no others.
func TestWhatTheMachineLacks(t *testing.T) {
	const words = "rules may not be read or made: operation not permitted (needs CAP_NET_ADMIN)"
	tried := 0
	prog, list := check(write(t, `
plan: lacking
backends: {web: {}}
targets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}
scenarios:
  plain: {phases: [{measure: {for: 300ms, do: [{load: {path: /small}}]}}]}
  drops: {phases: [{measure: {for: 300ms, do: [{load: {path: /small}}, {drop: {endpoint: http}}]}}]}
  limits: {limits: {sut: {memory: 64MiB}}, phases: [{measure: {for: 300ms, do: [{load: {path: /small}}]}}]}
verdicts: [{verdict: v, pass: failed == 0}]
`), engine.Options{Offered: func(feature string) machine.Offer {
		tried++
		return machine.Offer{Feature: feature, OK: feature == task.CPULimits, Detail: words}
	}})
	if list.HasErrors() {
		t.Fatal(list)
	}
	for _, want := range []string{":7:", ":8:"} {
		if text := list.Error(); !strings.Contains(text, want) || !strings.Contains(text, words) {
			t.Errorf("nothing is said at %s of\n%s", want, text)
		}
	}
	if w := prog.Wants(); len(w) != 2 || w[0].Feature != task.MemoryLimits || w[1].Feature != task.Nftables || w[0].OK || w[0].Cells != 1 {
		t.Errorf("wants %+v", w)
	}
	out := run(t, prog, engine.RunOptions{})
	for scenario, want := range map[string]record.Status{"plain": record.Done, "drops": record.Unsupported, "limits": record.Unsupported} {
		r := of(t, out, scenario)
		if r.Status != want || want == record.Unsupported && !strings.Contains(r.Reason, words) {
			t.Errorf("%s: %s (%s)", scenario, r.Status, r.Reason)
		}
	}
	if tried != 2 {
		t.Errorf("the machine was asked %d times", tried)
	}
}
