package published

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/plural"
)

// A group is the figures of one metric of one cell.
type group struct {
	*assigner
	cell *Cell
	desc series.Desc
	by   map[string]*Figure // by statistic
	n    int
}

// neverNegative are units of what is never negative.
var neverNegative = []string{"ms", "us", "s", "req/s", "cores", "MiB", "KiB", "B", "bytes"}

func (g *group) neverNegative() bool {
	return g.desc.Across == series.Sum || slices.Contains(neverNegative, g.desc.Unit)
}

// counts reports whether the metric is a number of things.
func (g *group) counts() bool {
	return g.desc.Class == series.Count && g.desc.Unit == "" && g.desc.Across == series.Sum
}

// fold makes the runs of a cell of the figures of one metric, or keeps them as they are where single runs are not known.
func (a *assigner) fold(c *Cell, d series.Desc, figures []*Figure) {
	g := &group{assigner: a, cell: c, desc: d, by: map[string]*Figure{}, n: c.Repeats}
	bad := len(a.list)
	for _, f := range figures {
		g.by[f.Statistic] = f
		switch k, single := run(f.Statistic); {
		case single && k > g.n:
			a.say(f, statisticColumn, "change repeats in the plan, or leave the line out", "the plan says that %s has %s, but here is %s", c.Scenario, plural.Of(g.n, "run"), f.Statistic)
		case g.neverNegative() && f.Value.Value < 0:
			a.say(f, valueColumn, "write what was published", "%s is never negative, have %s", d.Name, f.Value.Text)
		}
		if g.counts() {
			f.Value = f.Value.exact()
		}
	}
	if len(a.list) > bad {
		return
	}
	runs, ranked, ok := g.runs()
	if !ok || !g.ordered() {
		return
	}
	if runs == nil {
		g.whole()
		return
	}
	if !g.fits(runs) {
		return
	}
	if ranked {
		c.Ranked = append(c.Ranked, d.Name)
	}
	for i, v := range runs {
		c.Runs[i][d.Name] = v.Value
	}
}

// run is the number of a single run that a statistic names.
func run(statistic string) (n int, single bool) {
	m := singles.FindStringSubmatch(statistic)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// runs are the values of the single runs, nil if they are not known; ranked if it is not known which run gave which.
// ok is false if some are missing, which is reported.
func (g *group) runs() (runs []Printed, ranked, ok bool) {
	var missing []string
	for i := range g.n {
		name := fmt.Sprintf("run%d", i+1)
		if f := g.by[name]; f != nil {
			runs = append(runs, f.Value)
		} else {
			missing = append(missing, name)
		}
	}
	low, mid, high, sum := g.by["min"], g.by["median"], g.by["max"], g.by["sum"]
	equal := func(v Printed) []Printed { return slices.Repeat([]Printed{v}, g.n) }
	switch {
	case len(runs) == g.n:
		return runs, false, true
	case len(runs) > 0:
		f := g.first()
		g.say(f, statisticColumn, "give every run, or statistics of all of them", "%s of %s on %s has no %s", g.desc.Name, g.cell.Scenario, g.cell.Target, listed(missing))
		return nil, false, false
	case g.n == 1:
		return []Printed{g.first().Value}, false, true
	case low != nil && high != nil && low.Value.Value == high.Value.Value:
		return equal(low.Value), false, true
	case low != nil && high != nil && g.n == 2:
		return []Printed{low.Value, high.Value}, true, true
	case low != nil && high != nil && mid != nil && g.n == 3:
		return []Printed{low.Value, mid.Value, high.Value}, true, true
	case g.neverNegative() && sum != nil && sum.Value.Value == 0:
		return equal(sum.Value), false, true
	case g.neverNegative() && high != nil && high.Value.Value == 0:
		return equal(high.Value), false, true
	}
	return nil, false, true
}

// first is the figure that stands first in the file.
func (g *group) first() (first *Figure) {
	for _, f := range g.by {
		if first == nil || f.at[0].Line < first.at[0].Line {
			first = f
		}
	}
	return first
}

// whole keeps what is known of all runs together; the statistic that is the cell's value has to be among it.
func (g *group) whole() {
	whole := map[string]float64{}
	var have []string
	for _, s := range statistics {
		if f := g.by[s]; f != nil {
			whole[s] = f.Value.Value
			have = append(have, s)
		}
	}
	if want := string(g.desc.Across); g.by[want] == nil {
		g.say(g.first(), statisticColumn, fmt.Sprintf("add its %s, or every run; or declare %s under metrics with the across that fits", want, g.desc.Name),
			"the value of %s is the %s of the %s of %s on %s, but the file gives %s only", g.desc.Name, want, plural.Of(g.n, "run"), g.cell.Scenario, g.cell.Target, listed(have))
		return
	}
	g.cell.Whole[g.desc.Name] = whole
}

// of are the statistics of runs.
var of = map[string]func([]float64) float64{"median": stats.Median, "min": slices.Min[[]float64], "max": slices.Max[[]float64], "sum": stats.Sum, "mean": stats.Mean}
