// Package stats is the arithmetic of runs: what several runs' values say, and what the ratio of two sides says beyond
// its noise. It is pure, and knows neither CEL nor the record.
package stats

import (
	"math"
	"slices"
)

// Median of v; NaN if v is empty. An even count gives the mean of the two in the middle.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return s[mid-1] + (s[mid]-s[mid-1])/2
}

// Mean of v; NaN if v is empty.
func Mean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// CV is the coefficient of variation with the population standard deviation: six pods with all connections on one give
// the square root of 5. It is NaN if v is empty or its mean is 0.
func CV(v []float64) float64 {
	mean := Mean(v)
	if math.IsNaN(mean) || mean == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum/float64(len(v))) / math.Abs(mean)
}
