package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// ordered runs two targets, two scenarios (one with a matrix) and two repeats in one stage, and gives its runs in the order
// in which they began: "1:t/r.2" is round 1, target t, scenario r, repeat 2.
func ordered(t *testing.T, stage string) (*engine.Outcome, []string) {
	t.Helper()
	out := run(t, compile(t, `
plan: orders
targets:
  t: {install: [{exec: ["true"]}]}
  u: {install: [{exec: ["true"]}]}
scenarios:
  s: {repeats: 2, matrix: {m: [1, 2]}, phases: [{load: {do: [{exec: ["true"]}]}}]}
  r: {repeats: 2, phases: [{load: {do: [{exec: ["true"]}]}}]}
schedule: [{stage: a, `+stage+`}]
`), engine.RunOptions{})
	var names []string
	var last *record.Run
	for _, r := range runs(t, out) {
		if r.Status != record.Done {
			t.Fatalf("%+v: %s", r.Coord, r.Reason)
		}
		if last != nil && r.Start.Before(last.Start) {
			t.Errorf("run %s began before %s", r.ID, last.ID)
		}
		last = r
		axes := ""
		for _, a := range r.Coord.Matrix {
			axes += a.Value
		}
		names = append(names, fmt.Sprintf("%d:%s/%s%s.%d", r.Coord.Round, r.Coord.Target, r.Coord.Scenario, axes, r.Coord.Repeat))
	}
	return out, names
}

// Each order is the order of the runs.
func TestOrders(t *testing.T) {
	for _, tc := range []struct{ stage, want string }{
		{"order: blocked", "1:t/s1.1 1:t/s1.2 1:t/s2.1 1:t/s2.2 1:t/r.1 1:t/r.2 1:u/s1.1 1:u/s1.2 1:u/s2.1 1:u/s2.2 1:u/r.1 1:u/r.2"},
		{"order: reverse", "1:u/r.1 1:u/r.2 1:u/s2.1 1:u/s2.2 1:u/s1.1 1:u/s1.2 1:t/r.1 1:t/r.2 1:t/s2.1 1:t/s2.2 1:t/s1.1 1:t/s1.2"},
		{"order: interleave", "1:t/s1.1 1:u/s1.1 1:t/s1.2 1:u/s1.2 1:t/s2.1 1:u/s2.1 1:t/s2.2 1:u/s2.2 1:t/r.1 1:u/r.1 1:t/r.2 1:u/r.2"},
		{"scenarios: [r], targets: [u, t], rounds: 3", "1:u/r.1 1:u/r.2 1:t/r.1 1:t/r.2 2:u/r.1 2:u/r.2 2:t/r.1 2:t/r.2 3:u/r.1 3:u/r.2 3:t/r.1 3:t/r.2"},
		{"scenarios: [r], order: interleave, together: true, rounds: 2", "1:t/r.1 1:u/r.1 1:t/r.2 1:u/r.2 2:t/r.1 2:u/r.1 2:t/r.2 2:u/r.2"},
	} {
		t.Run(tc.stage, func(t *testing.T) {
			t.Parallel()
			out, got := ordered(t, tc.stage)
			if strings.Join(got, " ") != tc.want {
				t.Errorf("runs %v\nwant %s", got, tc.want)
			}
			for _, s := range out.Results.Stages {
				if s.Together != strings.Contains(tc.stage, "together") || !strings.Contains(tc.stage, "order: "+s.Order) && s.Order != "blocked" {
					t.Errorf("recorded: order %s, together %v", s.Order, s.Together)
				}
			}
		})
	}
}

// A random order has every run once; it is that of its seed, which is recorded where it was made, and another in each round.
func TestRandomOrder(t *testing.T) {
	t.Parallel()
	const stage = "order: random, scenarios: [s], rounds: 2"
	out, first := ordered(t, stage)
	if len(out.Results.Stages) != 2 || out.Results.Stages[0].Seed == 0 {
		t.Fatalf("recorded: %+v", out.Results.Stages)
	}
	blocked := strings.Fields("t/s1.1 t/s1.2 t/s2.1 t/s2.2 u/s1.1 u/s1.2 u/s2.1 u/s2.2")
	rounds := map[string][]string{}
	for _, n := range first {
		round, name, _ := strings.Cut(n, ":")
		rounds[round] = append(rounds[round], name)
	}
	for _, r := range []string{"1", "2"} {
		if got := slices.Sorted(slices.Values(rounds[r])); !slices.Equal(got, blocked) {
			t.Errorf("round %s ran %v", r, got)
		}
	}
	_, third := ordered(t, "order: random, seed: 42, scenarios: [s], rounds: 2")
	_, fourth := ordered(t, "order: random, seed: 42, scenarios: [s], rounds: 2")
	if !slices.Equal(third, fourth) {
		t.Errorf("the same seed gave\n%v and\n%v", third, fourth)
	}
	half := len(third) / 2
	shorn := func(names []string) (out []string) {
		for _, n := range names {
			_, name, _ := strings.Cut(n, ":")
			out = append(out, name)
		}
		return out
	}
	if one, two := shorn(third[:half]), shorn(third[half:]); slices.Equal(one, two) || slices.Equal(one, blocked) {
		t.Errorf("seed 42 gave round 1 %v, round 2 %v", one, two)
	}
}

// Runs of several rounds are runs of the same cell. A stage that leaves probes out has no samples of them, says so, and is
// no repeat of the stage that has them, while a stage in another order is.
func TestStagesThatRepeat(t *testing.T) {
	t.Parallel()
	out := run(t, compile(t, `
plan: repeats
backends: {web: {}}
targets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}
scenarios:
  s: {repeats: 2, phases: [{measure: {for: 300ms, do: [{load: {path: /small, rate: 100/s}}]}}]}
schedule:
  - {stage: seen, rounds: 2}
  - {stage: back, order: reverse}
  - {stage: blind, probes: {without: [process, host]}}
`), engine.RunOptions{})
	if len(out.Results.Cells) != 3 {
		t.Fatalf("%d cells: %+v", len(out.Results.Cells), out.Results.Cells)
	}
	again := compare.Repeats(out.Results)
	for i, want := range []struct {
		stage         string
		runs, repeats int
		watched       bool
	}{{"seen", 4, 2, true}, {"back", 2, 2, true}, {"blind", 2, 1, false}} {
		c := &out.Results.Cells[i]
		rate := c.Metrics[""].Value("req_per_s")
		if c.Coord.Stage != want.stage || len(c.Runs) != want.runs || len(rate.Runs) != want.runs || c.Coord.Round != 0 {
			t.Errorf("cell %+v has the runs %v with the rates %v, want %d of %s", c.Coord, c.Runs, rate.Runs, want.runs, want.stage)
		}
		if len(again[c]) != want.repeats {
			t.Errorf("%s has %d repeats, itself among them, want %d", want.stage, len(again[c]), want.repeats)
		}
		if _, ok := c.Metrics[""].Get("sut_cpu_cores"); ok != want.watched {
			t.Errorf("%s has a CPU figure: %v", want.stage, ok)
		}
		for _, id := range c.Runs {
			d, err := out.Set.Data(id)
			if err != nil {
				t.Fatal(err)
			}
			sampled := false
			for _, p := range d.Points {
				sampled = sampled || p.Role == "sut" || strings.HasPrefix(p.Series, "host_")
			}
			if sampled != want.watched {
				t.Errorf("a run of %s has samples of its target or host: %v", want.stage, sampled)
			}
		}
	}
	stages, err := out.Set.Stages()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stages {
		if want := s.Name == "blind"; slices.Equal(s.Without, []string{"process", "host"}) != want {
			t.Errorf("stage %s is recorded as without %q", s.Name, s.Without)
		}
	}
	if w := compare.Watched(out.Results); len(w) != 1 || w[0].Alone.Cell.Coord.Stage != "blind" || w[0].Watched.Cell.Coord.Stage != "seen" {
		t.Errorf("watched: %+v", w)
	}
}
