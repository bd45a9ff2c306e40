package measure

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

func wantSeries(t *testing.T, name string, s Series, times, values []float64) {
	t.Helper()
	if len(s.T) != len(times) || len(s.V) != len(values) {
		t.Errorf("%s: %v %v, want %v %v", name, s.T, s.V, times, values)
		return
	}
	for i := range times {
		if !near(s.T[i], times[i]) || !near(s.V[i], values[i]) {
			t.Errorf("%s: %v at %v, want %v at %v", name, s.V[i], s.T[i], values[i], times[i])
		}
	}
}

func TestAll(t *testing.T) {
	d := example()
	all := All(d)
	seconds := []float64{0, 1, 2, 3, 4, 5, 6}
	wantSeries(t, "req_per_s", all["req_per_s"], seconds, []float64{100, 100, 100, 100, 100, 100, 96})
	wantSeries(t, "failed", all["failed"], seconds, []float64{0, 0, 0, 0, 0, 0, 4})
	wantSeries(t, "p99_ms", all["p99_ms"], seconds, []float64{3, 3, 3, 9, 3, 3, 3})
	later := []float64{1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5}
	wantSeries(t, "sut_cpu_cores", all["sut_cpu_cores"], later, []float64{.6, .6, .6, .6, .6, .6, .6})
	wantSeries(t, "nginx_cpu_user_cores", all["nginx_cpu_user_cores"], later, []float64{.4, .4, .4, .4, .4, .4, .4})
	wantSeries(t, "web_connections_opened_per_s", all["web_connections_opened_per_s"], later, []float64{4, 4, 4, 4, 4, 4, 4})
	wantSeries(t, "sut_rss_mib", all["sut_rss_mib"], append([]float64{0.5}, later...), []float64{150, 151, 152, 153, 154, 155, 156, 157})
	for _, name := range []string{"cpu_busy", "sut_thread_cpu_s", "lag_p99_ms"} {
		if s, ok := all[name]; ok {
			t.Errorf("%s: %v", name, s)
		}
	}
	for name, s := range all {
		if s.Desc.Name != name {
			t.Errorf("%s is described as %s", name, s.Desc.Name)
		}
	}
}

func TestOf(t *testing.T) {
	d := example()
	for _, c := range []struct {
		window, name  string
		times, values []float64
	}{
		{"", "p99_ms", []float64{1, 2, 3, 4, 5}, []float64{3, 3, 9, 3, 3}}, // both ends belong to a window
		{"phase/after", "failed", []float64{5, 6}, []float64{0, 4}},
		{"load/side", "req_per_s", []float64{1, 2, 3, 4, 5}, []float64{10, 10, 10, 10, 10}},
		{"phase/warm-up", "sut_rss_mib", []float64{0.5}, []float64{150}},
		{"replica/nginx/1", "rss_mib", []float64{1.5, 2.5, 3.5, 4.5}, []float64{50, 50, 50, 50}},
	} {
		s, ok := of(d, c.name, c.window)
		if !ok {
			t.Errorf("%s of %q is missing", c.name, c.window)
		}
		wantSeries(t, c.name+" of "+c.window, s, c.times, c.values)
	}
	for _, c := range [][2]string{{"p99_ms", "phase/none"}, {"none", ""}, {"sut_rss_mib", "load/side"}} {
		if s, ok := of(d, c[0], c[1]); ok {
			t.Errorf("%s of %q: %v", c[0], c[1], s)
		}
	}
}

// A replica that comes later or goes counts while it is there; what it used stays used.
func TestSumOfReplicas(t *testing.T) {
	d := &record.Data{Run: &record.Run{Phases: []record.Phase{{Name: "measure", Kind: "measure", Start: 0, End: 4, Recorded: true}}}}
	put := func(replica int, t, rss, cpu float64) {
		d.Points = append(d.Points,
			series.Point{T: t, Series: "rss_mib", Source: "web", Role: "sut", Replica: replica, V: rss},
			series.Point{T: t, Series: "cpu_user_s", Source: "web", Role: "sut", Replica: replica, V: cpu})
	}
	for i := range 5 {
		put(0, float64(i), 10, float64(i))
		if i >= 1 && i <= 3 {
			put(1, float64(i), 5, 7+2*float64(i))
		}
	}
	all := All(d)
	wantSeries(t, "rss", all["sut_rss_mib"], []float64{0, 1, 2, 3, 4}, []float64{10, 15, 15, 15, 10})
	wantSeries(t, "cpu", all["sut_cpu_cores"], []float64{1, 2, 3, 4}, []float64{1, 3, 3, 1})
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"sut_cpu_cores": 2, "sut_cpu_cores_max": 3, "sut_rss_mib_mean": 13, "sut_rss_mib_last": 10})
}

func TestRestartsAndExits(t *testing.T) {
	d := example()
	d.Events = []record.Event{
		{T: 0.5, Kind: "exit", Fields: map[string]any{"process": "nginx", "replica": 0.0}}, // in the warm-up
		{T: 2, Kind: "exit", Fields: map[string]any{"process": "nginx", "replica": 1}},
		{T: 3, Kind: "restart", Fields: map[string]any{"process": "nginx", "replica": 1.0}},
		{T: 3, Kind: "restart", Fields: map[string]any{"process": "web"}},
	}
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"sut_exits": 1, "nginx_exits": 1, "sut_restarts": 1, "web_restarts": 1, "backends_restarts": 1, "load_exits": 0})
	wantMetrics(t, d.Run.Metrics["replica/nginx/1"], map[string]float64{"exits": 1, "restarts": 1})
	wantMetrics(t, d.Run.Metrics["replica/nginx/0"], map[string]float64{"exits": 0})
	wantMetrics(t, d.Run.Metrics["phase/after"], map[string]float64{"sut_exits": 0})
}

func TestHealthPoints(t *testing.T) {
	wait := int64(2e9)
	h := load.Health{Second: 3, CPUSeconds: 1.5, GCPauseNs: 5e8, RunWaitNs: &wait, DescriptorLimit: 1024, Descriptors: 20, Open: 16, InFlight: 3, Waiting: 7}
	got := map[string]float64{}
	for _, p := range HealthPoints("main", 2, 10, h) {
		if p.T != 13 || p.Source != "main" || p.Replica != 2 || p.Role != "" {
			t.Errorf("point %+v", p)
		}
		got[p.Series] = p.V
	}
	want := map[string]float64{"generator_cpu_s": 1.5, "generator_run_wait_s": 2, "generator_gc_pause_s": 0.5, "generator_fds": 20, "generator_fd_limit": 1024, "generator_open": 16, "generator_in_flight": 3, "generator_waiting": 7}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if ps := HealthPoints("main", 0, 0, load.Health{}); len(ps) != 6 {
		t.Errorf("what was not read is recorded: %v", ps)
	}
	for _, s := range GeneratorSeries {
		if _, ok := got[s.Name]; !ok {
			t.Errorf("no point of %s", s.Name)
		}
	}
}

func TestIdent(t *testing.T) {
	for in, want := range map[string]string{"nginx-tuned": "nginx_tuned", "to_web": "to_web", "A.b/C": "a_b_c", "9p": "_9p", "web2": "web2"} {
		if got := Ident(in); got != want {
			t.Errorf("Ident(%q) = %q, want %q", in, got, want)
		}
	}
}

// The names of a probe's series are those of the process or role that it is of, and of the other of the two.
func TestProducedOf(t *testing.T) {
	k := Known{Roles: []string{"backends"}, Processes: []string{"web"}, RoleOf: map[string]string{"web": "backends"}}
	opened := []series.SeriesDesc{{Name: "connections_opened", Shape: series.Counter}}
	for _, of := range []string{"web", "backends"} {
		k.Probes = []Probe{{Series: opened, Of: []string{of}}}
		names := map[string]bool{}
		for _, d := range Produced(k) {
			names[d.Name] = true
		}
		for _, s := range ProducedSeries(k) {
			names["series "+s.Name] = true
		}
		for _, want := range []string{"web_connections_opened", "backends_connections_opened_per_s", "series web_connections_opened", "series backends_connections_opened_per_s"} {
			if !names[want] {
				t.Errorf("a probe of %s does not announce %s", of, want)
			}
		}
	}
}

// of gives one series, or false if the run does not have it. Window is as in record: of "phase/NAME" and the headline only
// the part within their phases is given; of "load/NAME" that of this load.
func of(d *record.Data, name, win string) (Series, bool) {
	ix := newIndex(d)
	for _, w := range windows(d.Run) {
		if w.name != win {
			continue
		}
		s, ok := ix.all(w)[name]
		s.T, s.V = within(s.T, s.V, w.rates)
		return s, ok && len(s.T) > 0
	}
	return Series{}, false
}

func TestPictured(t *testing.T) {
	d := example()
	h := Latency(d)
	if h.Count() == 0 {
		t.Fatal("there are no latencies")
	}
	n := int64(0)
	for _, s := range d.Seconds {
		n += s.Latency.Count()
	}
	if h.Count() >= n {
		t.Errorf("%d latencies of the headline, of %d in all", h.Count(), n)
	}
	threads, most := Threads(d, "sut"), 0.0
	if len(threads) == 0 {
		t.Fatal("there are no threads")
	}
	for _, s := range threads {
		if s.Desc.Unit != "cores" || len(s.T) == 0 || len(s.T) != len(s.V) {
			t.Errorf("%s: %d times, %d values, in %q", s.Desc.Name, len(s.T), len(s.V), s.Desc.Unit)
		}
		if s.Why != "" || s.Rest != strings.HasSuffix(s.Desc.Name, otherRest) {
			t.Errorf("%s: %v cores (%s), the rest: %v", s.Desc.Name, s.Cores, s.Why, s.Rest)
		}
		if !s.Rest {
			most = max(most, s.Cores)
		}
	}
	Derive(d)
	if want := d.Run.Metrics[""].Value("sut_busiest_thread_cores"); most != want {
		t.Errorf("the busiest thread used %v cores, and %v as a metric", most, want)
	}
	d.Run.Phases[1].Start, d.Run.Phases[1].End = 100, 101 // not watched then
	for _, s := range Threads(d, "sut") {
		if s.Why == "" || len(s.T) == 0 {
			t.Errorf("%s used %v cores when it was not watched", s.Desc.Name, s.Cores)
		}
	}
	if got := Threads(d, "nobody"); len(got) > 0 {
		t.Errorf("of no role: %v", got)
	}
}

// The host's speed is the median of its samples in a window: one of them may have met an interrupt.
func TestHostSpeedIsAMedian(t *testing.T) {
	d := example()
	d.Run.Series = append(d.Run.Series, series.SeriesDesc{Name: "host_speed", Unit: "pieces/ms", Shape: series.Gauge, Class: series.Count})
	for i, v := range []float64{1, 10, 2, 9, 10, 7, 8, 9} { // at 0.5, 1.5, ... 7.5; 1 to 5 is the headline, 5 to 7 comes after
		d.Points = append(d.Points, series.Point{T: 0.5 + float64(i), Series: "host_speed", V: v})
	}
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"host_speed": 9.5})
	wantMetrics(t, d.Run.Metrics["phase/after"], map[string]float64{"host_speed": 7.5})
	for name := range d.Run.Metrics[""].All() {
		if strings.HasPrefix(name, "host_speed_") {
			t.Errorf("it is also %s", name)
		}
	}
	known := Produced(Known{Probes: []Probe{{Series: d.Run.Series}}})
	if i := slices.IndexFunc(known, func(x series.Desc) bool { return x.Name == "host_speed" }); i < 0 || known[i].Across != series.Median || known[i].Class != series.Count {
		t.Errorf("before a run it is described as %+v", known)
	}
}
