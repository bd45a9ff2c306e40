package report

import (
	"bytes"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// What other generators saw, with the load's own figures beside it; also of text from outside, of runs without figures,
// and of a load that nobody else could do.
func TestCrossCheckSection(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "throughput", target: "a", rates: around(1000)})
	f.cell(cellSpec{scenario: "latency", target: "a", open: true, rates: []float64{200}})
	f.cell(cellSpec{scenario: "plain", target: "a", rates: []float64{200}})
	figures, connects := record.Figures{Requests: 1}, record.Figures{Requests: 1, Otherwise: "its latencies include connecting"}
	methods := map[string]string{"wrk": "Closed loop.", "vegeta": "Closed loop of its workers | <b>."}
	for i, r := range f.in.Runs[:4] {
		load := &r.Loads[0]
		own := map[string]float64{"req_per_s": 1000, "service_p50_ms": 2.2, "service_p99_ms": 4, "service_p99_9_ms": 5, "failed": 0}
		r.Metrics["cross-check/"+load.Name+"/planrun"] = record.WindowOf(own)
		if i == 3 { // the open loop
			load.CrossChecks = []record.CrossCheck{{Generator: "wrk", NotRun: "it is a closed loop, and the load has a rate"}}
			continue
		}
		load.CrossChecks = []record.CrossCheck{
			{Generator: "wrk", Version: "wrk 4.1.0 [epoll]", Method: methods["wrk"], Figures: &figures},
			{Generator: "vegeta", Version: "vegeta v12", Method: methods["vegeta"], Figures: &connects},
			{Generator: "fortio", NotRun: "it is not installed: no program of that name is on PATH"},
		}
		r.Metrics["cross-check/"+load.Name+"/wrk"] = record.WindowOf(map[string]float64{"req_per_s": 2000 + float64(i), "service_p50_ms": 0.2, "service_p90_ms": 0.3, "service_p99_ms": 4, "service_p99_9_ms": 0, "failed": 3})
		if i == 1 {
			load.CrossChecks[1].Figures, load.CrossChecks[1].NotRun = nil, "it failed: exit status 1: | no"
		} else {
			r.Metrics["cross-check/"+load.Name+"/vegeta"] = record.WindowOf(map[string]float64{"req_per_s": 1000, "service_p50_ms": 4.4, "failed": 0})
		}
	}
	b := newBuilder(f.in, Options{})
	s, err := crossChecks(b)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteMarkdown(&out, &Document{Title: "cross-check", Sections: s}); err != nil {
		t.Fatal(err)
	}
	golden(t, "cross-check.md", out.Bytes())

	plain := newFixture()
	plain.cell(cellSpec{scenario: "plain", target: "a", rates: []float64{200}})
	if s, err := crossChecks(newBuilder(plain.in, Options{})); err != nil || len(s) > 0 {
		t.Errorf("without cross-checks there are %d sections, %v", len(s), err)
	}
}
