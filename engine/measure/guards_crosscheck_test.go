package measure

import (
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// figures of a generator that answered 1000 requests, half of them in as many milliseconds.
func figuresOf(p50 float64) *record.Figures {
	return &record.Figures{Requests: 1000, ReqPerS: 500, P50: &p50, P99: &p50}
}

// crossed is healthy, its main load in its best second at a p50 of 2 ms, with what other generators saw.
func crossed(checks ...record.CrossCheck) *record.Data {
	d := healthy()
	eachMain(d, func(s *load.Second) {
		if s.Service = hist(25, 3*time.Millisecond); s.Second == 2 {
			s.Service = hist(25, 2*time.Millisecond)
		}
	})
	d.Run.Loads[0].CrossChecks = checks
	return d
}

func saw(generator string, p50 float64) record.CrossCheck {
	return record.CrossCheck{Generator: generator, Figures: figuresOf(p50)}
}

// busier is with half of both CPUs in the hands of others.
func busier(d *record.Data) *record.Data {
	setSeries(d, "foreign_cpu", "", func(p *series.Point) { p.V = 1 })
	return d
}

// running is without processes of a target: it was running already.
func running(d *record.Data) *record.Data {
	d.Run.Processes = nil
	return d
}

func connecting(c record.CrossCheck) record.CrossCheck {
	c.Figures.Otherwise = "its latencies include connecting"
	return c
}

func TestCrossCheck(t *testing.T) {
	failing := saw("fortio", 0.1)
	failing.Figures.Failed = 500
	for _, c := range []struct {
		name   string
		d      *record.Data
		guard  string
		ok     bool
		taints string
		says   string
	}{
		{"far above the only one", crossed(saw("wrk", 0.2)), "cross-check", false, "timing", "took the load generator 2 ms and more in its best second, from the send; at the same endpoint other generators saw wrk 0.2 ms (at most 50 % and 0.5 ms above half of them)"},
		{"above, by less than a half", crossed(saw("wrk", 1.4)), "cross-check", true, "timing", "wrk 1.4 ms"},
		{"below", crossed(saw("wrk", 20)), "cross-check", true, "timing", "wrk 20 ms"},
		{"above two of three", crossed(saw("wrk", 5), saw("h2load", 0.2), saw("fortio", 0.3)), "cross-check", false, "timing", "wrk 5 ms, h2load 0.2 ms, fortio 0.3 ms"},
		{"above one of two", crossed(saw("wrk", 5), saw("h2load", 0.2)), "cross-check", true, "timing", "wrk 5 ms, h2load 0.2 ms"},
		{"what failed does not count", crossed(saw("wrk", 5), saw("h2load", 5), failing), "cross-check", true, "timing", "wrk 5 ms, h2load 5 ms ("},
		{"above on a busy machine", busier(crossed(saw("wrk", 0.9))), "cross-check", true, "timing", "wrk 0.9 ms (at most 50 % and 0.5 ms above half of them, with 50 % taken off, the share of the CPUs that other work had)"},
		{"far above on a busy machine", busier(crossed(saw("wrk", 0.2))), "cross-check", false, "timing", "with 50 % taken off"},
		{"beside a target that ran already", running(busier(crossed(saw("wrk", 0.9)))), "cross-check", true, "timing", "the share of the CPUs that other work had (which the target itself may be part of: it was running already))"},
		{"of one that connects within its latencies", crossed(saw("wrk", 0.2), connecting(saw("fortio", 5))), "cross-check", false, "timing", "other generators saw wrk 0.2 ms ("},
		{"only such", crossed(connecting(saw("fortio", 0.2))), "cross-checked", true, "", "fortio: its latencies include connecting"},
		{"none ran", crossed(record.CrossCheck{Generator: "wrk", NotRun: "it is not installed"}, failing), "cross-checked", false, "", "no other generator could be held against load main: wrk: it is not installed; fortio: 500 of 1000 requests failed"},
		{"it has no answers of its own", func() *record.Data {
			d := crossed(saw("wrk", 1))
			eachMain(d, func(s *load.Second) {
				s.Counts, s.Service = load.Counts{Due: 50, Errors: map[string]int64{load.Reset: 50}}, nil
			})
			return d
		}(), "cross-checked", false, "", "of its own requests, nothing was answered"},
	} {
		found := false
		for _, g := range Guards(c.d, DefaultThresholds(), Machine{}) {
			if !strings.HasPrefix(g.Name, "cross-") {
				continue
			}
			found = true
			if g.Name != c.guard || g.OK != c.ok || g.Taints != c.taints || g.Load != "main" || !strings.Contains(g.Message, c.says) {
				t.Errorf("%s: %+v\nwant %s %v %q %q", c.name, g, c.guard, c.ok, c.taints, c.says)
			}
		}
		if !found {
			t.Errorf("%s: there is no guard %s", c.name, c.guard)
		}
	}
	for _, g := range Guards(healthy(), DefaultThresholds(), Machine{}) {
		if strings.HasPrefix(g.Name, "cross-") {
			t.Errorf("a load without cross-checks has the guard %s", g.Name)
		}
	}
}

// Seconds with few answers say nothing, unless there are no others.
func TestBestSecond(t *testing.T) {
	d := crossed(saw("wrk", 0.2))
	few := func(n int, second int, v time.Duration) {
		eachMain(d, func(s *load.Second) {
			if s.Second == second {
				s.Service = hist(n, v)
			}
		})
	}
	best := func() float64 {
		v, ok := newIndex(d).bestP50(&d.Run.Loads[0])
		if !ok {
			t.Error("there is no best second")
		}
		return v
	}
	few(5, 3, time.Microsecond) // of two workers: ten
	if v := best(); !near(v, 2) {
		t.Errorf("the best second has a p50 of %v ms, want 2", v)
	}
	for s := range 7 {
		few(4, s, 7*time.Millisecond)
	}
	if v := best(); !near(v, 7) {
		t.Errorf("without seconds of many answers it is %v ms, want 7", v)
	}
	eachMain(d, func(s *load.Second) { s.Service = (*hdr.Histogram)(nil) })
	if _, ok := newIndex(d).bestP50(&d.Run.Loads[0]); ok {
		t.Error("no answers, and a best second")
	}
}

// What other generators measured are metrics, beside the load's own of the same phases.
func TestCrossCheckMetrics(t *testing.T) {
	d := crossed(saw("wrk", 0.2), record.CrossCheck{Generator: "vegeta", NotRun: "it is not installed"})
	Derive(d)
	wantMetrics(t, d.Run.Metrics["cross-check/main/wrk"], map[string]float64{"req_per_s": 500, "service_p50_ms": 0.2, "service_p99_ms": 0.2, "requests": 1000, "failed": 0})
	wantMetrics(t, d.Run.Metrics["cross-check/main/planrun"], map[string]float64{"req_per_s": 100, "service_p50_ms": 3, "requests": 400, "failed": 0})
	if _, ok := d.Run.Metrics["cross-check/main/wrk"].Get("service_p90_ms"); ok {
		t.Error("a percentile that it does not tell is a metric")
	}
	if m, ok := d.Run.Metrics["cross-check/main/vegeta"]; ok {
		t.Errorf("what did not run has metrics: %v", m)
	}
}
