package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Geomean is the geometric mean of positive values, the only mean of which the ratio of two is the mean of the ratios; NaN of
// none, and where one is 0 or negative.
func Geomean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	for _, x := range v {
		if !(x > 0) {
			return math.NaN()
		}
	}
	return stat.GeometricMean(v, nil)
}
