// Package stats is the arithmetic of runs: what several runs' values say, and what the ratio of two sides says beyond
// its noise. It is pure, and knows neither CEL nor the record. Libraries compute what they have (gonum, and benchmath for
// intervals of medians); by hand is only what they define otherwise.
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/planrun/planrun/engine/series"
)

// Median of v; NaN if v is empty. An even count gives the mean of the two in the middle, which none of
// gonum's quantiles does.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Clone(v)
	slices.Sort(s)
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return s[mid-1] + (s[mid]-s[mid-1])/2
}

// Mean of v; NaN if v is empty.
func Mean(v []float64) float64 { return stat.Mean(v, nil) }

// Sum adds v; the sum of nothing is 0.
func Sum(v []float64) float64 { return floats.Sum(v) }

// CV is the coefficient of variation with the population standard deviation: six pods with all connections on one give
// the square root of 5. It is NaN if v is empty or its mean is 0.
func CV(v []float64) float64 {
	mean, deviation := stat.PopMeanStdDev(v, nil)
	if math.IsNaN(mean) || mean == 0 {
		return math.NaN()
	}
	return deviation / math.Abs(mean)
}

// Across makes one value of those of a cell's runs: their sum, maximum, mean or median. There is at least one.
func Across(how series.Across, runs []float64) float64 {
	switch how {
	case series.Sum:
		return Sum(runs)
	case series.Max:
		return slices.Max(runs)
	case series.Mean:
		return Mean(runs)
	}
	return Median(runs)
}
