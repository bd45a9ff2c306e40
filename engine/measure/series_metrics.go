package measure

import (
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// probeGaps is what each probe says of itself; self-checks read it, and it is no metric.
const probeGaps = "probe_gaps"

// hostSpeed is the host probe's series of how much work a CPU does in its time. Its metric is the median: a single sample may
// have met an interrupt.
const hostSpeed = "host_speed"

// generic reports whether a series becomes metrics by the rule for all series, rather than in a way of its own.
func generic(name string) bool {
	switch name {
	case cpuUser, cpuKernel, threadCPU, rssPeak, probeGaps:
		return false
	}
	return true
}

// seriesMetrics describe the metrics of one series, without the name of its source.
func seriesMetrics(d series.SeriesDesc) []series.Desc {
	if !generic(d.Name) {
		return nil
	}
	one := func(name, unit string, across series.Across, doc string) series.Desc {
		return desc(name, unit, betterOf(d), across, d.Class, d.Doc+doc)
	}
	if d.Shape == series.Counter {
		perS := one(d.Name+"_per_s", perSecond(d.Unit), series.Median, ", a second")
		perS.Class = series.Timing
		return []series.Desc{
			one(d.Name, d.Unit, series.Sum, ": growth in the window"),
			perS,
			one(d.Name+"_last", d.Unit, series.Median, ": last reading in the window"),
		}
	}
	if d.Name == hostSpeed {
		return []series.Desc{one(d.Name, d.Unit, series.Median, "; the median of the samples in the window")}
	}
	out := []series.Desc{
		one(d.Name+"_last", d.Unit, series.Median, ": last sample in the window"),
		one(d.Name+"_mean", d.Unit, series.Median, ": mean of the samples in the window"),
		one(d.Name+"_max", d.Unit, series.Max, ": highest sample in the window (of parts, such as CPUs: the highest of their means)"),
	}
	if d.Unit == "cores" {
		out = append(out, one(d.Name, d.Unit, series.Median, ": mean of the samples in the window"))
	}
	return out
}

func perSecond(unit string) string {
	if unit == "" {
		return "1/s"
	}
	return unit + "/s"
}

// betterOf is the better direction of a series, which its description does not say: less of what is used, dropped or
// sent again.
func betterOf(d series.SeriesDesc) series.Better {
	switch d.Name {
	case "rss_mib", "fds", "foreign_cpu", "stolen_cpu", "listen_overflows", "listen_drops", "syn_retransmits", "tcp_retransmits":
		return series.Lower
	}
	if d.Unit == "MiB" || d.Unit == "cores" {
		return series.Lower
	}
	return series.Neither
}

// A source is a prefix of metrics and what its tracks are.
type source struct {
	prefix string
	match  func(*track) bool
}

// sources are all prefixes under which a series of the window has metrics.
func (ix *index) sources(w window) []source {
	var out []source
	for _, g := range ix.groups(w) {
		out = append(out, source{g.prefix, func(tr *track) bool { return tr.role != "" && g.match(tr.role, tr.source, tr.replica) }})
	}
	if w.process != "" {
		// What is no process's but is told apart by source and replica: a balancer's upstreams.
		return append(out, source{"", func(tr *track) bool { return tr.role == "" && tr.source == w.process && tr.replica == w.replica }})
	}
	names := map[string]bool{}
	for _, tr := range ix.tracks {
		if tr.role == "" {
			names[tr.source] = true
		}
	}
	for _, name := range sortedKeys(names) {
		prefix := ""
		if name != "" {
			prefix = Ident(name) + "_"
		}
		out = append(out, source{prefix, func(tr *track) bool { return tr.role == "" && tr.source == name }})
	}
	return out
}

// series derives the metrics of all series that follow the general rule.
func (ix *index) series(w window, out *figures) {
	for _, src := range ix.sources(w) {
		whole, parts := map[string][]*track{}, map[string][]*track{}
		for _, tr := range ix.tracks {
			if !generic(tr.series) || !src.match(tr) {
				continue
			}
			if tr.label == "" {
				whole[tr.series] = append(whole[tr.series], tr)
			} else {
				parts[tr.series] = append(parts[tr.series], tr)
			}
		}
		for _, name := range sortedKeys(whole) {
			number(src.prefix+name, whole[name], w, out)
		}
		for _, name := range sortedKeys(parts) {
			if whole[name] == nil {
				highestMean(src.prefix+name, parts[name], w, out)
			}
		}
	}
}

// number derives the metrics of one series of one source.
func number(name string, tracks []*track, w window, out *figures) {
	t, v := between(w.rates)(valuesOf(tracks))
	if tracks[0].desc.Shape == series.Counter {
		if grown, seconds := growth(tracks, w.counts, false); seconds > 0 {
			out.set(name, grown)
			out.set(name+"_per_s", grown/seconds)
		} else {
			out.missing(name, "no two samples of it lie about this window")
		}
		if len(t) > 0 {
			out.set(name+"_last", v[len(v)-1])
		}
		return
	}
	if name == hostSpeed {
		if len(t) == 0 {
			out.missing(name, "no sample of it lies in this window")
			return
		}
		out.set(name, stats.Median(v))
		return
	}
	if len(t) == 0 {
		for _, suffix := range []string{"_last", "_mean", "_max"} {
			out.missing(name+suffix, "no sample of it lies in this window")
		}
		return
	}
	out.set(name+"_last", v[len(v)-1])
	out.set(name+"_mean", mean(v))
	out.set(name+"_max", maxOf(v))
	if tracks[0].desc.Unit == "cores" {
		out.set(name, mean(v))
	}
}

// highestMean derives the one metric of a series that has parts only.
func highestMean(name string, tracks []*track, w window, out *figures) {
	best, seen := 0.0, false
	for _, tr := range tracks {
		if _, v := within(tr.t, tr.v, w.rates); len(v) > 0 && tr.desc.Shape == series.Gauge {
			best, seen = max(best, mean(v)), true
		}
	}
	if seen {
		out.set(name+"_max", best)
	}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
