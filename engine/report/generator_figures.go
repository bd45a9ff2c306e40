package report

import (
	"fmt"
	"iter"
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
// while it waits for due times, so that its delay is what tells. Guards and metrics read it from different samples: what is said
// is the most that either knows. It says of how many cells nothing is known.
func (b *builder) mostCPU() string {
	var at, waited *record.Cell
	var most, wait float64
	of, known, cpus, why := 0, 0, 0, ""
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		if !b.loaded(c) || b.openLoop([]unit{{cell: c}}) {
			continue
		}
		of++
		if w := b.waits(c); w > wait {
			wait, waited = w, c
		}
		cores, n, unknown := b.cores(c)
		if unknown != "" {
			why = unknown
			continue
		}
		if known++; at == nil || cores > most {
			most, cpus, at = cores, n, c
		}
	}
	if at == nil {
		return ""
	}
	s := fmt.Sprintf("in closed loops (an open one may spin between requests) it used up to %s", number(most, series.Timing))
	if cpus > 0 {
		s += " of " + plural.Of(cpus, "CPU")
	}
	s += " (" + b.name(at.Coord)
	if known < of {
		s += fmt.Sprintf("; of %d of %s it is not known: %s", of-known, plural.Of(of, "cell"), oneLine(why))
	}
	s += ")"
	if wait > 0 {
		s += fmt.Sprintf(" and was ready to run without a CPU for up to %s of the time (%s)", percent(wait), b.name(waited.Coord))
	}
	return s
}

// cores is the most CPU that the generator used in a run of a cell, of how many CPUs: of all its loads as the metric has it, or of
// one as a guard saw it. Why says that neither knows.
func (b *builder) cores(c *record.Cell) (most float64, of int, why string) {
	const metric = "load_cpu_cores"
	r := compare.Read(c, "", compare.ParseName(metric+".max"))
	if r.Why == "" {
		most, of = r.Value, b.loadCPUs(c)
	}
	for s := range b.sawOf(c, "generator-cpu", "busy-machine") {
		if r.Why = ""; s.Cores > most {
			most, of = s.Cores, s.CPUs
		}
	}
	return most, of, strings.TrimPrefix(r.Why, metric+": ")
}

// sawOf goes through what guards of these names saw in a cell's runs, with whether they held.
func (b *builder) sawOf(c *record.Cell, names ...string) iter.Seq2[*record.Seen, bool] {
	return func(yield func(*record.Seen, bool) bool) {
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			for _, g := range r.Guards {
				if g.Seen != nil && slices.Contains(names, g.Name) && !yield(g.Seen, g.OK) {
					return
				}
			}
		}
	}
}

// waits is the largest share of the time that a worker of one of a cell's loads was ready to run and had no CPU, in the run in
// which they waited most, as a guard or the metric has it; 0 if that is not known. Each load's waiting is by its own workers.
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
	for s := range b.sawOf(c, "generator-cpu", "busy-machine") {
		share = max(share, s.Waited)
	}
	for metric, n := range workers {
		if v := c.Metrics[""][metric]; len(v.Runs) > 0 {
			share = max(share, min(1, slices.Max(v.Runs)/float64(n)))
		}
	}
	return share
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
