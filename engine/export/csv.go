package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// CSV writes a row for each value, as RFC 4180 quotes them, in the order of the cells. The first five columns are those of
// published figures (planrun import):
//
//	scenario, target, metric
//	statistic      how the value was made of the runs': median, sum, max or mean, as the metric has it; beside it the min and max
//	               of the runs if there are several; run1, run2, ... for the value of one run (Options.Runs)
//	value          a number, in the metric's unit
//	unit           of the metric; empty for a plain number
//	stage
//	matrix.NAME    a column an axis
//	window         empty for the headline, phase/fault, load/small, ...: see package record
//	round, repeat, run   of one run
//	runs           how many runs the value is of; 0 for published figures of which the runs' values are not known
//	tainted        the guard that spoils it, in words
//
// Cells without a value have no row. Of Options.Figures, an error says if two cells have the same scenario and target.
// Texts that a spreadsheet would take for a formula begin with an apostrophe: see Defused.
func CSV(w io.Writer, set *record.Set, res *record.Results, opt Options) error {
	t := &values{w: csv.NewWriter(w), axes: axes(res), res: res, opt: opt}
	if opt.Figures {
		if err := figures(res); err != nil {
			return err
		}
	}
	t.row(t.header()...)
	for i := range res.Cells {
		if err := t.cell(set, &res.Cells[i]); err != nil {
			return err
		}
	}
	t.w.Flush()
	return wrote("csv", t.w.Error())
}

// wrote says what was written when it went wrong.
func wrote(format string, err error) error {
	if err != nil {
		return fmt.Errorf("writing %s: %w", format, err)
	}
	return nil
}

// values is the table in the making. Its writer keeps the first error.
type values struct {
	w    *csv.Writer
	axes []string
	res  *record.Results
	opt  Options
}

// figureColumns is how many columns published figures have.
const figureColumns = 5

// figures finds cells that published figures cannot tell apart.
func figures(res *record.Results) error {
	seen := map[[2]string]record.Coord{}
	for _, c := range res.Cells {
		key := [2]string{c.Coord.Scenario, c.Coord.Target}
		if other, twice := seen[key]; twice {
			return fmt.Errorf("figures have a scenario and a target only, which %q and %q share", place(other), place(c.Coord))
		}
		seen[key] = c.Coord
	}
	return nil
}

func (t *values) row(cells ...string) {
	if t.opt.Figures {
		cells = cells[:figureColumns]
	}
	_ = t.w.Write(cells) // t.w.Error has it
}

func (t *values) header() []string {
	h := []string{"scenario", "target", "metric", "statistic", "value", "unit", "stage"}
	for _, a := range t.axes {
		h = append(h, Defused("matrix."+a))
	}
	return append(h, "window", "round", "repeat", "run", "runs", "tainted")
}

func (t *values) cell(set *record.Set, c *record.Cell) error {
	for _, window := range slices.Sorted(maps.Keys(c.Metrics)) {
		for name, v := range c.Metrics[window].All() {
			if t.opt.wants(window, name) {
				t.value(c.Coord, window, name, v)
			}
		}
	}
	if t.opt.Runs {
		n := 0
		for _, id := range c.Runs {
			if r := set.Kept(id); r.Status.HasResults() {
				n++
				t.run(r, "run"+strconv.Itoa(n))
			}
		}
	}
	return wrote("csv", t.w.Error())
}

// value writes a cell's value, and the range of its runs.
func (t *values) value(at record.Coord, window, name string, v record.Value) {
	for _, s := range statistics(t.res.Descs[name].Across, v) {
		t.one(at, window, name, s, "", len(v.Runs), v.Tainted)
	}
}

// run writes the values of one run.
func (t *values) run(r *record.Run, name string) {
	for _, window := range slices.Sorted(maps.Keys(r.Metrics)) {
		for metric, v := range r.Metrics[window].All() {
			if t.opt.wants(window, metric) {
				t.one(r.Coord, window, metric, statistic{name, v}, r.ID, 1, "")
			}
		}
	}
}

func (t *values) one(at record.Coord, window, name string, s statistic, run string, runs int, tainted string) {
	row := []string{Defused(at.Scenario), Defused(at.Target), Defused(name), s.name, number(s.value), Defused(t.res.Descs[name].Unit), Defused(at.Stage)}
	for _, a := range t.axes {
		row = append(row, Defused(axis(at, a)))
	}
	t.row(append(row, Defused(window), positive(at.Round), positive(at.Repeat), Defused(run), strconv.Itoa(runs), Defused(tainted))...)
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// A statistic is a number that was made of a cell's runs.
type statistic struct {
	name  string
	value float64
}

// statistics are the cell's value, by the name of how it was made, and the lowest and highest of the runs if there are several;
// of published figures whose runs are not known what was published.
func statistics(across series.Across, v record.Value) []statistic {
	if across == "" {
		across = series.Median
	}
	out := []statistic{{string(across), v.Value}}
	for _, name := range slices.Sorted(maps.Keys(v.Whole)) {
		if name != string(across) {
			out = append(out, statistic{name, v.Whole[name]})
		}
	}
	if len(v.Runs) < 2 {
		return out
	}
	out = append(out, statistic{"min", slices.Min(v.Runs)})
	if across != series.Max {
		out = append(out, statistic{"max", slices.Max(v.Runs)})
	}
	return out
}
