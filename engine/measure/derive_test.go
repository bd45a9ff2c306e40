package measure

import (
	"slices"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

func TestDerive(t *testing.T) {
	d := example()
	Derive(d)
	m := d.Run.Metrics
	wantMetrics(t, m[""], map[string]float64{
		"seconds": 4, "req_per_s": 100, // 4 s of 100
		"requests": 600, "ok": 596, "failed": 4, "non_2xx": 2, "status_5xx": 2, "status_4xx": 0, "errors": 2, "errors_timeout": 2,
		"errors_reset": 0, "failed_ratio": 4. / 600, "generator": 0, "slow_over_1s": 0, // all recorded phases
		"p50_ms": 1, "p90_ms": 9, "p99_ms": 9, "max_ms": 9, "mean_ms": 2.75, // 200 of 1, 150 of 3, 50 of 9
		"service_p99_ms": 9, "max_elapsed_ms": 9, "worst_second_p99_ms": 9,
		"sut_cpu_cores": 0.6, "sut_cpu_user_cores": 0.4, "sut_cpu_kernel_cores": 0.2, "sut_cpu_cores_mean": 0.6, "sut_cpu_cores_max": 0.6,
		"nginx_cpu_cores": 0.6, "sut_cpu_us_per_req": 6000,
		// samples at 1.5 ... 4.5 are the second to the fifth
		"sut_rss_mib_last": 154, "sut_rss_mib_mean": 152.5, "sut_rss_mib_max": 154, "sut_rss_peak_mib": 170,
		"sut_busiest_thread_cores": 0.3, "sut_restarts": 0, "sut_exits": 0,
		// counters over recorded phases 1..7: samples nearest to 1, 5, 5 and 7 are 0.5, 4.5, 4.5 and 6.5
		"listen_drops": 0, "web_connections_opened": 24, "web_connections_opened_per_s": 4, "backend_conns_per_1k_req": 1000 * 24. / 596,
		"foreign_cpu": 0.05, "foreign_cpu_max": 0.05, "cpu_busy_max": 0.9,
	})
	wantMetrics(t, m["phase/after"], map[string]float64{
		"seconds": 2, "req_per_s": 98, "requests": 200, "failed": 4, "max_elapsed_ms": 2000, "p99_ms": 3, "sut_cpu_cores": 0.6,
	})
	wantMetrics(t, m["phase/warm-up"], map[string]float64{"requests": 100, "req_per_s": 100})
	wantMetrics(t, m["load/side"], map[string]float64{"req_per_s": 10, "p50_ms": 50, "requests": 60})
	wantMetrics(t, m["phase/after/load/side"], map[string]float64{"req_per_s": 10, "requests": 20})
	wantMetrics(t, m["replica/nginx/1"], map[string]float64{"cpu_cores": 0.2, "cpu_cores_mean": 0.2, "rss_mib_max": 50, "rss_peak_mib": 60})

	for _, absent := range []string{"rate_delivered", "lag_p99_ms", "connect_p99_ms"} {
		if v, ok := m[""].Get(absent); ok {
			t.Errorf("%s = %v, want it missing", absent, v)
		}
		if d.Run.Missing[absent] == "" {
			t.Errorf("nothing says why %s is missing", absent)
		}
	}
	if _, ok := m["load/side"].Get("sut_cpu_cores"); ok {
		t.Error("a load's window has metrics of processes")
	}
	// One whole second and the one before the first of the window are left out of clean figures.
	if want := []record.LeftOut{{T: 1, Phase: "measure", Why: "the window's first second"}}; len(d.Run.LeftOut) != 1 || d.Run.LeftOut[0] != want[0] {
		t.Errorf("left out %v, want %v", d.Run.LeftOut, want)
	}
}

// Samples that lie about a window span more or less than the window, which a count for each request must not show.
func TestBackendConnectionsOfTheWindow(t *testing.T) {
	d := example()
	d.Points = slices.DeleteFunc(d.Points, func(p series.Point) bool { return p.Series == backendConns && p.T < 1 })
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"backend_conns_per_1k_req": 1000 * 24. / 596})
}

func TestCleanLeavesOutStalls(t *testing.T) {
	d := example()
	for i := range d.Seconds {
		if s := &d.Seconds[i]; s.Load == "main" && s.Second == 3 && s.Worker == 1 {
			s.Counts.StalledLagNs = int64(60 * time.Millisecond)
		}
	}
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"p99_ms": 9, "p99_clean_ms": 3, "p99_9_clean_ms": 3})
	if n := len(d.Run.LeftOut); n != 2 || d.Run.LeftOut[1].T != 3 || d.Run.LeftOut[1].Why != "the load generator stalled for 60ms" {
		t.Errorf("left out %v", d.Run.LeftOut)
	}
}

// Zero needs a source that was watching.
func TestNothingIsMissingNotZero(t *testing.T) {
	d := &record.Data{Run: &record.Run{
		Phases:    []record.Phase{{Name: "measure", Kind: "measure", Start: 0, End: 5, Recorded: true, Headline: true}},
		Loads:     []record.Load{{Name: "main", Headline: true}},
		Processes: []record.Process{{Name: "nginx", Role: "sut"}},
	}}
	Derive(d)
	for _, name := range []string{"req_per_s", "failed", "failed_ratio", "requests", "p99_ms", "max_elapsed_ms", "sut_cpu_cores"} {
		if v, ok := d.Run.Metrics[""].Get(name); ok {
			t.Errorf("%s = %v of nothing", name, v)
		}
		if d.Run.Missing[name] == "" {
			t.Errorf("nothing says why %s is missing", name)
		}
	}
	if v := d.Run.Metrics[""].Value("sut_restarts"); v != 0 {
		t.Errorf("sut_restarts = %v", v)
	}
}

// All requests failed: the rate is 0, because it was watched; there is no latency.
func TestOnlyFailures(t *testing.T) {
	d := example()
	for i := range d.Seconds {
		s := &d.Seconds[i]
		s.Latency, s.Service, s.Counts = nil, nil, load.Counts{Due: 50, Errors: map[string]int64{load.Connect: 50}, MaxElapsed: time.Second}
	}
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"req_per_s": 0, "failed_ratio": 1, "max_elapsed_ms": 1000})
	if why := d.Run.Missing["p99_ms"]; why != noSuccess {
		t.Errorf("p99_ms is missing because of %q", why)
	}
	if why := d.Run.Missing["sut_cpu_us_per_req"]; why != noSuccess {
		t.Errorf("sut_cpu_us_per_req is missing because of %q", why)
	}
}

func TestHeadlineWithoutMeasure(t *testing.T) {
	d := example()
	d.Run.Phases[1].Kind, d.Run.Phases[1].Headline = "load", false
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"seconds": 6, "req_per_s": 596. / 6})
}

func TestRateDelivered(t *testing.T) {
	steps := []load.RateStep{{From: 0, To: 100, Over: 2 * time.Second}, {To: 100}} // 100 in the first two seconds, then 100/s
	for _, c := range []struct {
		name   string
		change func(*record.Data)
		want   float64
	}{
		{"all sent", func(*record.Data) {}, 1},
		{"the generator lacked descriptors", func(d *record.Data) { d.Seconds[0].Counts.Generator = 30 }, 0.9},
		{"it fell behind", func(d *record.Data) { d.Seconds[1].Counts.Due = 70 }, 1 - 29./300}, // one is rounding
		{"it sent late", func(d *record.Data) {
			d.Seconds[1].Lag, d.Seconds[1].Counts.StalledLagNs = hist(30, 1500*time.Millisecond), 15e8
		}, 0.9},
		{"requests waited for a connection", func(d *record.Data) { d.Seconds[1].Lag = hist(30, 1500*time.Millisecond) }, 1},
		{"sent a little late", func(d *record.Data) { d.Seconds[1].Lag = hist(30, 500*time.Millisecond) }, 1},
		{"the target is slow", func(d *record.Data) {
			d.Seconds[1].Counts.OK, d.Seconds[1].Counts.Errors = 0, map[string]int64{load.Timeout: 100}
		}, 1},
		{"it stopped in the window, as told", func(d *record.Data) {
			d.Run.Loads[0].Stopped, d.Run.Loads[0].End, d.Seconds = 3.5, 3.6, d.Seconds[:2]
			d.Seconds[1].Counts.Due = 100
		}, 1},
	} {
		d := &record.Data{
			Run: &record.Run{
				Phases: []record.Phase{{Name: "measure", Kind: "measure", Start: 0.5, End: 4.5, Recorded: true, Headline: true}},
				Loads:  []record.Load{{Name: "main", Headline: true, Start: 0.5, End: 5, Spec: load.Spec{Rate: steps}}},
			},
			Seconds: []load.Second{
				{Load: "main", Phase: "measure", Second: 1, Counts: load.Counts{Due: 100, OK: 100}},
				{Load: "main", Phase: "measure", Second: 2, Counts: load.Counts{Due: 100, OK: 100}},
				{Load: "main", Phase: "measure", Second: 3, Counts: load.Counts{Due: 100, OK: 100}},
			},
		}
		c.change(d)
		Derive(d)
		if got, ok := d.Run.Metrics[""].Get("rate_delivered"); !ok || !near(got, c.want) {
			t.Errorf("%s: rate_delivered = %v %v, want %v", c.name, got, ok, c.want)
		}
	}
}

// A counter that falls has begun again; adjacent windows share what it grew by.
func TestCounters(t *testing.T) {
	tr := &track{desc: series.SeriesDesc{Shape: series.Counter}, t: []float64{0, 1, 2, 3, 4}, v: []float64{10, 12, 3, 4, 9}}
	tr.grown = grown(tr.v)
	for _, c := range []struct {
		from, to       float64
		steps, seconds float64
		even           float64
	}{
		{0, 4, 11, 4, 11},       // 2, 3 (anew), 1, 5
		{0, 1.5, 2, 1, 3.5},     // the earlier of two that are equally near
		{1.5, 4, 9, 3, 7.5},     // and so nothing is lost
		{-3, 9, 11, 4, 11},      // only where it was watched
		{3.2, 3.3, 0, 0, 0.5},   // between samples
		{3.6, 3.7, 0, 0, 0.5},   //
		{3.4, 3.6, 5, 1, 1},     //
		{5, 9, 0, 0, 0},         // not watched
		{1.25, 1.75, 3, 1, 1.5}, //
	} {
		sum, seconds := growth([]*track{tr}, []span{{"", c.from, c.to}}, false)
		if !near(sum, c.steps) || !near(seconds, c.seconds) {
			t.Errorf("%v..%v grew by %v in %v s, want %v in %v", c.from, c.to, sum, seconds, c.steps, c.seconds)
		}
		if even, _ := growth([]*track{tr}, []span{{"", c.from, c.to}}, true); !near(even, c.even) {
			t.Errorf("%v..%v grew evenly by %v, want %v", c.from, c.to, even, c.even)
		}
	}
}

func TestLive(t *testing.T) {
	d := example()
	d.Run.Phases = d.Run.Phases[:2]
	d.Run.Phases[1].End = 0    // it goes on
	d.Seconds = d.Seconds[:12] // 0..3 are reported
	m, missing := DeriveWindow(d, 2, 3)
	wantMetrics(t, record.WindowOf(m), map[string]float64{"req_per_s": 100, "p99_ms": 3, "requests": 100, "sut_cpu_cores": 0.6})
	m, _ = DeriveWindow(d, 4.4, 5.4)
	if _, ok := m["req_per_s"]; ok {
		t.Errorf("a rate of a second that was not reported: %v", m["req_per_s"])
	}
	if missing["lag_p99_ms"] == "" {
		t.Error("nothing says why lag_p99_ms is missing")
	}
	m, _ = DerivePhase(d, "measure", 4.6)
	wantMetrics(t, record.WindowOf(m), map[string]float64{"req_per_s": 100, "p99_ms": 9, "requests": 300, "seconds": 3.6, "sut_rss_mib_last": 154})
}

// A run that ended before its headline has no figures of one, and none of phases that never began.
func TestPhasesThatNeverBegan(t *testing.T) {
	d := example()
	p := d.Run.Phases
	p[0].Recorded, p[1].Start, p[1].End, p[2].Start, p[2].End = true, 0, 0, 0, 0
	d.Seconds = d.Seconds[:3]
	Derive(d)
	for _, name := range []string{"req_per_s", "p99_ms", "sut_cpu_cores", "seconds"} {
		if v, ok := d.Run.Metrics[""].Get(name); ok {
			t.Errorf("%s = %v", name, v)
		}
	}
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"requests": 100, "failed": 0})
	wantMetrics(t, d.Run.Metrics["phase/warm-up"], map[string]float64{"req_per_s": 100, "seconds": 1})
	if m, ok := d.Run.Metrics["phase/after"]; ok {
		t.Errorf("phase after has %v", m)
	}
}
