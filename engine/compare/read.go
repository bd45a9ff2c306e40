package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// A Reading is a number of a cell.
type Reading struct {
	Value   float64
	Runs    []float64 // what single runs gave, in the order in which they ran
	Tainted string    // the guard that spoils it, in words
	Why     string    // why there is no value; empty if there is one
	Only    string    // why single runs are not known; Runs is then the value alone
}

// Read gives a number of a cell; name is how texts call the cell.
func Read(c *record.Cell, name string, m Name) Reading {
	v, ok := c.Metrics[m.Window].Get(m.Metric)
	if !ok {
		return Reading{Why: missing(c, name, m)}
	}
	if v.Whole != nil {
		return whole(v, m)
	}
	if len(v.Runs) == 0 {
		v.Runs = []float64{v.Value}
	}
	r := Reading{Value: v.Value, Runs: v.Runs, Tainted: v.Tainted}
	switch m.Stat {
	case "min":
		r.Value = slices.Min(r.Runs)
	case "max":
		r.Value = slices.Max(r.Runs)
	case "mean":
		r.Value = stats.Mean(r.Runs)
	case "median":
		r.Value = stats.Median(r.Runs)
	case "cv":
		r.Value = stats.CV(r.Runs)
	case "n":
		r.Value = float64(len(r.Runs))
	}
	if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
		r.Why = m.Text + " is undefined for these runs"
	}
	return r
}

func missing(c *record.Cell, name string, m Name) string {
	if why := c.Missing[m.Key()]; why != "" {
		return m.Key() + ": " + why
	}
	if !c.Status.HasResults() {
		return name + ": " + c.Status.Words(c.Reason)
	}
	if m.Window != "" {
		return m.Text + ": this cell has no such window, or nothing of it was recorded there"
	}
	return m.Metric + ": nothing of it was recorded"
}

// Part is what the given runs of a cell make, as a cell of its own: those of one round, say. What guards spoil of the cell
// they spoil of its parts. Runs without results add no values.
func Part(c *record.Cell, runs []*record.Run, descs map[string]series.Desc) *record.Cell {
	p := &record.Cell{Coord: c.Coord, Status: c.Status, Reason: c.Reason, Shared: c.Shared, Missing: map[string]string{}}
	values := map[string]map[string]record.Value{}
	for key, why := range c.Missing {
		p.Missing[key] = why
	}
	for _, r := range runs {
		p.Runs = append(p.Runs, r.ID)
		if !r.Status.HasResults() {
			continue
		}
		for key, why := range r.Missing {
			p.Missing[key] = why
		}
		for window, metrics := range r.Metrics {
			if values[window] == nil {
				values[window] = map[string]record.Value{}
			}
			for name, x := range metrics.All() {
				v := values[window][name]
				v.Runs = append(v.Runs, x)
				values[window][name] = v
			}
		}
	}
	for window, metrics := range values {
		for name, v := range metrics {
			v.Value = stats.Across(Describe(descs, name).Across, v.Runs)
			v.Tainted = c.Metrics[window].Value(name).Tainted
			metrics[name] = v
		}
	}
	p.Metrics = record.CellWindowsOf(values)
	return p
}

// Together is a cell of several result sets as one, with the runs of them all. What a guard spoils in one set it spoils of the
// whole.
func Together(cells []*record.Cell, descs map[string]series.Desc) *record.Cell {
	t := &record.Cell{Coord: cells[0].Coord, Status: cells[0].Status, Reason: cells[0].Reason, Missing: map[string]string{}}
	values := map[string]map[string]record.Value{}
	for _, c := range cells {
		t.Runs, t.Shared = append(t.Runs, c.Runs...), t.Shared || c.Shared
		for key, why := range c.Missing {
			t.Missing[key] = why
		}
		for window, metrics := range c.Metrics {
			if values[window] == nil {
				values[window] = map[string]record.Value{}
			}
			for name, x := range metrics.All() {
				if len(x.Runs) == 0 {
					x.Runs = []float64{x.Value}
				}
				v := values[window][name]
				v.Runs = slices.Concat(v.Runs, x.Runs)
				v.Tainted = cmp.Or(v.Tainted, x.Tainted)
				v.Value = stats.Across(Describe(descs, name).Across, v.Runs)
				values[window][name] = v
			}
		}
	}
	t.Metrics = record.CellWindowsOf(values)
	return t
}
