package stats

import "slices"

// Sum adds v; the sum of nothing is 0.
func Sum(v []float64) float64 {
	t := 0.0
	for _, x := range v {
		t += x
	}
	return t
}

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
	mx, my := Mean(x), Mean(y)
	var sxx, sxy, syy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
		syy += (y[i] - my) * (y[i] - my)
	}
	if sxx == 0 {
		return Line{}, false
	}
	l := Line{Slope: sxy / sxx, Rise: sxy / sxx * (slices.Max(x) - slices.Min(x))}
	if syy > 0 {
		l.R2 = sxy * sxy / (sxx * syy)
	}
	return l, true
}
