package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/internal/plural"
)

// What the pictures of a report are bounded by, so that it is written within seconds and opens at once.
const (
	mostPictured = 8     // groups of cells that are drawn over time
	mostLines    = 8     // targets in one picture
	mostRuns     = 5     // runs of a cell that are read
	mostSeconds  = 6_000 // recorded seconds that are read for pictures in all
	mostOfOne    = 5_000 // and for one group, unless one run of each target takes more
	mostPanels   = 24    // groups in the picture of all
	mostUndrawn  = 6     // names of groups that are not drawn
)

// A group is the cells that differ in the target alone.
type group struct {
	units []unit
	name  string
	runs  int // of a cell that are read
}

func (b *builder) comparable() (out []group) {
	all := make([]int, len(b.res.Cells))
	for i := range all {
		all[i] = i
	}
	units, _ := b.units(all)
	for _, g := range b.groups(units, append([]string{"stage", "scenario"}, b.axes...)) {
		c := g[0].cell.Coord
		c.Target = ""
		out = append(out, group{units: g, name: b.name(c)})
	}
	return out
}

// overview shows the metric by which targets are compared, with its range, scenario by scenario.
func overview(b *builder) ([]Section, error) {
	var r Ranges
	groups := b.comparable()
	var undrawn []string
	var scales []string // by group of r: what has the same scenario and metric, in whatever stage, has the same scale
	for _, g := range groups {
		names := b.headline(g.units)
		if len(names) == 0 {
			continue
		}
		m := compare.ParseName(names[0])
		slices.SortStableFunc(g.units, func(x, y unit) int { // a stage may run its targets in another order
			return cmp.Compare(b.rank["target"][x.at("target")], b.rank["target"][y.at("target")])
		})
		bars := b.ranges(g.units, m)
		switch {
		case len(bars) == 0:
		case len(r.Groups) == mostPanels:
			undrawn = append(undrawn, g.name)
		default:
			r.Groups = append(r.Groups, RangeGroup{Title: g.name, Label: b.label(m), Bars: bars})
			scales = append(scales, g.units[0].key(append([]string{"scenario"}, b.axes...))+"\x00"+m.Text)
		}
	}
	share(r.Groups, scales)
	if len(r.Groups) == 0 {
		return nil, nil
	}
	r.Title = "Medians of the runs; lines span the lowest and the highest run; ? marks what a guard spoils."
	s := Section{Title: "At a glance", Pictures: true, Blocks: []Block{r}}
	if len(undrawn) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("Not drawn: ", some(undrawn, mostUndrawn), ". The tables have the figures.")})
	}
	return []Section{s}, nil
}

// pictures show over time what happened in each scenario, its latencies, and what it took.
func pictures(b *builder) ([]Section, error) {
	if b.in.Series == nil {
		return nil, nil
	}
	s := Section{Title: "Over time", Pictures: true}
	groups, left := b.worthwhile()
	for _, g := range groups {
		blocks, err := b.picture(g)
		if err != nil {
			return nil, fmt.Errorf("drawing %s: %w", g.name, err)
		}
		if len(blocks) > 0 {
			s.Blocks = append(append(s.Blocks, Heading{g.name}), blocks...)
		}
	}
	if len(s.Blocks)+len(left) == 0 {
		return nil, nil
	}
	if len(left) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("Not drawn, so that this page opens at once: ", some(left, mostUndrawn), ". A section ", mono("chart: p99_ms"), " of the plan's report with a ", mono("where"), " draws what it selects.")})
	}
	return []Section{s}, nil
}

// worthwhile are the groups that are drawn, in their order, and the names of those that are not. What changes in the middle
// of a run comes before what is steady; a stage that repeats another one comes after these, and what is not compared last.
func (b *builder) worthwhile() (drawn []group, left []string) {
	groups := b.comparable()
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	seen := map[string]bool{}
	rank := make([]int, len(groups))
	for i, g := range groups {
		switch {
		case seen[g.units[0].key(append([]string{"scenario"}, b.axes...))]:
			rank[i] = 3
		case len(b.headline(g.units)) == 0:
			rank[i] = 4
		case len(b.windows(g.units)) > 1:
			rank[i] = 0
		case b.openLoop(g.units):
			rank[i] = 1
		default:
			rank[i] = 2
		}
		seen[g.units[0].key(append([]string{"scenario"}, b.axes...))] = true
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(rank[x], rank[y]) })
	chosen := map[int]bool{}
	budget := float64(mostSeconds)
	for _, i := range order {
		g := &groups[i]
		g.runs = mostRuns
		for g.runs > 1 && b.cost(*g) > mostOfOne {
			g.runs--
		}
		cost := b.cost(*g)
		if len(chosen) < mostPictured && cost > 0 && cost <= budget {
			chosen[i] = true
			budget -= cost
		}
	}
	for i, g := range groups {
		switch {
		case chosen[i]:
			drawn = append(drawn, g)
		case b.cost(g) > 0:
			left = append(left, g.name)
		}
	}
	return drawn, left
}

// cost of a picture is how many recorded seconds it reads.
func (b *builder) cost(g group) (seconds float64) {
	for _, u := range g.units[:min(len(g.units), mostLines)] {
		n := 0
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r != nil && len(r.Phases) > 0 && n < g.runs {
				n++
				seconds += r.Seconds
			}
		}
	}
	return seconds
}

// picture draws one group.
func (b *builder) picture(g group) ([]Block, error) {
	var units []unit
	for _, u := range g.units {
		if b.firstRun([]unit{u}) != nil {
			units = append(units, u)
		}
	}
	about := "In each second the median of the runs."
	if len(units) > mostLines {
		var names []string
		for _, u := range units[mostLines:] {
			names = append(names, u.at("target"))
		}
		about += " Not drawn: " + oneLine(strings.Join(names, ", ")) + "."
		units = units[:mostLines]
	}
	load := []string{"p99_ms", "req_per_s", "failed"}
	use := []string{"sut_cpu_cores", "sut_rss_mib", "load_cpu_cores"}
	seen := make([]watched, len(units))
	for i, u := range units {
		w, err := b.watch(u, slices.Concat(load, use), g.runs, true)
		if err != nil {
			return nil, err
		}
		if n := len(u.cell.Runs); n > w.runs && i == 0 {
			about += fmt.Sprintf(" Of %d runs of a cell the first %s drawn.", n, plural.Verb(w.runs, "is", fmt.Sprintf("%d are", w.runs)))
		}
		seen[i] = w
	}
	var blocks []Block
	for _, part := range []struct {
		title, counts string
		names         []string
	}{{"Latency, rate and failures", "A request counts in the second in which it was due (in a closed loop: sent).", load}, {"What the target and the load generator used", "", use}} {
		c, err := b.chartOf(units, seen, part.names)
		if err != nil {
			return nil, err
		}
		if len(c.Panels) == 0 {
			continue
		}
		c.Title, c.About = part.title, join(slices.DeleteFunc([]Text{text(about), text(part.counts), c.About}, func(t Text) bool { return len(t) == 0 }), " ")
		blocks = append(blocks, c.upTo(b.phasesEnd(units)))
	}
	if c := b.threadChart(units, seen); len(c.Panels) > 0 {
		blocks = append(blocks, c.upTo(b.phasesEnd(units)))
	}
	if p := b.distributions(units, seen); len(p.Lines) > 0 {
		p.Title = "Latency by percentile"
		p.About = text("Of the headline phases; the histograms of the runs are merged, percentiles never averaged.")
		blocks = append(blocks, p)
	}
	return blocks, nil
}
