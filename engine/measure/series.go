package measure

import (
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
)

// A Series is samples of one number, at ascending times in seconds since the run began.
type Series struct {
	Desc series.SeriesDesc
	T, V []float64
}

// loadSeries are the figures of loads that exist second by second; a second's time is its begin.
var loadSeries = []struct {
	desc  series.SeriesDesc
	value func(second []*piece) (float64, bool)
	hist  string // the histogram that it is of; "" if it is of counts
}{
	{gauge("req_per_s", "req/s", series.Timing, "ok requests that were due in the second"), countPerSecond(func(p *piece) int64 { return p.Counts.OK }), ""},
	{gauge("failed", "", series.Count, "requests that were due in the second and failed"), countPerSecond(func(p *piece) int64 { return failed(&p.Counts) }), ""},
	{gauge("p50_ms", "ms", series.Timing, "50th percentile of the second"), perSecondQuantile(0.5, func(p *piece) *hdr.Histogram { return p.Latency }), "latency"},
	{gauge("p90_ms", "ms", series.Timing, "90th percentile of the second"), perSecondQuantile(0.9, func(p *piece) *hdr.Histogram { return p.Latency }), "latency"},
	{gauge("p99_ms", "ms", series.Timing, "99th percentile of the second"), perSecondQuantile(0.99, func(p *piece) *hdr.Histogram { return p.Latency }), "latency"},
	{gauge("max_ms", "ms", series.Timing, "maximum of the second"), perSecondQuantile(1, func(p *piece) *hdr.Histogram { return p.Latency }), "latency"},
	{gauge("lag_p99_ms", "ms", series.Timing, "99th percentile of the send lag of the second"), perSecondQuantile(0.99, func(p *piece) *hdr.Histogram { return p.Lag }), "lag"},
}

func gauge(name, unit string, class series.Class, doc string) series.SeriesDesc {
	return series.SeriesDesc{Name: name, Unit: unit, Shape: series.Gauge, Class: class, Doc: doc}
}

// countPerSecond counts a second; a second that lies only partly in the phases of the run is scaled up by nothing.
func countPerSecond(n func(*piece) int64) func([]*piece) (float64, bool) {
	return func(second []*piece) (float64, bool) {
		sum, due := int64(0), int64(0)
		for _, p := range second {
			sum, due = sum+n(p), due+p.Counts.Due
		}
		return float64(sum), due > 0
	}
}

func perSecondQuantile(q float64, h func(*piece) *hdr.Histogram) func([]*piece) (float64, bool) {
	return func(second []*piece) (float64, bool) {
		var hs []*hdr.Histogram
		for _, p := range second {
			hs = append(hs, h(p))
		}
		v, why := quantileOf(merged(hs...), q, noSuccess)
		return v, why == ""
	}
}

// All gives every series of a run by its name, over the whole run: those of the headline loads second by second, those of
// roles, processes and other sources with their names before them. The series of a counter is its growth a second
// (cpu_cores for CPU time, x_per_s for others) at the end of each interval, beside its readings as x.
func All(d *record.Data) map[string]Series {
	return newIndex(d).all(window{loads: headlineLoads(d.Run)})
}

// all gives the series of a window's loads and sources, over the whole run.
func (ix *index) all(w window) map[string]Series {
	out := map[string]Series{}
	ix.allOfLoads(w.loads, out)
	if w.ofLoad {
		return out
	}
	for _, g := range ix.groups(w) {
		for _, c := range cpuParts {
			var tracks []*track
			for _, s := range c.of {
				tracks = append(tracks, ix.tracksFor(g, s, false)...)
			}
			if len(tracks) > 0 {
				t, v := rates(tracks)
				add(out, g.prefix, series.SeriesDesc{Name: c.name, Unit: "cores", Shape: series.Gauge, Class: series.Timing, Doc: c.doc}, t, v)
			}
		}
	}
	for _, src := range ix.sources(w) {
		byName := map[string][]*track{}
		for _, tr := range ix.tracks {
			if tr.label == "" && tr.series != probeGaps && src.match(tr) {
				byName[tr.series] = append(byName[tr.series], tr)
			}
		}
		for _, name := range sortedKeys(byName) {
			tracks := byName[name]
			desc := tracks[0].desc
			t, v := valuesOf(tracks)
			add(out, src.prefix, desc, t, v)
			if desc.Shape == series.Counter && generic(name) {
				desc.Name, desc.Unit, desc.Shape, desc.Class = name+"_per_s", perSecond(desc.Unit), series.Gauge, series.Timing
				t, v := rates(tracks)
				add(out, src.prefix, desc, t, v)
			}
		}
	}
	return out
}

func add(out map[string]Series, prefix string, d series.SeriesDesc, t, v []float64) {
	d.Name = prefix + d.Name
	if _, ok := out[d.Name]; !ok && len(t) > 0 {
		out[d.Name] = Series{d, t, v}
	}
}

func (ix *index) allOfLoads(loads map[string]bool, out map[string]Series) {
	var pieces []*piece
	for i := range ix.pieces {
		if loads[ix.pieces[i].Load] {
			pieces = append(pieces, &ix.pieces[i])
		}
	}
	seconds := bySecond(pieces)
	for _, s := range loadSeries {
		var t, v []float64
		for _, k := range sortedKeys(seconds) {
			if x, ok := s.value(seconds[k]); ok {
				t, v = append(t, earliest(seconds[k])), append(v, x)
			}
		}
		add(out, "", s.desc, t, v)
	}
}

func earliest(pieces []*piece) float64 {
	t := pieces[0].start
	for _, p := range pieces {
		t = min(t, p.start)
	}
	return t
}

// ProducedSeries are the series that the runs of a scenario will have.
func ProducedSeries(k Known) []series.SeriesDesc {
	var out []series.SeriesDesc
	seen := map[string]bool{}
	put := func(prefix string, d series.SeriesDesc) {
		d.Name = prefix + d.Name
		if !seen[d.Name] {
			seen[d.Name] = true
			out = append(out, d)
		}
	}
	if k.Loads {
		for _, s := range loadSeries {
			put("", s.desc)
		}
	}
	for _, prefix := range k.prefixes() {
		for _, c := range cpuParts {
			put(prefix, gauge(c.name, "cores", series.Timing, c.doc))
		}
	}
	for _, p := range k.Probes {
		for _, s := range p.Series {
			for _, prefix := range k.prefixesOf(p, s) {
				if s.Name == threadCPU || s.Name == probeGaps {
					continue
				}
				put(prefix, s)
				if s.Shape == series.Counter && generic(s.Name) {
					put(prefix, gauge(s.Name+"_per_s", perSecond(s.Unit), series.Timing, s.Doc+", a second"))
				}
			}
		}
	}
	return out
}
