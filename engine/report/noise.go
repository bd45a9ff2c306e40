package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
)

// noise is the section of how far the same thing comes to differ from itself: between runs, between stages, and by being
// watched.
func noise(b *builder) ([]Section, error) {
	scenarios := b.byScenario()
	if len(scenarios) == 0 {
		return nil, nil
	}
	var blocks []Block
	if t := b.floors(); len(t.Rows) > 0 {
		blocks = append(blocks, t)
	}
	blocks = slices.Concat(blocks, b.medians(scenarios), b.reruns(), b.watched())
	if len(blocks) == 0 { // nothing was compared
		return nil, nil
	}
	return []Section{{Title: "Noise", Blocks: append([]Block{
		Paragraph{text("A ratio within the noise floor may be chance. The floor is the larger of two: what the runs of a cell scatter, of all cells of the scenario together, and how far a ratio of two cells typically differs from itself in a stage that repeats theirs; what moved all cells of a stage alike is in no ratio, so it is not part of it (a scenario of a single cell has no ratio: there it is how far the cell is from itself). A ratio in a table has a floor of its own, which may be far above that: of the runs of its two sides, of how far the cells that ran beside them typically moved, and of how far this ratio itself moved.")},
	}, blocks...)}}, nil
}

// byScenario are the cells that have a result, by scenario, in the order in which they are shown.
func (b *builder) byScenario() [][]unit {
	var units []unit
	for i := range b.res.Cells {
		if c := &b.res.Cells[i]; c.Status.HasResults() {
			units = append(units, unit{cell: c})
		}
	}
	return b.groups(units, []string{"scenario"})
}

// floors has a line for each scenario and headline metric.
func (b *builder) floors() Table {
	t := Table{Columns: []Column{{Title: "scenario"}, {Title: "metric"}, {Title: "fewest runs a cell", Right: true}, {Title: "noise floor", Right: true}, {Title: "floor of the runs", Right: true}, {Title: "typical between stages", Right: true}, {Title: "CV, median of the cells", Right: true}, {Title: "largest CV", Right: true}, {Title: "where"}}}
	all := compare.Floors(b.res, func(cells []*record.Cell) (names []compare.Name) {
		var units []unit
		for _, c := range cells {
			units = append(units, unit{cell: c})
		}
		for _, m := range b.headline(units) {
			names = append(names, compare.ParseName(m))
		}
		return names
	})
	slices.SortStableFunc(all, func(x, y compare.Floor) int {
		return cmp.Compare(b.rank["scenario"][x.Scenario], b.rank["scenario"][y.Scenario])
	})
	within := func(c *record.Cell) string { // which cell of the line's scenario
		coord := c.Coord
		coord.Scenario = ""
		return b.name(coord)
	}
	for _, f := range all {
		cv, worst := text(), text()
		var where []string
		if f.Worst != nil {
			cv, worst = text(percent(f.CV)), text(percent(f.WorstCV))
			where = append(where, "largest CV: "+within(f.Worst))
		}
		if f.Stages > 0 {
			moved := "moved most between stages: " + within(f.Apart.First) + " to " + oneLine(f.Apart.Second.Coord.Stage)
			if f.Moved > 0 {
				moved += ", to " + times(f.Moved) + " what the median cell moved to"
			}
			where = append(where, moved)
		}
		floor := text(strong(factorOr(f.Factor())))
		switch {
		case f.Why != "":
			floor = text("n/a", b.note(f.Why))
		case f.Tainted != "":
			floor = append(floor, b.note("not to be trusted: "+f.Tainted))
		}
		t.Rows = append(t.Rows, []Text{text(oneLine(f.Scenario)), text(mono(f.Name.Text)), text(fmt.Sprint(f.Runs)), floor, text(factorOr(f.Chance)), text(factorOr(f.Stages)), cv, worst, text(strings.Join(where, "\n"))})
	}
	return withoutEmpty(t)
}

// factorOr is a factor, nothing if it is not known.
func factorOr(v float64) string {
	if v == 0 {
		return ""
	}
	return factor(v)
}

// mostMedians bounds the rows of the table of medians.
const mostMedians = 100

// medians are the intervals of the medians of headline metrics, where cells have runs enough for one.
func (b *builder) medians(scenarios [][]unit) []Block {
	t := Table{Columns: []Column{{Title: "cell"}, {Title: "metric"}, {Title: "runs", Right: true}, {Title: "median", Right: true}, {Title: "interval", Right: true}, {Title: "confidence", Right: true}}}
	more := 0
	for _, units := range scenarios {
		for _, name := range b.headline(units) {
			m, class := compare.ParseName(name), b.desc(name).Class
			for _, u := range units {
				r := b.read(u, m)
				in, ok := stats.MedianInterval(r.Runs)
				if r.Why != "" || !ok {
					continue
				}
				if len(t.Rows) == mostMedians {
					more++
					continue
				}
				t.Rows = append(t.Rows, row(b.name(u.cell.Coord), text(mono(name)), fmt.Sprint(len(r.Runs)), number(stats.Median(r.Runs), class), number(in.Low, class)+" to "+number(in.High, class), fmt.Sprintf("%.1f %%", 100*in.Confidence)))
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	blocks := []Block{Heading{"Medians and where they lie"}, Paragraph{text(fmt.Sprintf("Whatever the distribution of the runs; %d runs of a cell are the fewest that give such an interval.", stats.MedianRuns))}, t}
	if more > 0 {
		blocks = append(blocks, Paragraph{text(fmt.Sprintf("And %d more.", more))})
	}
	return blocks
}

// watched is what the probes cost: cells that a stage measured without some of them.
func (b *builder) watched() []Block {
	t := Table{Columns: append([]Column{{Title: "cell"}, {Title: "metric"}, {Title: "left out"}, {Title: "watched", Right: true}, {Title: "without", Right: true}}, ratioColumns...)}
	for _, w := range compare.Watched(b.res) {
		coord := w.Watched.Cell.Coord
		coord.Stage = ""
		for _, name := range b.headline([]unit{{cell: w.Alone.Cell}}) {
			d := b.desc(name)
			w.Watched.Name, w.Alone.Name = oneLine(w.Watched.Cell.Coord.Stage), oneLine(w.Alone.Cell.Coord.Stage)
			c := comparison{Comparison: compare.Metric(compare.ParseName(name), d, w.Watched, w.Alone, compare.Options{}), of: "watched", to: "unwatched"}
			if c.Of.Why != "" || c.To.Why != "" {
				continue
			}
			t.Rows = append(t.Rows, append(row(b.name(coord), text(mono(name)), oneLine(w.Without), number(c.Of.Value, d.Class), number(c.To.Value, d.Class)), b.columns(c)...))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{Heading{"What watching costs"}, Paragraph{text("Ratios are watched/without: the same cells with all their probes, and in a stage that leaves some out. Such a stage is no repeat: the noise floors do not use it.")}, withoutEmpty(t)}
}
