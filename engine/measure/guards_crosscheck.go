package measure

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/engine/crosscheck"
	"github.com/planrun/planrun/engine/record"
)

// crossWindow names the window of what a generator measured of a load; that of the load's own figures is of "planrun".
func crossWindow(load, generator string) string { return "cross-check/" + load + "/" + generator }

// compared is what a load did in the phases that it is judged on, in the terms of other generators.
func (ix *index) compared(l *record.Load) record.Figures {
	j := judge{ix: ix, run: ix.d.Run, rates: headlineSpans(ix.d.Run.Phases)}
	s := j.headline(l)
	f := record.Figures{Failed: failed(&s.counts)}
	f.Requests = s.counts.OK + f.Failed
	if s.seconds > 0 {
		f.ReqPerS = float64(s.counts.OK) / s.seconds
	}
	at := func(q float64) *float64 {
		v, why := quantileOf(s.service(), q, noSuccess)
		if why != "" {
			return nil
		}
		return &v
	}
	f.P50, f.P90, f.P99, f.P999 = at(0.5), at(0.9), at(0.99), at(0.999)
	return f
}

// crossChecks makes metrics of what other generators measured, and of what the load's own are that they stand beside.
func (ix *index) crossChecks() {
	for i := range ix.d.Run.Loads {
		l := &ix.d.Run.Loads[i]
		if len(l.CrossChecks) == 0 {
			continue
		}
		own := ix.compared(l)
		ix.d.Run.Metrics[crossWindow(l.Name, "planrun")] = record.WindowOf(metricsOf(&own))
		for _, c := range l.CrossChecks {
			if c.Figures != nil {
				ix.d.Run.Metrics[crossWindow(l.Name, c.Generator)] = record.WindowOf(metricsOf(c.Figures))
			}
		}
	}
}

// metricsOf names figures as those of loads are named.
func metricsOf(f *record.Figures) map[string]float64 {
	out := newFigures()
	out.set("requests", float64(f.Requests))
	out.set("failed", float64(f.Failed))
	out.set("req_per_s", f.ReqPerS)
	for name, v := range map[string]*float64{"service_p50_ms": f.P50, "service_p90_ms": f.P90, "service_p99_ms": f.P99, "service_p99_9_ms": f.P999} {
		if v != nil {
			out.set(name, *v)
		}
	}
	return out.values
}

// bestP50 is the lowest p50 of a load's own seconds, in milliseconds: what its generator adds, it adds in each of them, while
// what else is on the machine comes and goes. Seconds with few answers do not count, unless there are no others.
func (ix *index) bestP50(l *record.Load) (best float64, ok bool) {
	j := judge{ix: ix, run: ix.d.Run, rates: headlineSpans(ix.d.Run.Phases)}
	s := j.headline(l)
	for _, p := range s.wholeSeconds() {
		if p.Service.Count() < crosscheck.Enough {
			continue
		}
		if v, why := quantileOf(p.Service, 0.5, noSuccess); why == "" && (!ok || v < best) {
			best, ok = v, true
		}
	}
	if !ok {
		v, why := quantileOf(s.service(), 0.5, noSuccess)
		return v, why == ""
	}
	return best, true
}

// crossCheck holds the load's own p50 against those of other generators. It is the load generator that took longer if even
// in its best second it is far above most of them, in the service time: what a slow target adds, all of them see. Other
// work with a share s of the machine's CPUs can make anything take 1/(1-s) as long, and the generators ran at another time:
// so where that share is worth a warning, it is taken off the load's own first. A target that was running already may be part of
// that share and cannot be told from the rest of it: so the guard is lenient there, and says it.
func (j *judge) crossCheck(l *record.Load) {
	const name, known = "cross-check", "cross-checked"
	if len(l.CrossChecks) == 0 {
		return
	}
	own, ok := j.ix.bestP50(l)
	if why := crosscheck.Comparable(j.ix.compared(l)); why != "" || !ok {
		j.add(known, l.Name, false, "", "load %s cannot be held against other generators: of its own requests, %s", l.Name, why)
		return
	}
	held, less := own, ""
	if share, known := j.foreignShare(); known && share > j.t.ForeignWarn {
		held *= 1 - min(share, 1)
		less = fmt.Sprintf(", with %s taken off, the share of the CPUs that other work had%s", percent(share), j.targetToo())
	}
	var seen, not []string
	above, failed := 0, false
	for _, c := range l.CrossChecks {
		why := c.NotRun
		if c.Figures != nil {
			why = crosscheck.Comparable(*c.Figures)
		}
		if why != "" {
			failed = failed || c.Figures == nil || why != c.Figures.Otherwise
			not = append(not, c.Generator+": "+why)
			continue
		}
		if crosscheck.Above(held, *c.Figures.P50) {
			above++
		}
		seen = append(seen, fmt.Sprintf("%s %.4g ms", c.Generator, *c.Figures.P50))
	}
	if len(seen) == 0 {
		j.add(known, l.Name, !failed, "", "no other generator could be held against load %s: %s", l.Name, strings.Join(not, "; "))
		return
	}
	j.add(name, l.Name, 2*above <= len(seen), taintsTiming, "half of the requests of load %s took the load generator %.4g ms and more in its best second, from the send; at the same endpoint other generators saw %s (at most %s and %v ms above half of them%s)",
		l.Name, own, strings.Join(seen, ", "), percent(crosscheck.Share), crosscheck.Least, less)
}
