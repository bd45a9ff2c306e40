package measure

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// CellsOf puts runs together, each cell in the order in which its first run began, and describes every metric that one of
// them has. Runs that have no results (their install failed, `require` did not hold) add no values.
func CellsOf(runs []*record.Run) ([]record.Cell, map[string]series.Desc) {
	var c cells
	for _, r := range runs {
		c.add(r)
	}
	return c.finish(), c.descs
}

// cells are cells in the making.
type cells struct {
	order []*cell
	byKey map[string]*cell
	descs map[string]series.Desc
}

type cell struct {
	record.Cell
	taints map[string]map[string][]string // window -> metric -> messages
	with   int                            // runs with results
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

func (c *cells) add(r *record.Run) {
	if c.byKey == nil {
		c.byKey, c.descs = map[string]*cell{}, map[string]series.Desc{}
	}
	key := Key(r.Coord)
	to := c.byKey[key]
	if to == nil {
		coord := r.Coord
		coord.Round, coord.Repeat = 0, 0
		to = &cell{Cell: record.Cell{Coord: coord, Metrics: map[string]map[string]record.Value{}}, taints: map[string]map[string][]string{}}
		c.byKey[key] = to
		c.order = append(c.order, to)
	}
	to.Runs = append(to.Runs, r.ID)
	if !r.Status.HasResults() {
		if to.with == 0 {
			to.Status, to.Reason = r.Status, r.Reason
		}
		return
	}
	to.with++
	if to.Status != record.Done {
		to.Status, to.Reason = r.Status, r.Reason
	}
	d := newDescriber(r)
	for w, metrics := range r.Metrics {
		if to.Metrics[w] == nil {
			to.Metrics[w] = map[string]record.Value{}
		}
		spoilt := tainting(r, w)
		for name, v := range metrics {
			desc, ok := c.descs[name]
			if !ok {
				if desc, ok = d.describe(name); !ok {
					desc = series.Desc{Name: name, Across: series.Median, Class: series.Timing}
				}
				c.descs[name] = desc
			}
			value := to.Metrics[w][name]
			value.Runs = append(value.Runs, v)
			to.Metrics[w][name] = value
			if why := spoilt.of(desc); why != "" {
				if to.taints[w] == nil {
					to.taints[w] = map[string][]string{}
				}
				to.taints[w][name] = append(to.taints[w][name], why)
			}
		}
	}
	if r.Published != nil {
		c.whole(to, r, d)
	}
	for key, why := range r.Missing {
		if to.Missing == nil {
			to.Missing = map[string]string{}
		}
		to.Missing[key] = why
	}
}

func (c *cells) finish() []record.Cell {
	var out []record.Cell
	for _, cl := range c.order {
		for w, metrics := range cl.Metrics {
			for name, v := range metrics {
				if v.Whole == nil {
					v.Value = stats.Across(c.descs[name].Across, v.Runs)
				}
				if t := cl.taints[w][name]; len(t) > 0 {
					v.Tainted = t[0]
					if cl.with > 1 {
						v.Tainted = fmt.Sprintf("in %d of %d runs: %s", len(t), cl.with, t[0])
					}
				}
				metrics[name] = v
				// A metric that some runs have is not missing.
				delete(cl.Missing, MissingKey(w, name))
			}
		}
		out = append(out, cl.Cell)
	}
	return out
}

// taints are the messages of the first guard that spoils figures of timing in a window, and of the first that spoils all.
type taints struct{ timing, work string }

func (t taints) of(d series.Desc) string {
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
