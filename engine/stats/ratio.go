package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// MinRuns is how many runs a side must have before anything is said about noise.
const MinRuns = 3

// Confidence of every interval, and of the half width in the noise floor.
const Confidence = 0.95

// Noise says how a ratio stands against the noise floor.
type Noise string

// Unknown noise allows no claim in either direction.
const (
	Beyond  Noise = "beyond"
	Within  Noise = "within"
	Unknown Noise = "unknown"
)

// A Side is one side of a ratio.
type Side struct {
	// Runs are the values of the cell's runs.
	Runs []float64
	// Sets are the same runs by the result set that they are of, where a side is several sets. May be empty.
	Sets [][]float64
	// Again are the medians of the same cell (scenario, target, matrix) in other stages and in each of several sets: its A/A
	// repeats, but for those of Stages, where the other side has its own. May be empty.
	Again []float64
}

// A Ratio of two sides. If NA is not empty there is no ratio, and NA says why.
type Ratio struct {
	// Value is med(a)/med(b); Low is min a / max b, High is max a / min b (positive infinity if a run of b is 0).
	Value, Low, High float64
	// Interval of the ratio of the geometric means, at Confidence: Student's, of the logarithms of the runs' values, or, where
	// that is wider, of the means of sets. Both its bounds are 0 where there is none: below MinRuns a side, or where a value
	// is 0.
	Interval [2]float64
	Noise    Noise
	// Floor is the noise floor as a factor above 1: the ratio is outside it if it is above Floor or below 1/Floor. It is 0
	// where the noise is unknown, and 1 where all values of both sides are the same one.
	Floor float64
	// Repeats is the part of Floor that is of repeats in other stages and sets, as a factor; 1 if there are none.
	Repeats float64
	// Own and Row are the parts of Repeats that are of stages, as factors: by how much the ratio itself differs from what it is in
	// those that repeat it, and what the cells beside it tell of that. 1 if no stage does, 0 where there is no floor.
	Own, Row float64
	// OnlyJust is true of a ratio that is outside Floor, and within the noise because not all of Interval is on that side of 1.
	OnlyJust bool
	// Why says why the noise is unknown.
	Why string
	// Needed is how many runs a side would, at this spread, put a ratio that is within the noise beyond it, or the runs
	// that a side needs before its noise is known; 0 if more runs would not tell (the repeats disagree by more than the
	// ratio, or medians and means go different ways), or none are needed.
	Needed int
	// NA is why there is no ratio: "no value of nginx", "0/0".
	NA string
}

// Compare gives the ratio of a to b. The names of the sides are for NA and Why.
//
// A ratio is beyond the noise if it is outside the noise floor and its interval is all on the same side of 1. The floor is
// the largest of how far the ratio is from itself in other stages (see Stages), of the largest |ln(med i / med j)| over the
// further repeats of each side's cell, and of the half width of the interval:
// t(0.975, na+nb-2) s sqrt(1/na + 1/nb), that of the 95 % confidence interval of a difference of means (Student, equal
// variances) with s the pooled sample deviation of the logarithms of the runs' values. Where the sides are several sets,
// runs of one set share what that moment of the machine did to them, and the same is computed of the sets' means, too (see
// drift). Runs without any scatter, and without repeats that differ, have no floor: that would be 1, and the smallest
// difference beyond it.
func Compare(aName string, a Side, bName string, b Side) Ratio {
	return CompareIn(Stages{}, aName, a, bName, b)
}

// CompareIn is Compare of two sides that were measured beside each other, with what the stages that repeat theirs tell.
func CompareIn(stages Stages, aName string, a Side, bName string, b Side) Ratio {
	if why := cmp.Or(noRatio(aName, a.Runs), noRatio(bName, b.Runs)); why != "" {
		return Ratio{NA: why}
	}
	ma, mb := Median(a.Runs), Median(b.Runs)
	switch {
	case ma == 0 && mb == 0:
		return Ratio{NA: "0/0"}
	case mb == 0:
		return Ratio{NA: bName + " is 0"}
	}
	r := Ratio{
		Value: ma / mb,
		Low:   slices.Min(a.Runs) / slices.Max(b.Runs),
		High:  math.Inf(1),
		Noise: Unknown,
	}
	if least := slices.Min(b.Runs); least > 0 {
		r.High = slices.Max(a.Runs) / least
	}
	if na, nb := len(a.Runs), len(b.Runs); na < MinRuns || nb < MinRuns {
		r.Needed = MinRuns
		r.Why = fmt.Sprintf("below %d runs a side the noise is unknown (%s has %d, %s %d)", MinRuns, aName, na, bName, nb)
		return r
	}
	s, ok := SpreadOf(a.Runs, b.Runs)
	if !ok {
		r.Why = "a run's value is 0, so its logarithm says nothing about noise"
		return r
	}
	own, row := stages.apart()
	r.Own, r.Row = math.Exp(own), math.Exp(row)
	r.weigh(a, b, s, max(own, row))
	return r
}

// noRatio says why there is no ratio of the values of a side; "" if there may be one.
func noRatio(name string, runs []float64) string {
	if len(runs) == 0 {
		return "no value of " + name
	}
	for _, v := range runs {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Sprintf("%s has a value of which there is no ratio (%g)", name, v)
		}
	}
	return ""
}

// weigh holds a ratio against its noise, of which s is what the runs of both sides scatter, and stages how far the ratio is from
// itself in other stages.
func (r *Ratio) weigh(a, b Side, s Spread, stages float64) {
	ma, mb := Median(a.Runs), Median(b.Runs)
	sets, half := drift(a, b), s.HalfWidth(len(a.Runs), len(b.Runs))
	again, half := max(stages, apart(ma, a.Again), apart(mb, b.Again), sets), max(half, sets)
	floor := max(again, half)
	if floor == 0 && ma != mb { // a resolution too coarse to see the scatter, or one value of which there is no other
		r.Why = "all runs of a side gave the same value, which says nothing about noise"
		return
	}
	r.Floor, r.Repeats = math.Exp(floor), math.Exp(again)
	means := stat.Mean(logs(a.Runs), nil) - stat.Mean(logs(b.Runs), nil)
	r.Interval = [2]float64{math.Exp(means - half), math.Exp(means + half)}
	size := math.Abs(math.Log(r.Value))
	along := math.Copysign(means, means*math.Log(r.Value)) // below 0 where the means go another way than the medians
	if size > floor && along > half {
		r.Noise = Beyond
		return
	}
	r.Noise, r.OnlyJust = Within, size > floor
	if told := min(size, along); size > again && told > sets {
		r.Needed = needed(s.Deviation, told)
	}
}

// drift is the half width of the interval of a difference of means, with each set's mean of logarithms as one value: how far
// two sides lie apart because they were measured at several times. It is exact for sets of as many runs each. 0 where it
// would rest on less than two degrees of freedom (two sets of one side alone), of which Student's quantile is 12.7.
func drift(a, b Side) float64 {
	means := func(s Side) (out []float64) {
		for _, set := range s.Sets {
			out = append(out, Geomean(set))
		}
		return out
	}
	x, y := means(a), means(b)
	s, ok := SpreadOf(x, y)
	if !ok || s.Freedom < 2 {
		return 0
	}
	return s.HalfWidth(max(1, len(x)), max(1, len(y)))
}

// apart is the largest |ln(med i / med j)| over a cell's median and those of its repeats; values that are not positive
// are left out.
func apart(med float64, again []float64) float64 {
	low, high := med, med
	for _, v := range again {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low <= 0 {
		return 0
	}
	return math.Log(high / low)
}
