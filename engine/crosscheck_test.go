package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/record"
)

// withGenerators puts where go installs programs on PATH, and makes sure that all generators are there.
func withGenerators(t *testing.T) {
	t.Helper()
	b, err := exec.Command("go", "env", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(strings.TrimSpace(string(b)), "bin"))
	for _, name := range []string{"fortio", "h2load", "vegeta", "wrk"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("this test needs %s (scripts/install-peers installs it): %v", name, err)
		}
	}
}

// Every other generator does what a load does, closed and open, with and without TLS: its figures are in the record and in
// the report, also when the set is judged again; what it sent is no part of the run.
func TestCrossCheck(t *testing.T) {
	withGenerators(t)
	cpu := machine.Allowed()[0]
	const secret = "s3cret-of-the-load"
	file := write(t, fmt.Sprintf(`
plan: crossed
host: {cpus: {load: "%d"}}
params: {password: {env: PASSWORD, secret: true}}
backends: {web: {}}
targets: {t: {install: [{start: {builtin: relay, listen: [http, https], upstreams: web}}]}}
loads: {small: {path: "/small?a=b", host: bench.local, connections: 2, timeout: 5s, headers: {authorization: "Bearer ${{ params.password }}"}, cross-check: [wrk, h2load, fortio, vegeta]}}
scenarios:
  closed: {phases: [{measure: {for: 1s, do: [{load: small}]}}]}
  open: {phases: [{measure: {for: 1s, do: [{load: {use: small, rate: 200/s}}]}}]}
  post: {phases: [{measure: {for: 1s, do: [{load: {use: small, method: POST, body: "x", reuse: none, cross-check: fortio}}]}}]}
verdicts: [{verdict: v, pass: failed == 0, gate: true}]
`, cpu))
	prog, list := check(file, engine.Options{Env: func(string) (string, bool) { return secret, true }})
	if list.HasErrors() {
		t.Fatal(list)
	}
	if !strings.Contains(fmt.Sprint(list), "wrk is a closed loop, and the load has a rate, so it is not held against this load") {
		t.Errorf("check does not warn of what wrk cannot: %v", list)
	}
	out := run(t, prog, engine.RunOptions{})
	passed(t, out)
	want := map[string][]string{"closed": {"wrk", "h2load", "fortio", "vegeta"}, "open": {"h2load", "fortio", "vegeta"}, "post": {"fortio"}}
	for _, r := range runs(t, out) {
		if len(r.Loads) == 0 {
			t.Fatalf("%s (%s)", r.Status, r.Reason)
		}
		l := r.Loads[0]
		var got []string
		for _, c := range l.CrossChecks {
			if c.Figures == nil {
				if r.Coord.Scenario != "open" || c.Generator != "wrk" || !strings.Contains(c.NotRun, "closed loop") {
					t.Errorf("%s: %s: %s", r.Coord.Scenario, c.Generator, c.NotRun)
				}
				continue
			}
			got = append(got, c.Generator)
			if f := c.Figures; f.Failed > 0 || f.Requests < 20 || f.P50 == nil || *f.P50 <= 0 || c.Version == "" || c.Method == "" || c.End < c.Start+0.9 {
				t.Errorf("%s: %s: %+v %+v", r.Coord.Scenario, c.Generator, c, *f)
			}
			if r.Metrics["cross-check/"+l.Name+"/"+c.Generator].Value("req_per_s") != c.Figures.ReqPerS {
				t.Errorf("%s: the metrics of %s: %v", r.Coord.Scenario, c.Generator, r.Metrics)
			}
		}
		if !slices.Equal(got, want[r.Coord.Scenario]) {
			t.Errorf("%s: %v ran, want %v", r.Coord.Scenario, got, want[r.Coord.Scenario])
		}
		if got, known := record.OriginRequests(r); !known || float64(record.SentRequests(r)) != got {
			t.Errorf("%s: the load sent %d requests, the backends counted %v of them", r.Coord.Scenario, record.SentRequests(r), got)
		}
		if !slices.ContainsFunc(r.Guards, func(g record.Guard) bool { return strings.HasPrefix(g.Name, "cross-check") }) {
			t.Errorf("%s: no guard speaks of it: %+v", r.Coord.Scenario, r.Guards)
		}
		commands, err := os.ReadFile(out.Set.Path("runs", r.ID, "commands.jsonl"))
		if err != nil || !strings.Contains(string(commands), `"name":"cross-check-fortio"`) || strings.Count(string(commands), fmt.Sprintf(`"cpus":[%d]`, cpu)) < 1+len(got) {
			t.Errorf("%s: the command lines, %v:\n%s", r.Coord.Scenario, err, commands)
		}
	}
	text := sectionOf(reportOf(t, out), "Cross-check")
	for _, want := range []string{"| closed / t | small | planrun ", "| closed / t | small | wrk ", "| open / t   | small | vegeta ", "**wrk** beside load small of open / t, 1 run: it is a closed loop", "**h2load** (h2load nghttp2/"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
	prog, _ = check(file, engine.Options{Env: func(string) (string, bool) { return secret, true }})
	again, err := engine.Conclude(out.Set, prog, engine.ConcludeOptions{})
	if err != nil || sectionOf(reportOf(t, again), "Cross-check") != text {
		t.Errorf("judged again, %v, the report says\n%s\nnot\n%s", err, sectionOf(reportOf(t, again), "Cross-check"), text)
	}
	err = filepath.WalkDir(out.Set.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds the secret", strings.TrimPrefix(path, out.Set.Dir))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// sectionOf is a section of a report with its title.
func sectionOf(text, title string) string {
	_, rest, ok := strings.Cut(text, "\n## "+title+"\n")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

const checkedPlan = `
plan: checked
backends: {web: {}}
targets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}
scenarios: {s: {phases: [{measure: {for: %v, do: [{load: {path: /small, connections: 2, timeout: 5s, cross-check: [%s]}}]}}]}}
verdicts:
  - {verdict: fast, pass: p50_ms < 10000, gate: true}
  - {verdict: served, pass: failed == 0}
`

// A load generator that sends 2 ms late, and does not know it, is found: the verdict about time is inconclusive and the
// report says why, while counts stand. Without the fault, others agree with it.
//
// Other programs on this machine can slow any of them. So both are tried several times, and if one never works out the
// guards must say that it was them.
func TestCrossCheckFindsASlowClient(t *testing.T) {
	withGenerators(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plan := fmt.Sprintf(checkedPlan, 2*time.Second, "h2load, fortio, wrk")
	guard := func(r *record.Run) (g record.Guard) {
		if i := slices.IndexFunc(r.Guards, func(g record.Guard) bool { return g.Name == "cross-check" }); i >= 0 {
			g = r.Guards[i]
		}
		return g
	}
	try := func(what string, worker []string, right func(out *engine.Outcome, g record.Guard) bool) {
		var seen []string
		for range 4 {
			out := run(t, compile(t, plan), engine.RunOptions{Worker: worker})
			r := only(t, out)
			if right(out, guard(r)) {
				return
			}
			seen = append(append(seen, guard(r).Message), failedGuards(r)...)
		}
		text := strings.Join(seen, "\n")
		if !strings.Contains(text, "foreign-cpu") {
			t.Errorf("%s is not seen, and nothing else used the machine:\n%s", what, text)
		} else {
			t.Logf("%s cannot be shown here: what this test did not start used the machine's CPUs:\n%s", what, text)
		}
	}
	try("a delay of 2 ms", []string{exe, slowWorker}, func(out *engine.Outcome, g record.Guard) bool {
		if g.OK || g.Taints != "timing" {
			return false
		}
		v := verdictsOf(out)
		if v["fast"][0] != "inconclusive" || v["served"][0] != "pass" || out.Exit != 3 {
			t.Errorf("verdicts %v, exit %d: %s", v, out.Exit, out.Why)
		}
		text := reportOf(t, out)
		for _, want := range []string{"Other load generators saw much shorter latencies at the same endpoint", "in its best second, from the send; at the same endpoint other generators saw h2load", "\n## Cross-check\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("the report does not say %q:\n%s", want, text)
			}
		}
		return true
	})
	try("a client without a fault", nil, func(_ *engine.Outcome, g record.Guard) bool { return g.OK && g.Name != "" })
}

// A generator that is missing, and one whose target is gone, are words in the report; the run and its verdicts stand.
func TestCrossCheckWithout(t *testing.T) {
	withGenerators(t)
	withoutOnPath(t, "h2load")
	file := write(t, fmt.Sprintf(checkedPlan, time.Second, "h2load"))
	prog, list := check(file, engine.Options{})
	if !strings.Contains(fmt.Sprint(list), "there is no program h2load on this machine, so it is not held against this load") {
		t.Errorf("check does not warn of what is missing: %v", list)
	}
	out := run(t, prog, engine.RunOptions{})
	r := only(t, out)
	if i := slices.IndexFunc(r.Guards, func(g record.Guard) bool { return g.Name == "cross-checked" && !g.OK && g.Taints == "" }); i < 0 {
		t.Errorf("no guard warns: %+v", r.Guards)
	}
	if text := reportOf(t, out); !strings.Contains(text, "**h2load** beside load load of s / t, 1 run: it is not installed") || !strings.Contains(strings.ToLower(text), "whether other load generators agree is not known") {
		t.Errorf("the report does not say that it is missing:\n%s", text)
	}

	gone := strings.Replace(fmt.Sprintf(checkedPlan, time.Second, "wrk, fortio"), "cross-check: [wrk, fortio]}}", "cross-check: [wrk, fortio]}}, {stop: {process: sut}, at: 900ms}", 1)
	for _, c := range ran(t, run(t, compile(t, gone), engine.RunOptions{})).Loads[0].CrossChecks {
		if c.Generator == "wrk" && !strings.Contains(c.NotRun, "Connection refused") || c.Generator == "fortio" && (c.Figures == nil || c.Figures.Failed != c.Figures.Requests) {
			t.Errorf("without a target: %+v", c)
		}
	}
}

// An interrupt ends a generator that runs, and nothing of it is left.
func TestCrossCheckInterrupted(t *testing.T) {
	withGenerators(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	began := &phasesSeen{seen: make(chan string, 20)}
	go func() {
		for name := range began.seen {
			if name == "cross-check with h2load" {
				time.Sleep(300 * time.Millisecond)
				cancel(engine.ErrInterrupted)
				return
			}
		}
	}()
	out := runIn(ctx, t, compile(t, fmt.Sprintf(checkedPlan, 4*time.Second, "h2load, wrk")), engine.RunOptions{Progress: began})
	r := ran(t, out)
	if out.Exit != 130 || r.Status != record.Interrupted || r.Phases[0].Ended != "" {
		t.Errorf("exit %d (%s), %s, the phase ended %q", out.Exit, out.Why, r.Status, r.Phases[0].Ended)
	}
	for _, c := range r.Loads[0].CrossChecks {
		if c.Figures != nil || c.NotRun != "the run ended before its turn" {
			t.Errorf("%s: %q, %+v", c.Generator, c.NotRun, c.Figures)
		}
	}
}

// phasesSeen tells of the phases that begin.
type phasesSeen struct {
	engine.Quiet
	seen chan string
}

func (p *phasesSeen) Phase(_ record.Coord, name string, _ time.Duration) { p.seen <- name }
