package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lognormal gives n values whose logarithms are normal around that of median with the deviation sigma.
func lognormal(r *rand.Rand, n int, median, sigma float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = median * math.Exp(sigma*r.NormFloat64())
	}
	return v
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * by
	}
	return out
}

func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Sides of two to twelve runs, near each other and far apart, with and without repeats.
func TestCompareProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for range 500 {
		na, nb, sigma := 2+r.IntN(11), 2+r.IntN(11), 0.2*r.Float64()
		a := Side{Runs: lognormal(r, na, 100*math.Exp(r.NormFloat64()), sigma)}
		b := Side{Runs: lognormal(r, nb, 100*math.Exp(r.NormFloat64()), sigma)}
		if r.IntN(2) == 0 {
			a.Again, b.Again = lognormal(r, 2, Median(a.Runs), sigma), lognormal(r, 1, Median(b.Runs), sigma)
		}
		ab, ba := Compare("a", a, "b", b), Compare("b", b, "a", a)

		same(t, "ratio(a, b) ratio(b, a)", ab.Value*ba.Value, 1)
		same(t, "the range backwards", ab.Low*ba.High, 1)
		same(t, "the floor backwards", ba.Floor, ab.Floor)
		if ab.Noise != ba.Noise || ab.Needed != ba.Needed {
			t.Errorf("noise %s and %d needed, backwards %s and %d", ab.Noise, ab.Needed, ba.Noise, ba.Needed)
		}
		if ab.Noise != Unknown {
			same(t, "the interval backwards", ab.Interval[0]*ba.Interval[1], 1)
		}

		k := math.Exp(5 * r.NormFloat64())
		wide := Compare("a", Side{Runs: scaled(a.Runs, k), Again: scaled(a.Again, k)}, "b", Side{Runs: scaled(b.Runs, k), Again: scaled(b.Again, k)})
		same(t, "both scaled: the ratio", wide.Value, ab.Value)
		same(t, "both scaled: the floor", wide.Floor, ab.Floor)
		same(t, "both scaled: the interval", wide.Interval[1], ab.Interval[1])
		one := Compare("a", Side{Runs: scaled(a.Runs, k), Again: scaled(a.Again, k)}, "b", b)
		same(t, "one scaled: the ratio", one.Value, k*ab.Value)
		same(t, "one scaled: the floor", one.Floor, ab.Floor)

		r.Shuffle(na, func(i, j int) { a.Runs[i], a.Runs[j] = a.Runs[j], a.Runs[i] })
		r.Shuffle(nb, func(i, j int) { b.Runs[i], b.Runs[j] = b.Runs[j], b.Runs[i] })
		mixed := Compare("a", a, "b", b)
		same(t, "runs in another order: the ratio", mixed.Value, ab.Value)
		same(t, "runs in another order: the floor", mixed.Floor, ab.Floor)
		if t.Failed() {
			t.Fatalf("a %v\nb %v", a, b)
		}
	}
}

// Of two sides that are the same, the interval leaves out 1 in 5 %: it is exact for normal logarithms. The floor alone would be
// passed more often, because it sets medians against the half width of a difference of means; both together are passed less
// often than each.
func TestFalseAlarms(t *testing.T) {
	for _, c := range []struct {
		runs              int
		both, floor, wide float64 // how often each is passed, of normal logarithms; known to about 0.005
	}{{3, 0.04, 0.062, 0.05}, {5, 0.04, 0.081, 0.05}, {10, 0.04, 0.084, 0.05}} {
		r := rand.New(rand.NewPCG(3, uint64(c.runs)))
		const pairs = 10000
		var both, floor, outside int
		for range pairs {
			x := Compare("a", Side{Runs: lognormal(r, c.runs, 100, 0.05)}, "b", Side{Runs: lognormal(r, c.runs, 100, 0.05)})
			if x.Noise == Beyond {
				both++
			}
			if x.Noise == Beyond || x.OnlyJust {
				floor++
			}
			if x.Interval[0] > 1 || x.Interval[1] < 1 {
				outside++
			}
		}
		t.Logf("%d runs a side: %.3f beyond the noise, %.3f outside the floor, %.3f of the intervals leave out 1", c.runs, float64(both)/pairs, float64(floor)/pairs, float64(outside)/pairs)
		if got := float64(both) / pairs; math.Abs(got-c.both) > 0.01 {
			t.Errorf("%d runs a side: %.3f are beyond the noise, want about %.3f", c.runs, got, c.both)
		}
		if got := float64(floor) / pairs; math.Abs(got-c.floor) > 0.012 {
			t.Errorf("%d runs a side: %.3f are outside the floor, want about %.3f", c.runs, got, c.floor)
		}
		if got := float64(outside) / pairs; math.Abs(got-c.wide) > 0.01 {
			t.Errorf("%d runs a side: %.3f of the intervals leave out 1, want about %.3f", c.runs, got, c.wide)
		}
	}
}

// Sets of the same thing lie apart by more than their runs do, because the machine is another one at another time. Sides of
// one set each are then called different more often than not; of several sets the drift between them is part of the noise.
func TestFalseAlarmsOfSets(t *testing.T) {
	const runs, sigma, drift, pairs = 4, 0.01, 0.03, 2000
	for _, c := range []struct {
		sets        int
		most        float64 // of A/A pairs may be beyond the noise
		least, slow float64 // of pairs that are slow times apart must be
	}{{1, 1, 0, 1}, {2, 0.05, 0, 1}, {3, 0.05, 0.9, 1.2}, {4, 0.05, 0.9, 1.15}} {
		r := rand.New(rand.NewPCG(4, uint64(c.sets)))
		side := func(median float64) (s Side) {
			for range c.sets {
				set := lognormal(r, runs, median*math.Exp(drift*r.NormFloat64()), sigma)
				s.Runs = append(s.Runs, set...)
				if c.sets > 1 {
					s.Sets, s.Again = append(s.Sets, set), append(s.Again, Median(set))
				}
			}
			return s
		}
		alarms, found := 0, 0
		for range pairs {
			if Compare("a", side(100), "b", side(100)).Noise == Beyond {
				alarms++
			}
			if Compare("a", side(100*c.slow), "b", side(100)).Noise == Beyond {
				found++
			}
		}
		a, f := float64(alarms)/pairs, float64(found)/pairs
		t.Logf("%d sets a side: %.3f of A/A pairs are beyond the noise, %.3f of those that are %v apart", c.sets, a, f, c.slow)
		if a > c.most || f < c.least {
			t.Errorf("%d sets a side: %.3f of A/A pairs are beyond the noise (at most %v), %.3f of those that are %v apart (at least %v)", c.sets, a, c.most, f, c.slow, c.least)
		}
		if c.sets == 1 && a < 0.5 {
			t.Errorf("of one set a side only %.3f are beyond the noise: the drift is too small to show anything", a)
		}
	}
}

// Worked by hand: the means of the logarithms of two sets lie ln 1.2 apart on each side, so their deviation is
// ln(1.2)/sqrt 2, and t(0.975, 2) = 4.3027; runs of a set do not differ.
func TestDrift(t *testing.T) {
	two := func(v float64) Side {
		x, y := []float64{v, v}, []float64{1.2 * v, 1.2 * v}
		return Side{Runs: append(x[:2:2], y...), Sets: [][]float64{x, y}, Again: []float64{v, 1.2 * v}}
	}
	r := Compare("a", two(300), "b", two(100))
	half := 4.3027 * math.Log(1.2) / math.Sqrt2
	near(t, "the part of repeats", math.Log(r.Repeats), half)
	near(t, "the floor", math.Log(r.Floor), half)
	near(t, "the interval", math.Log(r.Interval[1]/r.Interval[0]), 2*half)
	if r.Noise != Beyond {
		t.Errorf("three times as much is %s", r.Noise)
	}
	// Two sets of one side alone have one degree of freedom: how far they lie apart is the floor, and there is no interval of them.
	near(t, "one side of two sets", Compare("a", two(300), "b", Side{Runs: []float64{100, 101, 100}}).Repeats, 1.2)
	if r := Compare("a", two(110), "b", two(100)); r.Noise != Within || r.Needed != 0 {
		t.Errorf("less apart than sets of the same: %s, and %d runs would tell", r.Noise, r.Needed)
	}
}

// At the number of runs that is said to tell, at the same spread, the ratio is beyond the floor and so is the mean.
func TestNeededTells(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	asked := 0
	for range 200 {
		a, b := lognormal(r, 3, 102, 0.02), lognormal(r, 3, 100, 0.02)
		x := Compare("a", Side{Runs: a}, "b", Side{Runs: b})
		if x.Needed == 0 {
			continue
		}
		asked++
		s, _ := SpreadOf(a, b)
		means := math.Abs(math.Log(Geomean(a) / Geomean(b)))
		if size := min(math.Abs(math.Log(x.Value)), means); !tells(s.Deviation, x.Needed, size) || tells(s.Deviation, x.Needed-1, size) {
			t.Errorf("%d runs are not the smallest number that would tell", x.Needed)
		}
	}
	if asked < 50 {
		t.Errorf("only %d of 200 were within the noise", asked)
	}
}

func TestMedianInterval(t *testing.T) {
	v := []float64{3, 1, 6, 2, 5, 4}
	got, ok := MedianInterval(v)
	if want := (Interval{1, 6, 1 - 2./64}); !ok || got != want { // all of six below the median, or all above: 2/2^6
		t.Errorf("of six: %v %v, want %v", got, ok, want)
	}
	if v[0] != 3 {
		t.Error("the caller's runs were sorted")
	}
	if _, ok := MedianInterval(v[:5]); ok {
		t.Error("five runs have an interval of their median")
	}
	// Whatever the distribution: here one with a heavy tail.
	r := rand.New(rand.NewPCG(2, 2))
	held := 0
	for range 4000 {
		v := make([]float64, 10)
		for i := range v {
			v[i] = 1 / (1 - r.Float64()) // median 2
		}
		if got, ok := MedianInterval(v); ok && got.Low <= 2 && 2 <= got.High {
			held++
		}
	}
	if part := float64(held) / 4000; part < 0.96 || part > 0.995 { // 97.9 % exactly
		t.Errorf("%.3f of the intervals of ten hold the median", part)
	}
}

func TestShift(t *testing.T) {
	if _, ok := ShiftOf([]float64{1.1, 1.1}); ok {
		t.Error("two ratios have a shift")
	}
	if _, ok := ShiftOf([]float64{1.1, 1.1, 0}); ok {
		t.Error("a ratio of 0 has a logarithm")
	}
	s, ok := ShiftOf([]float64{1.02, 1.03, 1.04, 0.99, 1.03})
	if !ok || s.Along != 4 || !s.Certainly && s.Interval.Low > 1 {
		t.Errorf("%+v", s)
	}
	// Logarithms 0.1, 0.2, 0.3: mean 0.2, deviation 0.1, t(0.975, 2) = 4.3027.
	s, _ = ShiftOf([]float64{math.Exp(0.1), math.Exp(0.2), math.Exp(0.3)})
	near(t, "mean", math.Log(s.Mean), 0.2)
	near(t, "low", math.Log(s.Interval.Low), 0.2-4.3027*0.1/math.Sqrt(3))
	if s.Certainly {
		t.Error("certain, though the interval holds 1")
	}
	if s, _ := ShiftOf([]float64{1.1, 1.1, 1.1}); !s.Certainly || s.Along != 3 {
		t.Errorf("all the same: %+v", s)
	}
}
