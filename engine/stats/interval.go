package stats

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat"
)

// MedianRuns is how many runs an interval of their median needs at Confidence.
const MedianRuns = 6

// An Interval is where a number lies at a confidence.
type Interval struct {
	Low, High  float64
	Confidence float64 // 0 to 1; at least Confidence
}

// MedianInterval is the interval of the median of what v is a sample of, whatever its distribution: between two of the
// sorted values, by the binomial distribution of how many lie below the median. It reports false below MedianRuns values:
// even the lowest and the highest then hold the median with less than Confidence.
func MedianInterval(v []float64) (Interval, bool) {
	if len(v) < MedianRuns {
		return Interval{}, false
	}
	// It sorts what it is given.
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds), Confidence)
	return Interval{s.Lo, s.Hi, s.Confidence}, !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0)
}

// Shift is what ratios have in common.
type Shift struct {
	Mean      float64  // their geometric mean
	Interval  Interval // Student's, of the logarithms
	Along     int      // how many lie on the same side of 1 as the mean
	Certainly bool     // the interval leaves out 1
}

// ShiftOf says whether ratios, all above 0, go one way together. It reports false for fewer than three.
func ShiftOf(ratios []float64) (Shift, bool) {
	n := len(ratios)
	if n < 3 || slices.Min(ratios) <= 0 {
		return Shift{}, false
	}
	mean, deviation := stat.MeanStdDev(logs(ratios), nil)
	half := student(n-1) * deviation / math.Sqrt(float64(n))
	s := Shift{Mean: math.Exp(mean), Interval: Interval{math.Exp(mean - half), math.Exp(mean + half), Confidence}, Certainly: math.Abs(mean) > half}
	for _, r := range ratios {
		if r != 1 && (r > 1) == (s.Mean > 1) {
			s.Along++
		}
	}
	return s, true
}
