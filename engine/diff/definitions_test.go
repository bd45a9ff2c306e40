package diff_test

import (
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/record/recordtest"
	"github.com/planrun/planrun/internal/load"
)

func TestMismatches(t *testing.T) {
	t.Parallel()
	spec := func(change func(*load.Spec)) func(*recordtest.Set) {
		return func(s *recordtest.Set) { s.Cells[0].Load = change }
	}
	plan := func(text string) func(*recordtest.Set) {
		return func(s *recordtest.Set) { s.Plan = recordtest.Plan + text }
	}
	for _, c := range []struct {
		name   string
		change func(*recordtest.Set)
		want   string
	}{
		{"another port", spec(func(l *load.Spec) { l.Address, l.Host = "127.0.0.1:9", "127.0.0.1:9" }), ""},
		{"knobs", func(s *recordtest.Set) {
			s.Plan = strings.Replace(recordtest.Plan, "workers: 2", "workers: 4", 1)
		}, ""},
		{"repeats", func(s *recordtest.Set) {
			s.Plan = strings.Replace(recordtest.Plan, "  h1:\n", "  h1:\n    repeats: 9\n", 1)
		}, ""},
		{"length", func(s *recordtest.Set) {
			s.Run = func(_ int, r *record.Run) { r.Phases[1].For, r.Phases[1].End = 2.5, 3.5 }
		}, "the window measure (measure): 5s, headline in A, 2.5s, headline in B (main / h1 / nginx)"},
		{"aborted before it", func(s *recordtest.Set) {
			s.Run = func(_ int, r *record.Run) {
				r.Status, r.Phases[1].Start, r.Phases[1].End, r.Phases[1].For, r.Loads = record.Aborted, 0, 0, 0, nil
			}
		}, ""},
		{"aborted in it", func(s *recordtest.Set) {
			s.Run = func(_ int, r *record.Run) { r.Status, r.Phases[1].End, r.Phases[1].For = record.Aborted, 2, 2.5 }
		}, "the window measure (measure): 5s, headline in A, 2.5s, headline in B (main / h1 / nginx)"},
		{"path", spec(func(l *load.Spec) { l.Path = "/large" }), "the load small, path: /small in A, /large in B (main / h1 / nginx)"},
		{"connections", spec(func(l *load.Spec) { l.Connections = 64 }), "the load small, connections: 16 in A, 64 in B (main / h1 / nginx)"},
		{"keep-alive", spec(func(l *load.Spec) { l.Reuse = false }), "the load small, keep-alive: connections are kept in A, a new connection for every request in B (main / h1 / nginx)"},
		{"rate", spec(func(l *load.Spec) { l.Rate = []load.RateStep{{From: 200, To: 200}} }), "the load small, its rate: a closed loop in A, 200 requests/s in B (main / h1 / nginx)"},
		{"timeout", spec(func(l *load.Spec) { l.Timeout = time.Second }), "the load small, timeout: 1s in B, nothing in A (main / h1 / nginx)"},
		{"another load", func(s *recordtest.Set) {
			s.Run = func(_ int, r *record.Run) { r.Loads[0].Name = "big" }
		}, "the load big (16 connections, closed loop, GET /small over h1) is in B only (main / h1 / nginx)"},
		{"a metric's definition", plan("metrics:\n  p99_ms_x: p99_ms * 2\n"), "metrics: {\"p99_ms_x\":\"p99_ms * 2\"} in B, nothing in A"},
		{"backends", func(s *recordtest.Set) { s.Plan = strings.Replace(recordtest.Plan, "replicas: 1", "replicas: 2", 1) }, "backends.web.replicas: 1 in A, 2 in B"},
		{"what a scenario does", func(s *recordtest.Set) {
			s.Plan = strings.Replace(recordtest.Plan, "for: 5s", "for: 5s\n          do:\n            - pause: {process: nginx}", 1)
		}, `scenarios.h1.phases[2].measure.do: [{"pause":{"process":"nginx"}}] in B, nothing in A`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			other := one(100)
			c.change(&other)
			d := compareSets(t, open(t, "a", one(100)), open(t, "b", other), diff.CompareOptions{})
			got := ""
			if len(d.Mismatches) > 0 {
				got = d.Mismatches[0].String()
			}
			if got != c.want {
				t.Errorf("%q\nwant %q", got, c.want)
			}
		})
	}
}

// A param counts where what is measured reads it, with the value that the runs had.
func TestParamsOfWhatIsMeasured(t *testing.T) {
	t.Parallel()
	set := func(fault, unused float64) recordtest.Set {
		s := one(100)
		s.Plan = strings.Replace(recordtest.Plan, "for: 5s", "for: 5s\n          do: [toxic: {latency: \"${{ ms(params.fault) }}\"}]", 1)
		s.Run = func(_ int, r *record.Run) { r.Params = map[string]any{"fault": fault, "unused": unused} }
		return s
	}
	for _, c := range []struct {
		fault, unused float64
		want          string
	}{{20, 2, ""}, {40, 1, "the param fault (--set fault=...): 20 in A, 40 in B (main / h1 / nginx)"}} {
		d := compareSets(t, open(t, "a", set(20, 1)), open(t, "b", set(c.fault, c.unused)), diff.CompareOptions{})
		got := ""
		for _, m := range d.Mismatches {
			got += m.String()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Published figures have neither phases nor loads: what they were measured in is not known, and no reason to refuse them.
func TestFiguresWithoutPhases(t *testing.T) {
	t.Parallel()
	published := one(100)
	published.Run = func(_ int, r *record.Run) { r.Phases, r.Loads = nil, nil }
	d := compareSets(t, open(t, "a", published), open(t, "b", published), diff.CompareOptions{})
	if len(d.Mismatches) > 0 {
		t.Error(d.Mismatches)
	}
}
