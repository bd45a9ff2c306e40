package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/stats"
)

// A pair of sides, each of several sets, and what diff says of B against A, by metric.
type pair struct {
	order     []int       // which side each set is of, as they followed one another
	dirs      [2][]string // of the sets of each side, in that order
	rows      map[string]diff.JSONRow
	disturbed string // why what it says is no match for a quiet machine; "" if nothing is known to have been
}

// inTurns is the order of so many sets a side: ABBA ABBA, or BAAB BAAB, so that what drifts evenly is the same on both sides.
func inTurns(sets int, swapped bool) []int {
	order := make([]int, 2*sets)
	for i := range order {
		order[i] = []int{0, 1, 1, 0}[i%4]
		if swapped {
			order[i] = 1 - order[i]
		}
	}
	return order
}

// What is measured to know whether a pair was disturbed: cores, and how much work a CPU does in its time.
const (
	foreign   = "foreign_cpu"
	stolen    = "stolen_cpu"
	hostSpeed = "host_speed"
)

// judge says whether what the sets recorded of the machine lets them be compared: in no run so many cores went to
// others, and the sides' host speeds are no further apart, as a part of the lower one.
func (p *pair) judge(cores, apart float64) string {
	for _, name := range []string{foreign, stolen} {
		r := p.rows[name]
		for _, v := range slices.Concat(r.A.Runs, r.B.Runs) {
			if v > cores {
				return fmt.Sprintf("%s was %.2f cores in a run", name, v)
			}
		}
	}
	if r := p.rows[hostSpeed].Ratio; r != nil && max(*r, 1 / *r) > 1+apart {
		return fmt.Sprintf("%s of B was %.3f of A's", hostSpeed, *r)
	}
	for _, m := range metrics {
		if t := p.rows[m.name].Tainted; len(t) > 0 {
			return t[0]
		}
	}
	return ""
}

// logs are the logarithms of the ratios that a metric of an A/A pair gives: that of its sides, and, as all its sets are of the
// same thing, what it would be had they taken turns as ABAB. Both are far less than the trend of the machine.
func (p *pair) logs(m metric) []float64 {
	row := p.rows[m.name]
	out := []float64{math.Log(*row.Ratio)}
	sets := len(p.order) / 2
	if sets < 2 || len(row.A.Runs)%sets != 0 || len(row.B.Runs)%sets != 0 {
		return out
	}
	left := [2][]float64{row.A.Runs, row.B.Runs}
	var other [2][]float64
	for i, side := range p.order {
		n := [2]int{len(row.A.Runs), len(row.B.Runs)}[side] / sets
		other[i%2] = append(other[i%2], left[side][:n]...)
		left[side] = left[side][n:]
	}
	return append(out, math.Log(stats.Median(other[1])/stats.Median(other[0])))
}
