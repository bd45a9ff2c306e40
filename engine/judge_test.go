package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// judged has two loads, a fault, a param that its second stage takes from the first, and verdicts that read them all.
const judged = `
plan: judged
host: {guards: {send-lag: 1s, generator-cpu: 100%, rate-delivered: 50%}} # what is timed here is far apart
params:
  least: {value: '${{ stage("first").scenario("s").target("relay").req_per_s }}'}
backends: {web: {}}
relays: {slow_web: {of: web}}
targets:
  relay: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}
scenarios:
  s:
    repeats: 2
    relays: [slow_web]
    phases:
      - load:
          name: before
          for: 1s
          do:
            - {load: {path: /small, connections: 2, rate: 100/s, timeout: 2s}, through: after}
            - {load: {path: /delay/30ms, connections: 2, rate: 20/s, headline: false}, name: slow, through: after}
      - fault: {for: 1s, do: [{toxic: {relay: slow_web, latency: 40ms}}]}
      - measure: {name: after, for: 1s}
  t:
    phases: [{measure: {for: 2s, do: [{load: {path: /small, rate: "${{ params.least / 2 }}"}}]}}]
metrics:
  slow_share: {of: load("slow").requests / (requests + load("slow").requests), unit: share}
schedule:
  - {stage: first, scenarios: [s]}
  - {stage: second, scenarios: [t]}
verdicts:
  - {verdict: counts, where: scenario == "s", each: run, pass: failed == 0 && requests >= 290 && requests <= 310 && load("slow").requests >= 55 && load("slow").requests <= 65, gate: true}
  - {verdict: the fault is there, where: scenario == "s", each: run, pass: phase("fault").p50_ms > 35 && phase("before").p50_ms < 35, gate: true}
  - {verdict: the slow one is slow, where: scenario == "s", each: run, pass: load("slow").p50_ms > 25 && phase("before").load("slow").p50_ms > 25, gate: true}
  - {verdict: of its own, where: scenario == "s", pass: slow_share > 0.1 && slow_share < 0.25, gate: true}
  - {verdict: half, where: scenario == "t", pass: 'within(req_per_s, params.least / 2, percent(10)) && within(req_per_s, stage("first").scenario("s").req_per_s / 2, percent(10))', gate: true}
  - {verdict: never, where: scenario == "s", pass: failed > 0}
`

// stored compiles the plan that a result set holds, after edit changed its text.
func stored(t *testing.T, dir string, edit func(string) string) (*record.Set, *engine.Program) {
	t.Helper()
	file := filepath.Join(dir, "plan.yaml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text := edit(string(b)); text != string(b) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return set, compileFile(t, file)
}

func conclude(t *testing.T, dir string, edit func(string) string, opt engine.ConcludeOptions) *engine.Outcome {
	t.Helper()
	set, prog := stored(t, dir, edit)
	out, err := engine.Conclude(set, prog, opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func asItIs(s string) string { return s }

// What is stored is judged to the same outcomes, whatever cache is gone; other verdicts come to others.
func TestJudgeAgain(t *testing.T) {
	out := run(t, compile(t, judged), engine.RunOptions{})
	dir := out.Set.Dir
	if out.Exit != 0 {
		t.Fatalf("exit %d: %s\n%s", out.Exit, out.Why, reasons(out))
	}
	if v := verdictsOf(out)["never"]; !slices.Equal(v, []string{"fail"}) {
		t.Errorf("never: %v", v)
	}
	for _, j := range out.Results.Verdicts {
		if failed := j.Verdict == "never"; (j.Distance != nil) != failed || failed && *j.Distance != 0 {
			t.Errorf("%s is recorded at a distance of %v from its limit", j.Verdict, j.Distance)
		}
	}
	if !out.Set.Current(out.Results) {
		t.Error("results are not of the runs that are there")
	}
	report := reportOf(t, out)
	if err := os.Remove(out.Set.Path("results.json")); err != nil {
		t.Fatal(err)
	}
	again := conclude(t, dir, asItIs, engine.ConcludeOptions{})
	if diff := cmp.Diff(asJSON(t, out.Results), asJSON(t, again.Results)); diff != "" {
		t.Errorf("judged again:\n%s", diff)
	}
	if diff := cmp.Diff(report, reportOf(t, again)); diff != "" {
		t.Errorf("its report:\n%s", diff)
	}
	if _, err := out.Set.Results(); err != nil {
		t.Errorf("results.json was not made again: %v", err)
	}

	// What is derived of a run is derived again, too.
	for _, r := range runs(t, out) {
		path := out.Set.Path("runs", r.ID, "run.json")
		r.Metrics, r.Missing, r.Guards, r.Checks = nil, nil, nil, nil
		b, _ := json.Marshal(r)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	again = conclude(t, dir, asItIs, engine.ConcludeOptions{})
	if !again.Set.Current(again.Results) {
		t.Error("results are not of the runs that were written again")
	}
	again.Results.RunsSHA256 = out.Results.RunsSHA256 // these are written otherwise
	if diff := cmp.Diff(asJSON(t, out.Results), asJSON(t, again.Results)); diff != "" {
		t.Errorf("derived again:\n%s", diff)
	}

	if all := conclude(t, dir, asItIs, engine.ConcludeOptions{Gate: "all"}); all.Exit != 1 {
		t.Errorf("with all verdicts gating: exit %d: %s", all.Exit, all.Why)
	}
	edited := conclude(t, dir, func(s string) string {
		return strings.ReplaceAll(s, "slow_share > 0.1 && slow_share < 0.25", "slow_share > 0.9")
	}, engine.ConcludeOptions{})
	if v := verdictsOf(edited)["of its own"]; edited.Exit != 1 || !slices.Equal(v, []string{"fail"}) {
		t.Errorf("edited: exit %d, %v", edited.Exit, v)
	}
	metric := conclude(t, dir, func(s string) string {
		return strings.ReplaceAll(s, "slow_share", "other_share")
	}, engine.ConcludeOptions{})
	if v := verdictsOf(metric)["of its own"]; !slices.Equal(v, []string{"fail"}) || !strings.Contains(reportOf(t, metric), "other_share") {
		t.Errorf("with a metric of another name: %v", v)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The first interrupt ends everything in order: loads drain, everything is undone, and the report says what there was. The
// second does not wait for what is in flight. Judging the set again comes to the same exit code.
func TestInterrupt(t *testing.T) {
	const plan = `
plan: interrupted
params: {outside: .}
backends: {web: {}}
targets:
  relay: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}, {write: {file: "${{ params.outside }}/made", content: x}}]}
scenarios:
  s: {repeats: 3, phases: [{measure: {for: 4s, do: [{load: {path: /small, rate: 50/s}}, SLOW]}}]}
verdicts: [{verdict: ok, pass: requests > 0, gate: true}]
`
	for _, hurried := range []bool{false, true} {
		outside := t.TempDir()
		ctx, cancel := context.WithCancelCause(t.Context())
		hurry := make(chan struct{})
		at := time.Now()
		slow := "{load: {path: /delay/2s, timeout: 5s, headline: false}, name: slow}"
		if hurried { // what is in flight is never answered
			slow = "{load: {path: /small, timeout: 30s, headline: false}, name: slow}, {pause: {process: sut}, at: 500ms}"
		}
		text := strings.ReplaceAll(plan, "SLOW", slow)
		began := make(chan struct{}, 10)
		go func() {
			<-began
			time.Sleep(1500 * time.Millisecond)
			at = time.Now()
			cancel(engine.ErrInterrupted)
			if hurried {
				close(hurry)
			}
		}()
		out := runIn(ctx, t, compile(t, text, "outside="+outside), engine.RunOptions{Hurry: hurry, Progress: &begins{began: began}})
		t.Logf("%v from the interrupt to the end", time.Since(at))
		if took := time.Since(at); hurried && took > 20*time.Second { // it has 30 s
			t.Errorf("the second interrupt waits %v for what is in flight", took)
		}
		r := ran(t, out)
		if out.Exit != 130 || r.Status != record.Interrupted || r.Phases[0].Ended != "interrupted" {
			t.Errorf("exit %d (%s), %s, the phase ended %q", out.Exit, out.Why, r.Status, r.Phases[0].Ended)
		}
		if len(r.Loads) != 2 {
			t.Fatalf("%d loads", len(r.Loads))
		}
		if slow := r.Loads[1].Totals["measure"]; !hurried && (slow.OK == 0 || slow.OK != slow.Due) {
			t.Errorf("what was in flight was not drained: %+v", slow)
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Errorf("left outside: %v", left)
		}
		if !strings.Contains(strings.ToLower(reportOf(t, out)), "interrupt") {
			t.Errorf("the report does not say so:\n%s", reportOf(t, out))
		}
		if again := conclude(t, out.Set.Dir, asItIs, engine.ConcludeOptions{}); again.Exit != 130 {
			t.Errorf("judged again: exit %d", again.Exit)
		}
	}
}

// begins tells when a phase begins.
type begins struct {
	engine.Quiet
	began chan struct{}
}

func (b *begins) Phase(record.Coord, string, time.Duration) { b.began <- struct{}{} }

// The request counts of the quickstart are those that its origins counted; without a fault the verdict that it shows fails.
func TestQuickstart(t *testing.T) {
	file := "../plans/quickstart.yaml"
	var out *engine.Outcome
	for range 2 { // a machine that is too busy makes both of the fault's verdicts inconclusive
		if out = run(t, compileFile(t, file, "measure=1s", "fault_ms=0"), engine.RunOptions{}); out.Exit != 3 {
			break
		}
	}
	// It may make one of the two inconclusive; neither may pass.
	if v := verdictsOf(out); out.Exit != 1 || count(v["the fault shows"], "fail") == 0 || count(v["the fault shows"], "fail")+count(v["the fault shows"], "inconclusive") != 2 || count(v["every request succeeds"], "pass") != 6 {
		t.Errorf("without a fault: exit %d (%s), %v", out.Exit, out.Why, v)
	}
	for _, r := range runs(t, out) {
		var sent, seen float64
		for _, l := range r.Loads {
			for _, c := range l.Totals {
				sent += float64(c.OK)
			}
			sent += float64(l.Ready.Verified)
		}
		for name, counters := range r.Facts.Servers {
			if strings.HasPrefix(name, "web/") {
				seen += counters["requests"]
			}
		}
		if sent == 0 || sent != seen {
			t.Errorf("%s: the load had %g answers, the origins saw %g requests", r.ID, sent, seen)
		}
		found := false
		for _, c := range r.Checks {
			found = found || c.Name == "origin-count"
			if !c.OK {
				t.Errorf("%s: %s: %s", r.ID, c.Name, c.Message)
			}
		}
		if !found {
			t.Errorf("%s: no self-check compares the counts: %+v", r.ID, r.Checks)
		}
	}
}
