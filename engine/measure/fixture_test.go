package measure

import (
	"math"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// hist is a histogram of n values each.
func hist(n int, values ...time.Duration) *hdr.Histogram {
	h := new(hdr.Histogram)
	for _, v := range values {
		for range n {
			h.Record(int64(v))
		}
	}
	return h
}

// example is a run by hand: 1 s of warm-up, 4 s of measure, 2 s of a recorded phase after it; one closed headline load
// with 100 requests a second, and one that is none; an nginx of two replicas, and its backend.
func example() *record.Data {
	r := &record.Run{
		Status: record.Done, Seconds: 7,
		Phases: []record.Phase{
			{Name: "warm-up", Kind: "warm-up", Start: 0, End: 1},
			{Name: "measure", Kind: "measure", Start: 1, End: 5, Recorded: true, Headline: true},
			{Name: "after", Kind: "load", Start: 5, End: 7, Recorded: true},
		},
		Loads: []record.Load{
			{Name: "main", Headline: true, Workers: 2, Reported: 2, Final: true, End: 7, Ready: load.Ready{Connections: 4, Verified: 1}, Spec: load.Spec{Connections: 4}},
			{Name: "side", Workers: 1, Reported: 1, Final: true, End: 7, Ready: load.Ready{Connections: 1, Verified: 1}, Spec: load.Spec{Connections: 1}},
		},
		Processes: []record.Process{
			{Name: "nginx", Role: "sut", Replica: 0}, {Name: "nginx", Role: "sut", Replica: 1},
			{Name: "web", Role: "backends"}, {Name: "main", Role: "load"},
		},
	}
	d := &record.Data{Run: r}
	phase := func(s int) string {
		switch {
		case s < 1:
			return "warm-up"
		case s < 5:
			return "measure"
		}
		return "after"
	}
	for s := range 7 {
		// Each worker: 50 requests; in second 6 one of them is a 503 and one a timeout.
		for w := range 2 {
			c := load.Counts{Due: 50, OK: 50, Sent: 50, MaxElapsed: 9 * time.Millisecond}
			lat := hist(25, 1*time.Millisecond, 3*time.Millisecond)
			if s == 3 {
				lat = hist(25, 1*time.Millisecond, 9*time.Millisecond)
			}
			if s == 6 {
				c.OK, c.Non2xx, c.Errors = 48, map[int]int64{503: 1}, map[string]int64{load.Timeout: 1}
				c.MaxElapsed = 2 * time.Second
				lat = hist(24, 1*time.Millisecond, 3*time.Millisecond)
			}
			d.Seconds = append(d.Seconds, load.Second{Load: "main", Worker: w, Phase: phase(s), Second: s, Counts: c, Latency: lat, Service: lat})
		}
		d.Seconds = append(d.Seconds, load.Second{Load: "side", Phase: phase(s), Second: s, Counts: load.Counts{Due: 10, OK: 10, Sent: 10}, Latency: hist(10, 50*time.Millisecond)})
	}
	// Samples at 0.5, 1.5, ... 7.5: replica 0 uses 0.4 CPUs (0.3 of them user), replica 1 0.2 (0.1), from 10 s on the clock.
	for i := range 8 {
		t := 0.5 + float64(i)
		p := func(name, source, role string, replica int, v float64) {
			d.Points = append(d.Points, series.Point{T: t, Series: name, Source: source, Role: role, Replica: replica, V: v})
		}
		p("cpu_user_s", "nginx", "sut", 0, 10+0.3*t)
		p("cpu_kernel_s", "nginx", "sut", 0, 20+0.1*t)
		p("cpu_user_s", "nginx", "sut", 1, 10+0.1*t)
		p("cpu_kernel_s", "nginx", "sut", 1, 20+0.1*t)
		p("rss_mib", "nginx", "sut", 0, 100+float64(i))
		p("rss_mib", "nginx", "sut", 1, 50)
		p("rss_peak_mib", "nginx", "sut", 0, 110)
		p("rss_peak_mib", "nginx", "sut", 1, 60)
		p("connections_opened", "web", "", 0, 1000+4*float64(i))
		p("listen_drops", "", "", 0, 77)
		p("foreign_cpu", "", "", 0, 0.05)
		for cpu, busy := range []float64{0.9, 0.5} {
			d.Points = append(d.Points, series.Point{T: t, Series: "cpu_busy", Label: []string{"cpu0", "cpu1"}[cpu], V: busy})
		}
		for thread, cores := range map[string]float64{"nginx/1": 0.3, "nginx/2": 0.1, "other": 5} {
			d.Points = append(d.Points, series.Point{T: t, Series: "thread_cpu_s", Source: "nginx", Role: "sut", Label: thread, V: cores * t})
		}
	}
	r.Series = []series.SeriesDesc{
		{Name: "connections_opened", Shape: series.Counter, Class: series.Count},
		{Name: "listen_drops", Shape: series.Counter, Class: series.Count},
		{Name: "foreign_cpu", Unit: "cores", Shape: series.Gauge, Class: series.Timing},
		{Name: "cpu_busy", Unit: "cores", Shape: series.Gauge, Class: series.Timing},
	}
	return d
}

// near compares within a relative 0.1 %, which is what a histogram rounds.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 0.001*math.Max(math.Abs(a), math.Abs(b))+1e-9
}

func wantMetrics(t *testing.T, got *record.Window, want map[string]float64) {
	t.Helper()
	for name, w := range want {
		g, ok := got.Get(name)
		if !ok {
			t.Errorf("%s is missing, want %v", name, w)
		} else if !near(g, w) {
			t.Errorf("%s = %v, want %v", name, g, w)
		}
	}
}
