package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// CellsOf puts runs together, each cell in the order in which its first run began, and describes every metric that one of
// them has. Runs that have no results (their install failed, `require` did not hold) add no values.
func CellsOf(runs []*record.Run) ([]record.Cell, map[string]series.Desc) {
	c := cells{descs: map[string]*series.Desc{}}
	var order [][]*record.Run
	at := map[string]int{}
	for _, r := range runs {
		key := Key(r.Coord)
		i, ok := at[key]
		if !ok {
			i = len(order)
			at[key], order = i, append(order, nil)
		}
		order[i] = append(order[i], r)
	}
	var out []record.Cell
	for _, of := range order {
		out = append(out, c.cell(of))
	}
	return out, c.described()
}

// cells are cells in the making.
type cells struct {
	descs map[string]*series.Desc
}

type cell struct {
	record.Cell
	figures map[string]map[string]*figure // window -> metric
	last    map[string]named              // window -> those of the last run
	most    int                           // runs that it has
	with    int                           // runs with results
	on      map[string]bool               // installations of these
}

// A figure is a metric of a cell in the making.
type figure struct {
	desc    *series.Desc
	runs    []float64
	whole   map[string]float64 // published statistics of all runs, instead of runs; value is the one that counts
	value   float64
	tainted int    // runs in which a guard spoils it
	why     string // the first of these guards, in words
}

// Key addresses a cell: a coordinate without its round and repeat.
func Key(c record.Coord) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q", c.Stage, c.Scenario, c.Target)
	for _, a := range c.Matrix {
		fmt.Fprintf(&b, " %q=%q", a.Name, a.Value)
	}
	return b.String()
}

// cell makes a cell of its runs.
func (c *cells) cell(runs []*record.Run) record.Cell {
	to := &cell{Cell: record.Cell{Coord: runs[0].Coord, Metrics: record.CellWindows{}}, figures: map[string]map[string]*figure{}, last: map[string]named{}, most: len(runs), on: map[string]bool{}}
	to.Coord.Round, to.Coord.Repeat = 0, 0
	for _, r := range runs {
		c.add(to, r)
	}
	return to.finish()
}

func (c *cells) add(to *cell, r *record.Run) {
	to.Runs = append(to.Runs, r.ID)
	if !r.Status.HasResults() {
		if to.with == 0 {
			to.Status, to.Reason = r.Status, r.Reason
		}
		return
	}
	to.with++
	if r.Install != "" {
		to.Shared = to.Shared || to.on[r.Install]
		to.on[r.Install] = true
	}
	if to.Status != record.Done {
		to.Status, to.Reason = r.Status, r.Reason
	}
	describe := sync.OnceValue(func() describer { return newDescriber(r) })
	for w, metrics := range r.Metrics {
		c.window(to, w, metrics, tainting(r, w), describe)
	}
	if r.Published != nil {
		c.whole(to, r, describe)
	}
	for key, why := range r.Missing {
		if to.Missing == nil {
			to.Missing = map[string]string{}
		}
		to.Missing[key] = why
	}
}

// A named has the figures of a window of the run that was added last, in the order of their names.
type named struct {
	names   []string
	figures []*figure
}

// window adds the figures of a window of a run.
func (c *cells) window(to *cell, name string, metrics *record.Window, spoilt taints, describe func() describer) {
	last := to.last[name]
	if names := metrics.Names(); !slices.Equal(names, last.names) {
		last = named{names, c.figures(to, name, names, describe)}
		to.last[name] = last
	}
	i := 0
	for _, v := range metrics.All() {
		f := last.figures[i]
		i++
		f.runs = append(f.runs, v)
		if why := spoilt.of(f.desc); why != "" {
			if f.tainted == 0 {
				f.why = why
			}
			f.tainted++
		}
	}
}

// figures finds or makes those of a window.
func (c *cells) figures(to *cell, window string, names []string, describe func() describer) []*figure {
	known := to.figures[window]
	if known == nil {
		known = make(map[string]*figure, len(names))
		to.figures[window] = known
	}
	out, made := make([]*figure, len(names)), 0
	for i, name := range names {
		if out[i] = known[name]; out[i] == nil {
			made++
		}
	}
	figures, room := make([]figure, made), make([]float64, made*to.most)
	for i, name := range names {
		if out[i] == nil {
			f := &figures[0]
			f.desc, f.runs = c.desc(name, describe), room[:0:to.most]
			figures, room = figures[1:], room[to.most:]
			out[i], known[name] = f, f
		}
	}
	return out
}

// desc describes a metric, as the first run that has it does.
func (c *cells) desc(name string, of func() describer) *series.Desc {
	if d := c.descs[name]; d != nil {
		return d
	}
	d, ok := of().describe(name)
	if !ok {
		d = series.Desc{Name: name, Across: series.Median, Class: series.Timing}
	}
	c.descs[name] = &d
	return &d
}

func (c *cells) described() map[string]series.Desc {
	out := make(map[string]series.Desc, len(c.descs))
	for name, d := range c.descs {
		out[name] = *d
	}
	return out
}

func (cl *cell) finish() record.Cell {
	for w, figures := range cl.figures {
		names := cl.last[w].names
		if len(names) < len(figures) { // other runs have more
			names = slices.Sorted(maps.Keys(figures))
		}
		values := make([]record.Value, len(names))
		for i, name := range names {
			values[i] = cl.value(figures[name])
			if len(cl.Missing) > 0 { // a metric that some runs have is not missing
				delete(cl.Missing, MissingKey(w, name))
			}
		}
		cl.Metrics[w] = record.CellWindowIn(names, values)
	}
	return cl.Cell
}

// value is what all runs make of a figure.
func (cl *cell) value(f *figure) record.Value {
	v := record.Value{Value: f.value, Runs: slices.Clip(f.runs), Whole: f.whole, Tainted: f.why}
	if f.whole == nil {
		v.Value = stats.Across(f.desc.Across, f.runs)
	}
	if f.tainted > 0 && cl.with > 1 {
		v.Tainted = fmt.Sprintf("in %d of %d runs: %s", f.tainted, cl.with, f.why)
	}
	return v
}

// taints are the messages of the first guard that spoils figures of timing in a window, and of the first that spoils all.
type taints struct{ timing, work string }

func (t taints) of(d *series.Desc) string {
	if d.Class == series.Timing {
		return t.timing
	}
	return t.work
}

func tainting(r *record.Run, win string) taints {
	var t taints
	for _, g := range r.Guards {
		if g.OK || g.Taints == "" || !about(r, win, g.Load) {
			continue
		}
		if t.timing == "" {
			t.timing = g.Message
		}
		if t.work == "" && (g.Taints == taintsWork || g.Taints == taintsPasses) {
			t.work = g.Message
		}
	}
	return t
}

// about reports whether the load has a part in a window.
func about(r *record.Run, win, load string) bool {
	if load == "" {
		return true
	}
	for _, w := range windows(r) {
		if w.name == win {
			return w.loads[load] || w.process != "" && headlineLoads(r)[load]
		}
	}
	return true
}
