package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/plural"
)

// generatorFigures is the most that the generator used and was late by, and the most of a rate that it missed, each with where
// that was: by its own doing, since what waits for a slow target is late too.
func (b *builder) generatorFigures() string {
	parts := slices.DeleteFunc([]string{b.mostCPU(), b.mostDelay(), b.leastRate()}, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return ""
	}
	return " At its worst, " + strings.Join(parts, "; ") + "."
}

// mostCPU is the most CPU that the generator used, and the longest that it waited for one, of closed loops: an open one may spin
// while it waits for due times, so that its delay is what tells. It says of how many cells that is not known, and why.
func (b *builder) mostCPU() string {
	const metric = "load_cpu_cores"
	var at, waited *record.Cell
	var most, wait float64
	of, known, why := 0, 0, ""
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		if !b.loaded(c) || b.openLoop([]unit{{cell: c}}) {
			continue
		}
		of++
		if w := b.waits(c); w > wait {
			wait, waited = w, c
		}
		r := compare.Read(c, "", compare.ParseName(metric+".max"))
		if r.Why != "" {
			why = strings.TrimPrefix(r.Why, metric+": ")
			continue
		}
		if known++; at == nil || r.Value > most {
			most, at = r.Value, c
		}
	}
	if at == nil {
		return ""
	}
	s := fmt.Sprintf("in closed loops (an open one may spin between requests) it used up to %s", number(most, series.Timing))
	if cpus := b.loadCPUs(at); cpus > 0 {
		s += " of " + plural.Of(cpus, "CPU")
	}
	s += " (" + b.name(at.Coord)
	if known < of {
		s += fmt.Sprintf("; of %d of %s only the guard generator-cpu knows how much: %s", of-known, plural.Of(of, "cell"), oneLine(why))
	}
	s += ")"
	if wait > 0 {
		s += fmt.Sprintf(" and was ready to run without a CPU for up to %s of the time (%s)", percent(wait), b.name(waited.Coord))
	}
	return s
}

// waits is the largest share of the time that a worker of one of a cell's loads was ready to run and had no CPU, in the run in
// which they waited most; 0 if that is not known. As in the guard, each load's waiting is by its own workers.
func (b *builder) waits(c *record.Cell) (share float64) {
	workers := map[string]int{} // by the metric of their load
	for _, id := range c.Runs {
		if r := b.runs[id]; r != nil {
			for _, l := range r.Loads {
				metric := measure.Ident(l.Name) + "_generator_run_wait_s_per_s"
				workers[metric] = max(1, workers[metric], l.Workers)
			}
		}
	}
	for metric, n := range workers {
		if v := c.Metrics[""][metric]; len(v.Runs) > 0 {
			share = max(share, min(1, slices.Max(v.Runs)/float64(n)))
		}
	}
	return share
}

// mostDelayed bounds the cells that are named because the generator's own delay was above their p99.
const mostDelayed = 3

// mostDelay is the generator's longest own delay in sending, of open loops (in a closed one a request is due when it is sent),
// and where that is more than the p99 that it stands beside.
func (b *builder) mostDelay() string {
	var at *record.Cell
	var most float64
	var above []string
	of := 0
	says := func(c *record.Cell) string {
		p99 := compare.Read(c, "", compare.ParseName("p99_ms"))
		if p99.Why != "" {
			return b.name(c.Coord)
		}
		return fmt.Sprintf("%s, p99_ms %s", b.name(c.Coord), number(p99.Value, series.Timing))
	}
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		if !b.loaded(c) || !b.openLoop([]unit{{cell: c}}) {
			continue
		}
		of++
		own := b.ownLag(c)
		if own > most {
			most, at = own, c
		}
		if p99 := compare.Read(c, "", compare.ParseName("p99_ms")); p99.Why == "" && own > p99.Value {
			above = append(above, fmt.Sprintf("%s ms in %s", number(own, series.Timing), says(c)))
		}
	}
	if at == nil {
		return ""
	}
	s := fmt.Sprintf("in open loops its own delay in sending reached %s ms (%s)", number(most, series.Timing), says(at))
	if len(above) > 0 {
		s += fmt.Sprintf("; that was above the p99_ms beside it in %d of %s (%s), where the highest latencies may be its own", len(above), plural.Of(of, "cell"), list(above, mostDelayed))
	}
	return s
}

// leastRate is the most of a rate that the generator missed.
func (b *builder) leastRate() string {
	var at *record.Cell
	least := 1.0
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		if r := compare.Read(c, "", compare.ParseName("rate_delivered.min")); r.Why == "" && r.Value < least {
			least, at = r.Value, c
		}
	}
	if at == nil {
		return ""
	}
	return fmt.Sprintf("it missed %s of the asked rate by its own doing (%s)", percent(1-least), b.name(at.Coord))
}

// loaded reports whether a cell has results of a load.
func (b *builder) loaded(c *record.Cell) bool {
	return c.Status.HasResults() && slices.ContainsFunc(c.Runs, func(id string) bool { r := b.runs[id]; return r != nil && len(r.Loads) > 0 })
}

// ownLag is the largest delay of the generator itself in sending a request of a cell, in milliseconds: after both the request
// and a connection were there.
func (b *builder) ownLag(c *record.Cell) (ms float64) {
	for _, id := range c.Runs {
		if r := b.runs[id]; r != nil {
			for _, l := range r.Loads {
				for phase, n := range l.Totals {
					if r.Counts(&l, phase) {
						ms = max(ms, float64(n.StalledLagNs)/1e6)
					}
				}
			}
		}
	}
	return ms
}

// loadCPUs is how many CPUs the loads of a cell have; 0 if that is not known.
func (b *builder) loadCPUs(c *record.Cell) int {
	for _, id := range c.Runs {
		r := b.runs[id]
		if r == nil {
			continue
		}
		var cpus []int
		for _, l := range r.Loads {
			cpus = append(cpus, l.CPUs...)
		}
		slices.Sort(cpus)
		if cpus = slices.Compact(cpus); len(cpus) > 0 {
			return len(cpus)
		}
	}
	if e := b.in.Environment; e != nil {
		return e.CPUs
	}
	return 0
}
