package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// ofGenerator are the guards that say whether the load generator was what limited a run.
var ofGenerator = []string{"generator-cpu", "generator-known", "generator", "rate-delivered", "send-lag", "connections", "descriptors", "ports"}

func isOfGenerator(g record.Guard) bool { return slices.Contains(ofGenerator, g.Name) }

// generator says in the findings whether the load generator was the bottleneck, also when it was not, and what it was seen
// to do.
func (b *builder) generator() []Text {
	var limited, unknown, loaded []*record.Run
	words := map[string][]*record.Run{}
	var order []string
	example, held := "", 0
	for _, r := range b.in.Runs {
		if len(r.Loads) == 0 {
			continue
		}
		loaded = append(loaded, r)
		for _, g := range r.Guards {
			switch {
			case !isOfGenerator(g):
			case g.OK:
				held++
			case g.Name == "generator-known":
				unknown = append(unknown, r)
			default:
				limited = append(limited, r)
				if words[g.Name] == nil {
					order = append(order, g.Name)
				}
				words[g.Name] = append(words[g.Name], r)
				if example == "" {
					example = strings.TrimPrefix(oneLine(g.Message), bottleneck+": ")
				}
			}
		}
	}
	if len(loaded) == 0 || held+len(limited)+len(unknown) == 0 {
		return nil
	}
	seen := b.generatorFigures()
	var items []Text
	switch n := distinct(limited); {
	case n > 0:
		var parts []string
		for _, name := range order {
			parts = append(parts, fmt.Sprintf("%s (%s, in %s)", strings.TrimPrefix(guardWords[name], bottleneck+": "), name, b.inRuns(words[name])))
		}
		items = append(items, text(doubtful(upper(bottleneck)+" in "+b.share(n, len(loaded))), ": "+strings.Join(parts, "; ")+". Latencies, rates and CPU figures of these are not to be trusted. Seen: "+example+"."+seen))
	case distinct(unknown) < len(loaded):
		items = append(items, text("The load generator was not the bottleneck in any run: ", count(held, "guard")+" of it held."+seen))
	}
	if n := distinct(unknown); n > 0 {
		items = append(items, text(doubtful("Whether the load generator had the CPU that it needed is not known in "+b.share(n, len(loaded))), ": "+b.inRuns(unknown)+"; "+taintWords["timing"]+"."))
	}
	return items
}

// share is n of all runs in words.
func (b *builder) share(n, all int) string {
	if n == all && n > 1 {
		return "all " + count(all, "run")
	}
	return fmt.Sprintf("%d of %s", n, count(all, "run"))
}

// generatorFigures is the most that the generator used and was late by, and the most of a rate that it missed, over all
// cells with where that was: by its own doing, since what waits for a slow target is late too. CPU is that of closed loops: an
// open one may spin while it waits for due times, so its lag is what tells.
func (b *builder) generatorFigures() string {
	var cpu, lag, rate float64
	var cpuAt, lagAt, rateAt *record.Cell
	cores := 0
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		open := b.openLoop([]unit{{cell: c}})
		worst := func(metric, stat string, value *float64, at **record.Cell, more bool) {
			r := compare.Read(c, "", compare.ParseName(metric+stat))
			if r.Why == "" && (*at == nil || (r.Value > *value) == more && r.Value != *value) {
				*value, *at = r.Value, c
			}
		}
		if open {
			if own := b.ownLag(c); own > lag {
				lag, lagAt = own, c
			}
			worst("rate_delivered", ".min", &rate, &rateAt, false)
			continue
		}
		before := cpuAt
		if worst("load_cpu_cores", ".max", &cpu, &cpuAt, true); cpuAt != before {
			cores = b.loadCPUs(c)
		}
	}
	var parts []string
	if cpuAt != nil {
		of := ""
		if cores > 0 {
			of = fmt.Sprintf(" of %d CPUs", cores)
			if cores == 1 {
				of = " of 1 CPU"
			}
		}
		parts = append(parts, fmt.Sprintf("in closed loops it used up to %s%s (%s)", number(cpu, series.Timing), of, b.name(cpuAt.Coord)))
	}
	if lagAt != nil {
		parts = append(parts, fmt.Sprintf("in open loops its own delay in sending was %s ms (%s)", number(lag, series.Timing), b.name(lagAt.Coord)))
	}
	if rateAt != nil && rate < 1 {
		parts = append(parts, fmt.Sprintf("it missed %s of the asked rate by its own doing (%s)", percent(1-rate), b.name(rateAt.Coord)))
	}
	if len(parts) == 0 {
		return ""
	}
	return " At its worst, " + strings.Join(parts, "; ") + "."
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
