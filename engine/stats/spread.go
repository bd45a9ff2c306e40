package stats

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Spread is how far runs of the same cell lie apart, learned from several cells together.
type Spread struct {
	Deviation float64 // the pooled sample deviation of the logarithms of the values
	Freedom   int     // its degrees of freedom: runs less cells
}

// SpreadOf pools the runs of cells; one that has a single run adds nothing. It reports false if a value is not above 0, or
// no cell has two runs.
func SpreadOf(cells ...[]float64) (Spread, bool) {
	var s Spread
	squares := 0.0
	for _, runs := range cells {
		if slices.ContainsFunc(runs, func(v float64) bool { return !(v > 0) }) {
			return Spread{}, false
		}
		if n := len(runs) - 1; n > 0 {
			squares += stat.Variance(logs(runs), nil) * float64(n)
			s.Freedom += n
		}
	}
	if s.Freedom == 0 {
		return Spread{}, false
	}
	s.Deviation = math.Sqrt(squares / float64(s.Freedom))
	return s, true
}

// HalfWidth is half the width of the interval, at Confidence, of the difference between the mean logarithms of na runs and
// of nb runs of such cells.
func (s Spread) HalfWidth(na, nb int) float64 {
	return student(s.Freedom) * s.Deviation * math.Sqrt(1/float64(na)+1/float64(nb))
}

// needed is the smallest number of runs a side at which a ratio of this size would be beyond the noise of deviation s,
// 0 if a thousand would not do.
func needed(s, size float64) int {
	const most = 1000
	tells := func(n int) bool { return Spread{s, 2*n - 2}.HalfWidth(n, n) < size }
	low, high := MinRuns, most
	if !tells(high) {
		return 0
	}
	for low < high {
		if mid := (low + high) / 2; tells(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

func logs(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(x)
	}
	return out
}

// student is the quantile of Student's distribution that leaves Confidence between it and its negative.
func student(freedom int) float64 {
	if q, ok := quantiles.Load(freedom); ok {
		return q.(float64)
	}
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile((1 + Confidence) / 2)
	quantiles.Store(freedom, q)
	return q
}

// quantiles of student by degrees of freedom: they take longer than all the rest of a comparison.
var quantiles sync.Map
