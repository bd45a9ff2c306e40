package diff

import (
	"cmp"
	"fmt"
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

// Uneven says why the values of the two sides are no match: they are sums over the runs, and not of as many on both sides. The
// ratio is one of medians, and needs no such thing. "" if they are a match.
func (r Row) Uneven() string {
	if r.Desc.Across != series.Sum || r.Name.Stat != "" || r.Of.Why+r.To.Why != "" {
		return ""
	}
	if r.Of.Only+r.To.Only != "" {
		return "it is a sum of runs whose number is not known; " + r.Name.Text + ".mean is of one run"
	}
	if a, b := len(r.To.Runs), len(r.Of.Runs); a != b {
		return fmt.Sprintf("it is a sum of %d runs in A and of %d in B; %s.mean is of one run", a, b, r.Name.Text)
	}
	return ""
}

// Grew is true where there is more in B of what is better low than in A, and no ratio because the median of A's runs is 0.
func (r Row) Grew() bool {
	return r.Ratio.NA != "" && r.Of.Why == "" && r.To.Why == "" && r.Desc.Better == series.Lower && stats.Median(r.To.Runs) == 0 && stats.Mean(r.Of.Runs) > stats.Mean(r.To.Runs)
}

// Appeared is true where A had none of what is better low, such as failures, and B has some: that is worse without having
// a ratio.
func (r Row) Appeared() bool { return r.Grew() && r.To.Value == 0 }

// Equal is the outcome of a row whose runs, and what is made of them, are all 0 on both sides: there is no ratio, and nothing changed.
const Equal compare.Outcome = "equal"

// Outcome of B against A. What appeared is worse, unless a guard spoils it.
func (r Row) Outcome() compare.Outcome {
	zero := func(x compare.Reading) bool {
		return x.Why == "" && x.Tainted == "" && x.Value == 0 && len(x.Runs) > 0 && slices.Min(x.Runs) == 0 && slices.Max(x.Runs) == 0
	}
	switch {
	case zero(r.Of) && zero(r.To):
		return Equal
	case r.Appeared() && r.Of.Tainted+r.To.Tainted != "":
		return compare.Untrusted
	case r.Appeared():
		return compare.Worse
	}
	return r.Comparison.Outcome()
}

// Spoilt are the guards that spoil a side, each with which.
func (r Row) Spoilt() (out []string) {
	if len(r.Tainted) == 0 {
		return nil
	}
	for _, side := range []struct{ name, by string }{{"A", r.To.Tainted}, {"B", r.Of.Tainted}} {
		if side.by != "" {
			out = append(out, side.name+": "+side.by)
		}
	}
	return out
}

// rows compares the metrics of all pairs. What neither side has is no row.
func (d *Diff) rows(pairs []pair, metrics []compare.Name) {
	for _, p := range pairs {
		for _, m := range metrics {
			if !has(p.sideA.Cell, m) && !has(p.sideB.Cell, m) {
				continue
			}
			desc := d.desc(m.Metric)
			c := compare.Metric(m, desc, p.sideB, p.sideA, compare.Options{})
			d.Rows = append(d.Rows, Row{p.coord(), desc, c})
		}
	}
	slices.SortStableFunc(d.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), -cmp.Compare(x.size(), y.size()))
	})
}

func has(c *record.Cell, m compare.Name) bool {
	_, ok := c.Metrics[m.Window].Get(m.Metric)
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
