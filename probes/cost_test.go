package probes

import (
	"os/exec"
	"testing"
	"time"

	"github.com/planrun/planrun/probes/proctree"
)

// BenchmarkSample is the cost of one sample of the processes and the host together, with 50 processes of the plan. Its
// user and kernel time are what the probes take from the CPU that they run on.
func BenchmarkSample(b *testing.B) {
	var ps []*fake
	for range 50 {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		f := &fake{name: "sleep", role: "sut", replica: len(ps), cmd: cmd, exited: make(chan struct{})}
		ps = append(ps, f)
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
	}
	bench, p, h := newBench(ps...), newProcess(""), &host{pace: pace{Every: time.Second}}
	p.Every = time.Second
	used := func() float64 {
		s, err := proctree.Scan()
		if err != nil {
			b.Fatal(err)
		}
		return s.Get(bench.engine).Own.Total()
	}
	before := used()
	n := 0
	for b.Loop() {
		scans = proctree.Cache{} // a second has passed
		p.Sample(b.Context(), bench.env())
		h.Sample(b.Context(), bench.env())
		n++
	}
	b.ReportMetric((used()-before)*1e3/float64(n), "cpu-ms/op")
}
