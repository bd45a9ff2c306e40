package compare

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
)

// whole is a number of a cell of whose runs nothing but published statistics is known.
func whole(v record.Value, m Name) Reading {
	r := Reading{Value: v.Value, Only: fmt.Sprintf("what single runs gave of %s was not published", m.Metric)}
	if m.Stat != "" {
		var ok bool
		if r.Value, ok = v.Whole[m.Stat]; !ok {
			r.Why = fmt.Sprintf("%s: %s", m.Text, r.Only)
		}
	}
	r.Runs = []float64{r.Value}
	return r
}

// ofValues is the ratio of what is known of two cells, where single runs of one of them are not: of its noise nothing can be
// said, however many runs there were.
func ofValues(m Name, of, to Side) stats.Ratio {
	m.Stat = ""
	a, b := of.read(m), to.read(m)
	r := stats.Compare(of.Name, stats.Side{Runs: []float64{a.Value}}, to.Name, stats.Side{Runs: []float64{b.Value}})
	if r.NA == "" {
		r.Needed, r.Why = 0, a.Only
		if r.Why == "" {
			r.Why = b.Only
		}
	}
	return r
}
