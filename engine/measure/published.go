package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// published sets the metrics of a run of published figures: they are the values that were given, and nothing is measured.
func published(r *record.Run) {
	f := newFigures()
	values(r, f)
	for _, d := range r.ValueDescs {
		if _, ok := f.values[d.Name]; !ok {
			f.missing(d.Name, "it was not published")
		}
	}
	for name, stats := range r.Published.Whole {
		f.why[name] = onlyWhole(stats)
	}
	r.Metrics[""] = record.WindowOf(f.values)
	maps.Copy(r.Missing, f.why)
}

// onlyWhole says that a figure is known of all runs of a cell together only.
func onlyWhole(stats map[string]float64) string {
	var names []string
	for _, s := range []string{"min", "median", "mean", "max", "sum"} {
		if _, ok := stats[s]; ok {
			names = append(names, s)
		}
	}
	return fmt.Sprintf("only the %s of the runs was published", strings.Join(names, " and "))
}

// WholeValue is the value of a cell of which only statistics of all runs are known: the one that the metric asks for.
func WholeValue(a series.Across, stats map[string]float64) (float64, bool) {
	v, ok := stats[string(a)]
	return v, ok
}

// whole adds to a cell the figures that are known of all its runs together.
func (c *cells) whole(to *cell, r *record.Run, describe func() describer) {
	for _, name := range slices.Sorted(maps.Keys(r.Published.Whole)) {
		stats := r.Published.Whole[name]
		desc := c.desc(name, describe)
		if v, ok := WholeValue(desc.Across, stats); ok {
			if to.figures[""] == nil {
				to.figures[""] = map[string]*figure{}
			}
			to.figures[""][name] = &figure{desc: desc, whole: stats, value: v}
		}
	}
}
