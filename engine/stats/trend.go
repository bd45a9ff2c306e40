package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Thresholds of Trend.Climbs.
const (
	TrendBins       = 60   // a longer series is reduced to the medians of so many equal spans of time
	TrendLeast      = 10   // points below which nothing is said
	TrendP          = 0.01 // one-sided probability of such an S without a trend
	TrendRelative   = 0.05 // the rise must be this part of the median, so that a certain but tiny trend is none
	TrendPersistent = 0.5  // Kendall's tau: of the pairs of points, rising ones must outnumber falling ones by half
)

// Trend is the Mann-Kendall test for a monotonic trend with the Theil-Sen slope.
//
// The test asks whether later points are above earlier ones more often than chance allows, whatever the shape, so that an
// outlier, a step of the allocator or a saw tooth does not decide. Neighbouring samples of a process's memory depend on
// each other, which makes the plain test see trends everywhere: a series is first reduced to the medians of TrendBins
// equal spans. Sources: H. B. Mann, Econometrica 13 (1945); M. G. Kendall, Rank Correlation Methods (1975), variance with
// ties; P. K. Sen, JASA 63 (1968).
type Trend struct {
	N      int     // points after the reduction
	Tau    float64 // (rising - falling pairs) / pairs, -1 to 1
	P      float64 // one-sided probability of a tau this high without a trend
	Slope  float64 // Theil-Sen: the median of the slopes of all pairs, units per second
	Rise   float64 // Slope times the time from the first to the last point
	Median float64
}

// Climbs says whether the series goes up: certainly (P), persistently (Tau) and by an amount that matters (Rise).
func (t Trend) Climbs() bool {
	return t.P < TrendP && t.Tau >= TrendPersistent && t.Rise > TrendRelative*math.Abs(t.Median)
}

// TrendOf tests a series whose times are ascending. It reports false for fewer than TrendLeast points. (gonum's Kendall
// takes ties for agreement: a constant series would rise.)
func TrendOf(times, values []float64) (Trend, bool) {
	x, y := reduce(times, values, TrendBins)
	n := len(x)
	if n < TrendLeast {
		return Trend{N: n}, false
	}
	s, slopes := 0.0, make([]float64, 0, n*(n-1)/2)
	for i := range n {
		for j := i + 1; j < n; j++ {
			switch {
			case y[j] > y[i]:
				s++
			case y[j] < y[i]:
				s--
			}
			if x[j] > x[i] {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	f := float64(n)
	variance := f * (f - 1) * (2*f + 5)
	for _, g := range ties(y) {
		variance -= g * (g - 1) * (2*g + 5)
	}
	variance /= 18
	z := 0.0
	switch { // the continuity correction: S moves in steps of 2
	case variance <= 0:
	case s > 0:
		z = (s - 1) / math.Sqrt(variance)
	case s < 0:
		z = (s + 1) / math.Sqrt(variance)
	}
	t := Trend{N: n, Tau: s / (f * (f - 1) / 2), P: distuv.UnitNormal.Survival(z), Slope: Median(slopes), Median: Median(y)}
	t.Rise = t.Slope * (x[n-1] - x[0])
	return t, true
}

// reduce takes the medians of at most bins equal spans of time; a span without points gives none.
func reduce(x, y []float64, bins int) (bx, by []float64) {
	if len(x) <= bins {
		return x, y
	}
	from, width := x[0], (x[len(x)-1]-x[0])/float64(bins)
	if width <= 0 {
		return x[:1], y[:1]
	}
	for i := 0; i < len(x); {
		bin, start := min(bins-1, int((x[i]-from)/width)), i
		for i < len(x) && min(bins-1, int((x[i]-from)/width)) == bin {
			i++
		}
		bx, by = append(bx, Median(x[start:i])), append(by, Median(y[start:i]))
	}
	return bx, by
}

// ties gives the sizes of the groups of equal values.
func ties(v []float64) (groups []float64) {
	s := slices.Sorted(slices.Values(v))
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		if j-i > 1 {
			groups = append(groups, float64(j-i))
		}
		i = j
	}
	return groups
}
