package report

import (
	"cmp"
	"math"
	"slices"
)

// What the picture of threads is bounded by.
const (
	mostThreads       = 6 // of a target
	mostThreadTargets = 4
)

// threadChart shows which threads of each target are busy: a panel for each target.
func (b *builder) threadChart(units []unit, seen []watched) Chart {
	c := Chart{Title: "CPU by thread", Seconds: b.longest(units), Phases: b.stretches(units), About: text("In cores, of the first run: the busiest threads of each target.")}
	names, _ := b.lineNames(units)
	for i := range units {
		threads := busiest(seen[i].threads)
		if len(threads) == 0 || len(c.Panels) == mostThreadTargets {
			continue
		}
		p := Panel{Title: names[i], Unit: "cores"}
		for k, tr := range threads {
			p.Lines = append(p.Lines, Line{Name: tr.Name, Key: k, Values: bySecond(tr.T, tr.V, c.Seconds)})
		}
		c.Panels = append(c.Panels, p)
	}
	return c
}

// busiest are the threads that used most, of those that used anything.
func busiest(threads []Track) []Track {
	sum := func(tr Track) (s float64) {
		for _, v := range tr.V {
			s += v
		}
		return s
	}
	threads = slices.DeleteFunc(slices.Clone(threads), func(tr Track) bool { return !(sum(tr) > 0) })
	slices.SortStableFunc(threads, func(x, y Track) int { return cmp.Compare(sum(y), sum(x)) })
	return threads[:min(len(threads), mostThreads)]
}

// upTo is the chart without what was recorded after the phases, such as cross-checks.
func (c Chart) upTo(end float64) Chart {
	n := min(int(math.Ceil(end)), c.Seconds)
	if n < 2 {
		return c
	}
	c.Seconds = n
	for i := range c.Panels {
		for j := range c.Panels[i].Lines {
			l := &c.Panels[i].Lines[j]
			l.Values = l.Values[:min(n, len(l.Values))]
		}
	}
	c.Marks = slices.DeleteFunc(slices.Clone(c.Marks), func(m Mark) bool { return m.At[0] > float64(n) })
	return c
}

// phasesEnd is when the last phase of any run ends, in seconds since the run began.
func (b *builder) phasesEnd(units []unit) (end float64) {
	for _, u := range units {
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r != nil {
				for _, p := range r.Phases {
					end = max(end, p.End)
				}
			}
		}
	}
	return end
}
