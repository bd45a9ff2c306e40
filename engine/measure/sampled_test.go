package measure

import (
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// cpuOf is a run of a window of a second, in which a load used half a CPU and was sampled at these times; gone is when it
// was sampled after its end, 0 for never.
func cpuOf(gone float64, times ...float64) *record.Data {
	d := &record.Data{Run: &record.Run{
		Status:    record.Done,
		Phases:    []record.Phase{{Name: "measure", Kind: "measure", Start: 0.3, End: 1.3, Recorded: true, Headline: true}},
		Processes: []record.Process{{Name: "small", Role: "load"}},
	}}
	p := func(t float64, name string, v float64) {
		d.Points = append(d.Points, series.Point{T: t, Series: name, Source: "small", Role: "load", V: v})
	}
	used := 0.0
	for _, t := range times {
		used = 0.5 * t
		p(t, cpuUser, used)
		p(t, cpuKernel, 0)
		p(t, "processes", 1)
	}
	if gone > 0 {
		p(gone, cpuUser, used) // what it used since is lost
		p(gone, cpuKernel, 0)
	}
	return d
}

func TestTooFewSamples(t *testing.T) {
	for _, c := range []struct {
		name  string
		gone  float64
		times []float64
		known bool
	}{
		{"one sample, and one after its end", 1.5, []float64{1}, false},
		{"one sample", 0, []float64{1}, false},
		{"two before the window's end, of which one is in it", 0, []float64{0.1, 0.4}, false},
		{"two in the window", 0, []float64{0.9, 1.1}, true},
		{"most of the window lies between two", 0, []float64{0.35, 1.4}, true},
		{"about the window", 0, []float64{0, 2}, true},
		{"one after the end takes nothing away", 1.2, []float64{0, 0.5, 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := cpuOf(c.gone, c.times...)
			Derive(d)
			v, ok := d.Run.Metrics[""].Get("load_cpu_cores")
			if ok != c.known || ok && !near(v, 0.5) {
				t.Errorf("load_cpu_cores is %v (known: %v), want 0.5 (known: %v)", v, ok, c.known)
			}
			if why := d.Run.Missing["load_cpu_cores"]; !c.known && why != tooFewSamples {
				t.Errorf("it is missing because of %q", why)
			}
			s := All(d)["load_cpu_cores"]
			for i, v := range s.V {
				if !near(v, 0.5) {
					t.Errorf("at %v s it is drawn at %v", s.T[i], v)
				}
			}
		})
	}
}

// A process that was killed long before the end has used nothing since.
func TestEndedProcess(t *testing.T) {
	d := cpuOf(0.8, 0.3, 0.6)
	for _, t := range []float64{1, 1.3} {
		d.Points = append(d.Points,
			series.Point{T: t, Series: cpuUser, Source: "small", Role: "load", V: 0.3},
			series.Point{T: t, Series: cpuKernel, Source: "small", Role: "load"})
	}
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"load_cpu_cores": 0.15})
}

// Where no probe saw enough of a load, its workers' own readings give its CPU time; but not where one of them has only one
// reading, since the others' sum would be too low.
func TestWorkersOwnReadings(t *testing.T) {
	for name, c := range map[string]struct {
		second []float64 // times of the second worker's readings
		want   float64   // 0 is missing
	}{"both have two": {[]float64{0, 1.4}, 0.75}, "one has one": {[]float64{1.4}, 0}, "one has none": {nil, 0}} {
		d := cpuOf(0, 1)
		d.Run.Loads = []record.Load{{Name: "small", Headline: true, Workers: 2}}
		for worker, times := range [][]float64{{0, 1.4}, c.second} {
			for _, at := range times {
				cores := []float64{0.5, 0.25}[worker]
				d.Points = append(d.Points, series.Point{T: at, Series: "generator_cpu_s", Source: "small", Replica: worker, V: 3 + cores*at})
			}
		}
		Derive(d)
		v, ok := d.Run.Metrics[""].Get("load_cpu_cores")
		if ok != (c.want > 0) || !near(v, c.want) {
			t.Errorf("%s: load_cpu_cores is %v (known: %v), want %v", name, v, ok, c.want)
		}
		if why := d.Run.Missing["load_cpu_cores"]; !ok && why != tooFewSamples {
			t.Errorf("%s: it is missing because of %q", name, why)
		}
	}
}
