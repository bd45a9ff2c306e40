package report

import (
	"cmp"
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

// generatorFigures are the most that the generator used and was late by, and the most of a rate that it missed, each with where
// that was: by its own doing, since what waits for a slow target is late too.
func (b *builder) generatorFigures() (items []Text) {
	for _, t := range []Text{text(b.mostCPU()), b.mostDelay(), text(b.leastRate())} {
		if t != nil {
			items = append(items, text(t, "."))
		}
	}
	return items
}

// cpuMetric is the CPU that all loads of a run used. It has no value where a window is too short for its samples.
const cpuMetric = "load_cpu_cores"

// A spending is what the load generator used of its CPUs in closed loops, and how long it waited for one. An open loop may spin
// between requests: there its own delay tells.
type spending struct {
	runs, known int    // with a load that ran in a closed loop; of which the metric or a guard knows
	byGuard     int    // of which only a guard knows
	why         string // the metric has no value, of the first of these
	whyUnknown  string // the same, of the first of which nothing is known

	used       cpuUse // the most
	at, waited *record.Cell
	wait       float64
}

// A cpuUse is what was used of so many CPUs; 0 if it is not known of how many.
type cpuUse struct {
	cores float64
	cpus  int
}

// above reports whether u left less of its CPUs than v. Without the number of CPUs on both sides cores are compared.
func (u cpuUse) above(v cpuUse) bool {
	if u.cpus > 0 && v.cpus > 0 {
		return u.cores*float64(v.cpus) > v.cores*float64(u.cpus)
	}
	return u.cores > v.cores
}

// spending reads the metric of each run, and what guards saw, who count the time of the generator's workers by themselves. Both
// read it from different samples: the larger part of the CPUs that either knows is kept.
func (b *builder) spending() (s spending) {
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		if !b.loaded(c) || b.openLoop([]unit{{cell: c}}) {
			continue
		}
		if w := b.waits(c); w > s.wait {
			s.wait, s.waited = w, c
		}
		for _, id := range c.Runs {
			if r := b.runs[id]; r != nil && len(r.Loads) > 0 && r.Status.HasResults() {
				s.add(c, r, b.loadCPUs(c))
			}
		}
	}
	return s
}

// add takes in a run of a cell whose loads have so many CPUs.
func (s *spending) add(c *record.Cell, r *record.Run, cpus int) {
	s.runs++
	cores, byMetric := r.Metrics[""].Get(cpuMetric)
	most, known := cpuUse{cores, cpus}, byMetric
	for _, g := range r.Guards {
		if g.Seen == nil || g.Name != "generator-cpu" && g.Name != "busy-machine" {
			continue
		}
		if u := (cpuUse{g.Seen.Cores, g.Seen.CPUs}); !known || u.above(most) {
			most, known = u, true
		}
	}
	why := strings.TrimPrefix(oneLine(r.Missing[cpuMetric]), cpuMetric+": ")
	if !known {
		s.whyUnknown = cmp.Or(s.whyUnknown, why)
		return
	}
	s.known++
	if !byMetric {
		s.byGuard++
		s.why = cmp.Or(s.why, why)
	}
	if s.at == nil || most.above(s.used) {
		s.used, s.at = most, c
	}
}

// mostCPU says the largest part of its CPUs that the generator used in a closed loop, the longest that it waited for one, of how many runs that is
// known, and by what.
func (b *builder) mostCPU() string {
	s := b.spending()
	if s.at == nil {
		return ""
	}
	words := "At its worst the load generator used " + number(s.used.cores, series.Timing)
	if s.used.cpus > 0 {
		words += " of " + plural.Of(s.used.cpus, "CPU")
	}
	words += " in a closed loop (" + b.name(s.at.Coord) + ")"
	if s.wait > 0 {
		words += fmt.Sprintf(" and was ready to run without a CPU for %s of the time (%s)", percent(s.wait), b.name(s.waited.Coord))
	}
	return words + "; " + s.of() + ". In an open loop it may spin between requests, and its own delay tells"
}

// of says of how many runs that is known, and which figure speaks where the metric has no value.
func (s *spending) of() string {
	words := "that is of all " + plural.Of(s.runs, "run") + " with a closed loop"
	if n := s.runs - s.known; n > 0 || s.runs == 1 {
		words = fmt.Sprintf("that is of %d of %s with a closed loop", s.known, plural.Of(s.runs, "run"))
		if n > 0 {
			words += fmt.Sprintf(", of the other %d it is not known", n) + reasonOf(s.whyUnknown)
		}
	}
	if s.byGuard > 0 {
		words += fmt.Sprintf("; in %d of these %s has no value%s, and what speaks is the generator's own count of its CPU time, which the guard generator-cpu reads", s.byGuard, cpuMetric, reasonOf(s.why))
	}
	return words
}

// reasonOf is a reason in brackets, without its details; "" if there is none.
func reasonOf(why string) string {
	if why, _, _ = strings.Cut(why, ":"); why == "" {
		return ""
	}
	return " (" + why + ")"
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
		if v := c.Metrics[""].Value(metric); len(v.Runs) > 0 {
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
	return fmt.Sprintf("The load generator missed up to %s of the asked rate by its own doing (%s)", percent(1-least), b.name(at.Coord))
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
