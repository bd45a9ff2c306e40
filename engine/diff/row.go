package diff

import (
	"cmp"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// A Row is one metric of one matched cell: B (its Of) against A (its To).
type Row struct {
	Coord record.Coord
	Desc  series.Desc
	compare.Comparison
}

// Grew is true where there is more in B of what is better low than in A, and no ratio because the median of A's runs is 0.
func (r Row) Grew() bool {
	return r.Ratio.NA != "" && r.Of.Why == "" && r.To.Why == "" && r.Desc.Better == series.Lower && stats.Median(r.To.Runs) == 0 && r.Of.Value > r.To.Value
}

// Appeared is true where A had none of what is better low, such as failures, and B has some: that is worse without having
// a ratio.
func (r Row) Appeared() bool { return r.Grew() && r.To.Value == 0 }

// Equal is the outcome of a row whose runs, and what is made of them, are all 0 on both sides: there is no ratio, and nothing changed.
const Equal compare.Outcome = "equal"

// Outcome of B against A.
func (r Row) Outcome() compare.Outcome {
	zero := func(x compare.Reading) bool {
		return x.Why == "" && x.Tainted == "" && x.Value == 0 && len(x.Runs) > 0 && slices.Min(x.Runs) == 0 && slices.Max(x.Runs) == 0
	}
	if zero(r.Of) && zero(r.To) {
		return Equal
	}
	return r.Comparison.Outcome()
}

// rows compares the metrics of all pairs. What neither side has is no row.
func (d *Diff) rows(pairs []pair, metrics []compare.Name) {
	for _, p := range pairs {
		for _, m := range metrics {
			if !has(p.a, m) && !has(p.b, m) {
				continue
			}
			desc := d.desc(m.Metric)
			c := compare.Metric(m, desc, compare.Side{Name: "B", Cell: p.b, Again: p.againB}, compare.Side{Name: "A", Cell: p.a, Again: p.againA}, compare.Options{})
			d.Rows = append(d.Rows, Row{p.coord(), desc, c})
		}
	}
	slices.SortStableFunc(d.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), -cmp.Compare(x.size(), y.size()))
	})
}

func has(c *record.Cell, m compare.Name) bool {
	_, ok := c.Metrics[m.Window][m.Metric]
	return ok
}

// rank is the place of a row's outcome: what got worse first.
func (r Row) rank() int {
	if r.Grew() {
		return 1
	}
	return map[compare.Outcome]int{compare.Worse: 0, compare.Differs: 2, compare.Better: 3, compare.Untrusted: 4, compare.Unknown: 5, compare.WithinNoise: 6, compare.NA: 7, Equal: 8}[r.Outcome()]
}

// size is how far the ratio is from 1, as a logarithm.
func (r Row) size() float64 {
	if r.Ratio.NA != "" {
		return 0
	}
	return math.Abs(math.Log(r.Ratio.Value))
}
