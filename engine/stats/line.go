package stats

import (
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Line is a least-squares line through points.
type Line struct {
	Slope float64 // units of y per unit of x
	Rise  float64 // what the line rises from the smallest x to the largest
	R2    float64 // the part of y's variance that the line explains, 0 to 1; 0 where y is constant
}

// Fit fits a line. It reports false for fewer than three points or where all x are equal.
func Fit(x, y []float64) (Line, bool) {
	if len(x) < 3 || len(x) != len(y) {
		return Line{}, false
	}
	width := slices.Max(x) - slices.Min(x)
	if width == 0 {
		return Line{}, false
	}
	at0, slope := stat.LinearRegression(x, y, nil, false)
	l := Line{Slope: slope, Rise: slope * width}
	if slices.Max(y) > slices.Min(y) {
		l.R2 = stat.RSquared(x, y, nil, at0, slope)
	}
	return l, true
}
