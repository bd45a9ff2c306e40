package engine_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// onRelay is a plan of one target, a relay in front of an origin, with the phases of one scenario.
const onRelay = `
plan: timeline
backends: {web: {}}
relays: {slow_web: {of: web}}
targets:
  relay:
    install: [{start: {name: gate, builtin: relay, listen: [http], upstreams: web}}]
loads:
  steady: {path: /small, connections: 2, rate: 200/s, timeout: 2s}
scenarios:
  s:
    relays: [slow_web]
    phases:
`

// Actions that are due at the same time start in the order of the file, each within its due time; an action that repeats
// keeps its due times; all starts and ends are recorded.
func TestTimeline(t *testing.T) {
	out := run(t, compile(t, onRelay+`
      - load:
          name: first
          for: 4s
          require: failed == 0
          do:
            - {exec: {command: [sh, -c, "sleep 0.2"]}, name: c, at: 25%}
            - {exec: {command: ["true"]}, name: b, at: 1000ms}
            - {exec: {command: ["true"]}, name: a, at: 1s}
            - {exec: {command: ["true"]}, name: tick, at: 100ms, every: 600ms}
            - {load: steady, through: last}
      - load: {name: in order, do: [{exec: {command: [sh, -c, "sleep 0.1"]}, name: one}, {exec: {command: ["true"]}, name: two}]}
      - measure: {name: last, for: 1s}
verdicts: [{verdict: ok, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	r := ran(t, out)
	if out.Exit != 0 || r.Status != record.Done {
		t.Fatalf("exit %d, %s: %s", out.Exit, r.Status, r.Reason)
	}
	byName := map[string][]record.Action{}
	var order []string
	for _, a := range r.Actions {
		byName[a.Name] = append(byName[a.Name], a)
		order = append(order, a.Name)
		if a.Start < a.Due || a.End < a.Start || a.End == 0 || a.Where == "" {
			t.Errorf("%s: due %g, start %g, end %g, at %q", a.Name, a.Due, a.Start, a.End, a.Where)
		}
	}
	if i := slices.Index(order, "c"); i < 0 || len(order) < i+3 || !slices.Equal(order[i:i+3], []string{"c", "b", "a"}) {
		t.Errorf("order of equal due times: %v", order)
	}
	if len(byName["tick"]) == 0 || len(byName["one"]) == 0 || len(byName["two"]) == 0 {
		t.Fatalf("actions %v; %s (%s)", order, r.Status, r.Reason)
	}
	begin := r.Phases[0].Start
	for i, a := range byName["tick"] {
		if want := begin + 0.1 + 0.6*float64(i); math.Abs(a.Due-want) > 1e-6 {
			t.Errorf("tick %d is due %g, want %g", i, a.Due, want)
		}
	}
	// It never overlaps itself, so that some are left out where each takes long.
	if n := len(byName["tick"]); n > 7 || n < 7 && byName["tick"][n-1].End < begin+0.1+0.6*float64(n) {
		t.Errorf("%d ticks, want those due at 0.1, 0.7, 1.3, 1.9, 2.5, 3.1 and 3.7 s: %+v", n, byName["tick"])
	}
	if one, two := byName["one"][0], byName["two"][0]; two.Start < one.End {
		t.Errorf("without for, two starts at %g before one ends at %g", two.Start, one.End)
	}
	// The load opened its connections once and kept them through all phases; what became due belongs to the phase.
	l := r.Loads[0]
	var due int64
	for _, p := range r.Phases {
		n := l.Totals[p.Name].Due
		if due += n; r.Counts(&l, record.Between(p.Name)) {
			due += l.Totals[record.Between(p.Name)].Due
		}
		if want := 200 * (p.End - p.Start); prompt(r, l, p.Name) && math.Abs(float64(n)-want) > 3+0.02*want {
			t.Errorf("phase %q: %d requests were due in %gs at 200/s", p.Name, n, p.End-p.Start)
		}
	}
	if due == 0 || r.Metrics[""].Value("requests") != float64(due) {
		t.Errorf("%d due, requests = %g", due, r.Metrics[""].Value("requests"))
	}
	if n := opened(l); n != 2 {
		t.Errorf("%d connections were opened", n)
	}
}

// prompt reports whether the loads of a run heard of the ends of a phase when they came: not so where this machine stood
// still, or had other work.
func prompt(r *record.Run, l record.Load, phase string) bool {
	busy := slices.ContainsFunc(r.Guards, func(g record.Guard) bool { return g.Name == "foreign-cpu" && !g.OK })
	return !busy && l.Totals[phase].MaxElapsed < 50*time.Millisecond
}

func opened(l record.Load) (n int64) {
	for _, c := range l.Totals {
		n += c.Opened
	}
	return n
}

// Phases follow one another without a gap where nothing is judged, prepared or drained between them.
func TestPhasesFollowWithoutAGap(t *testing.T) {
	r := ran(t, run(t, compile(t, onRelay+`
      - warm-up: {for: 300ms, do: [{load: steady, through: after}]}
      - load: {name: before, for: 300ms}
      - fault: {for: 300ms, do: [{toxic: {relay: slow_web, latency: 20ms}}]}
      - measure: {name: after, for: 300ms}
`), engine.RunOptions{}))
	for i := 1; i < len(r.Phases); i++ {
		if a, b := r.Phases[i-1], r.Phases[i]; math.Abs(a.End-b.Start) > 1e-9 || math.Abs(b.End-b.Start-0.3) > 1e-6 {
			t.Errorf("%s ends at %g, %s lasts from %g to %g", a.Name, a.End, b.Name, b.Start, b.End)
		}
	}
	// What is due after the last phase, before the load hears that it is to stop, belongs to none.
	l, end := r.Loads[0], r.Phases[len(r.Phases)-1].End
	if n := l.Totals[record.Between("after")].Due; float64(n) > 200*(l.End-end)+3 {
		t.Errorf("%d requests belong to no phase, in the %gs of the load after the last", n, l.End-end)
	}
	if n := r.Metrics[""].Value("requests"); n != float64(l.Totals["before"].Due+l.Totals["fault"].Due+l.Totals["after"].Due) {
		t.Errorf("%g requests, of %+v", n, l.Totals)
	}
	if f := r.Facts.Faults; len(f) != 1 || f[0].Bytes == 0 || f[0].Measured < 20 || f[0].Of == 0 {
		t.Errorf("faults: %+v", f)
	}
}

// A load that ends with its phase drains outside of every window: the next phase begins afterwards, and what is slow counts
// where it was due.
func TestDrainIsInNoWindow(t *testing.T) {
	r := ran(t, run(t, compile(t, onRelay+`
      - load: {name: slow, for: 500ms, do: [{load: {path: /delay/700ms, connections: 8, rate: 10/s, timeout: 3s}}]}
      - measure: {name: next, for: 4s, do: [{load: steady, name: quick, at: 100ms}]}
`), engine.RunOptions{}))
	if r.Status != record.Done || len(r.Phases) != 2 || len(r.Loads) != 2 {
		t.Fatalf("%s (%s) with %d loads", r.Status, r.Reason, len(r.Loads))
	}
	slow, next := r.Phases[0], r.Phases[1]
	if l := r.Loads[0]; l.End < slow.End+0.5 || next.Start < l.End {
		t.Errorf("slow ends at %g, its load was drained at %g, the next phase begins at %g", slow.End, l.End, next.Start)
	}
	if n := r.Metrics["phase/slow"].Value("requests"); n != 5 || r.Metrics["phase/slow"].Value("failed") != 0 {
		t.Errorf("slow: %g requests, %g failed", n, r.Metrics["phase/slow"].Value("failed"))
	}
	if due := r.Loads[0].Totals["next"].Due; due != 0 {
		t.Errorf("%d requests of the load that had ended are in the next phase", due)
	}
	quick := r.Loads[1]
	if n := quick.Totals["next"].Due; prompt(r, quick, "next") && math.Abs(float64(n)-200*(next.End-quick.Start)) > 3 || quick.Start < next.Start+0.1 {
		t.Errorf("%d requests of a load that begins at %g in a phase from %g to %g", n, quick.Start, next.Start, next.End)
	}
}

// How phases end before their time, and what comes of the run.
func TestEarlyEnds(t *testing.T) {
	for _, tc := range []struct {
		name, phases string
		status       record.Status
		ended        string // of the first phase
		verdict      string
		exit         int
		phases2      float64 // how long the second phase lasted; negative: it did not begin
		says         string
	}{
		{"require holds", `
      - load: {for: 1s, require: failed == 0 && requests > 100, do: [{load: steady, through: after}]}
      - measure: {name: after, for: 1s}`, record.Done, "", "pass", 0, 1, ""},
		{"require does not hold", `
      - load: {for: 1s, require: failed > 0, do: [{load: steady, through: after}]}
      - measure: {name: after, for: 1s, do: [{exec: {command: [touch, BROKEN]}}]}`, record.Unmet, "", "inconclusive", 3, -1, "failed = 0"},
		{"require cannot be evaluated", `
      - load: {for: 1s, require: p99_ms < 1000}
      - measure: {name: after, for: 1s, do: [{load: steady}]}`, record.Unmet, "", "inconclusive", 3, -1, "p99_ms"},
		{"until", `
      - load: {for: 60s, until: requests > 300, do: [{load: steady, through: after}]}
      - measure: {name: after, for: 1s}`, record.Done, "until: requests > 300", "pass", 0, 1, ""},
		{"until of a phase without for", `
      - load: {until: requests > 300, do: [{load: steady, through: after}, {exec: {command: [sleep, "60"]}}]}
      - measure: {name: after, for: 1s}`, record.Done, "until: requests > 300", "pass", 0, 1, ""},
		{"abort", `
      - load: {for: 60s, abort: {when: req_per_s > 100, after: 1s}, do: [{load: steady}]}
      - measure: {name: after, for: 1s}`, record.Aborted, "abort: req_per_s > 100", "pass", 0, -1, "req_per_s > 100"},
		{"abort that never holds", `
      - load: {for: 2s, abort: {when: failed > 0, after: 0s}, do: [{load: steady, through: after}]}
      - measure: {name: after, for: 1s}`, record.Done, "", "pass", 0, 1, ""},
		{"an action that fails", `
      - load: {for: 3s, do: [{load: steady}, {exec: {command: ["false"]}, at: 1s}]}
      - measure: {name: after, for: 1s}`, record.Failed, "error", "error", 4, -1, "exit status 1"},
		{"an action that does not end", `
      - load: {for: 500ms, do: [{load: steady}, {exec: {command: [sleep, "20"]}}]}
      - measure: {name: after, for: 1s}`, record.Failed, "error", "error", 4, -1, "still running when its phase ended"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			out := run(t, compile(t, onRelay+tc.phases+"\nverdicts: [{verdict: ok, pass: requests > 0, each: run, gate: true}]\n"), engine.RunOptions{})
			r := only(t, out)
			if len(r.Phases) != 2 {
				t.Fatalf("%s (%s), exit %d (%s)", r.Status, r.Reason, out.Exit, out.Why)
			}
			if r.Status != tc.status || r.Phases[0].Ended != tc.ended || out.Exit != tc.exit {
				t.Errorf("%s (%s), ended %q, exit %d (%s)", r.Status, r.Reason, r.Phases[0].Ended, out.Exit, out.Why)
			}
			if !strings.Contains(r.Reason, tc.says) {
				t.Errorf("the reason is %q, want %q in it", r.Reason, tc.says)
			}
			if v := verdictsOf(out)["ok"]; !slices.Equal(v, []string{tc.verdict}) && !(tc.status == record.Aborted && v[0] != "error") {
				t.Errorf("verdicts %v, want %s", v, tc.verdict)
			}
			second := r.Phases[1].End - r.Phases[1].Start
			if tc.phases2 < 0 && second != 0 || tc.phases2 > 0 && math.Abs(second-tc.phases2) > 1e-3 {
				t.Errorf("the second phase lasted %gs", second)
			}
			if tc.phases2 > 0 && len(r.Loads) == 1 {
				// 200/s for a second
				if n := r.Loads[0].Totals["after"].Due; prompt(r, r.Loads[0], "after") && (n < 190 || n > 210) {
					t.Errorf("%d requests were due in the second phase, %v", n, fmt.Sprint(r.Loads[0].Totals))
				}
			}
			if tc.ended != "" && r.Phases[0].End-r.Phases[0].Start > 45 {
				t.Errorf("the first phase lasted %gs", r.Phases[0].End-r.Phases[0].Start)
			}
		})
	}
}
