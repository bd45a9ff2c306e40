package main

import (
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/record/recordtest"
	"github.com/planrun/planrun/internal/load"
)

// resultSet writes a result set of three runs of nginx, and of haproxy where it has a rate:
//
//	rate=100 haproxy=90   req_per_s of each target; the runs lie 1 % around it
//	failed=3              failed requests of nginx's last run
//	kernel=6.2.0          of the machine
//	workers=4             nginx's knob
//	seconds=2             length of the measured phase
//	reuse=none            a new connection for every request
//	guard=TEXT            a guard that spoils the timing of nginx
//	killed=yes            planrun did not come to its end
func resultSet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: resultset DIR KEY=VALUE ...")
	}
	says := map[string]string{}
	for _, a := range args[1:] {
		k, v, ok := strings.Cut(a, "=")
		if !ok {
			ts.Fatalf("%q is no KEY=VALUE", a)
		}
		says[k] = v
	}
	number := func(key string, otherwise float64) float64 {
		if says[key] == "" {
			return otherwise
		}
		v, err := strconv.ParseFloat(says[key], 64)
		ts.Check(err)
		return v
	}
	around := func(v float64) []float64 { return []float64{v, 1.01 * v, 0.99 * v} }
	cell := func(target string, rate, failed float64) recordtest.Cell {
		return recordtest.Cell{Stage: "main", Scenario: "h1", Target: target, Load: func(l *load.Spec) { l.Reuse = says["reuse"] != "none" },
			Metrics: map[string][]float64{"req_per_s": around(rate), "p99_ms": around(1000 / rate), "requests": around(10000), "failed": {0, 0, failed}}}
	}
	s := recordtest.Set{Killed: says["killed"] != "", Plan: recordtest.Plan,
		Environment: func(e *record.Environment) {
			if says["kernel"] != "" {
				e.Kernel = says["kernel"]
			}
		},
		Run: func(_ int, r *record.Run) {
			if r.Coord.Target == "nginx" {
				r.With = map[string]any{"workers": number("workers", 2)}
			}
			if v := number("seconds", 5); v != 5 {
				r.Phases[1].For = v
			}
		}}
	if says["workers"] != "" {
		s.Plan = strings.Replace(s.Plan, "workers: 2", "workers: "+says["workers"], 1)
	}
	if says["reuse"] != "" {
		s.Plan = strings.Replace(s.Plan, "path: /small", "path: /small\n    reuse: "+says["reuse"], 1)
	}
	s.Cells = append(s.Cells, cell("nginx", number("rate", 100), number("failed", 0)))
	if says["guard"] != "" {
		s.Cells[0].Guards = []record.Guard{{Name: "generator-cpu", Taints: "timing", Message: says["guard"]}}
	}
	if says["haproxy"] != "" {
		s.Cells = append(s.Cells, cell("haproxy", number("haproxy", 0), 0))
	}
	ts.Check(recordtest.Write(ts.MkAbs(args[0]), s))
}
