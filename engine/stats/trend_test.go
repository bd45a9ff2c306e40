package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFit(t *testing.T) {
	l, ok := Fit([]float64{0, 1, 2, 3}, []float64{1, 3, 5, 7})
	if !ok || l.Slope != 2 || l.Rise != 6 || math.Abs(l.R2-1) > 1e-12 {
		t.Error(l, ok)
	}
	// y = 1, 2, 4: the slope is 1.5, the line explains 4.5 of 4.6667
	if l, ok := Fit([]float64{0, 1, 2}, []float64{1, 2, 4}); !ok || l.Slope != 1.5 || math.Abs(l.R2-4.5/(14.0/3)) > 1e-12 {
		t.Error(l, ok)
	}
	if l, ok := Fit([]float64{0, 1, 2}, []float64{5, 5, 5}); !ok || l != (Line{}) {
		t.Error("a constant has no rise, and nothing to explain", l, ok)
	}
	for _, x := range [][]float64{{1, 2}, {1, 1, 1}} {
		if _, ok := Fit(x, x); ok {
			t.Errorf("a line through x = %v", x)
		}
	}
}

// Gilbert, Statistical Methods for Environmental Pollution Monitoring (1987), works the variance with ties like this: here
// 2, 2, 3, 3, 3, 5 ... by hand. n = 10, groups of 2 and 3: (10 9 25 - 2 1 9 - 3 2 11) / 18 = 120.3333.
func TestTrendByHand(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	y := []float64{2, 2, 3, 3, 3, 5, 6, 7, 8, 9}
	got, ok := TrendOf(x, y) // 45 pairs, of which 1 + 3 are ties: S = 41
	z := 40 / math.Sqrt(120.0+1.0/3)
	if !ok || math.Abs(got.Tau-41.0/45) > 1e-12 || math.Abs(got.P-0.5*math.Erfc(z/math.Sqrt2)) > 1e-12 {
		t.Errorf("%+v, want tau %v", got, 41.0/45)
	}
	if got.Median != 4 || got.Slope < 0.75 || got.Slope > 1 || math.Abs(got.Rise-9*got.Slope) > 1e-12 {
		t.Errorf("%+v", got)
	}
}

func TestClimbs(t *testing.T) {
	var rng *rand.Rand // anew for each case, so that their order does not matter
	series := func(n int, f func(i int) float64) (x, y []float64) {
		for i := range n {
			x, y = append(x, float64(i)), append(y, f(i))
		}
		return x, y
	}
	walk := 0.0
	for name, c := range map[string]struct {
		n    int
		f    func(i int) float64
		want bool
	}{
		"flat":                      {600, func(i int) float64 { return 100 }, false},
		"noise":                     {600, func(i int) float64 { return 100 + 10*rng.NormFloat64() }, false},
		"a leak":                    {600, func(i int) float64 { return 100 + 0.1*float64(i) }, true},
		"a leak in noise":           {600, func(i int) float64 { return 100 + 0.1*float64(i) + 10*rng.NormFloat64() }, true},
		"a leak in a saw tooth":     {600, func(i int) float64 { return 100 + 0.1*float64(i) + float64(i%30) }, true},
		"a saw tooth":               {600, func(i int) float64 { return 100 + float64(i%100) }, false},
		"certain but tiny":          {600, func(i int) float64 { return 1000 + 0.01*float64(i) }, false},
		"falls":                     {600, func(i int) float64 { return 200 - 0.1*float64(i) }, false},
		"warms up, then flat":       {600, func(i int) float64 { return 100 + 50*math.Min(1, float64(i)/60) + rng.NormFloat64() }, false},
		"one outlier at the end":    {600, func(i int) float64 { return 100 + 900*math.Floor(float64(i)/599) }, false},
		"steps of descriptors":      {600, func(i int) float64 { return 10 + math.Floor(float64(i)/100) }, true},
		"a bounded walk":            {600, func(i int) float64 { walk = 0.9*walk + 10 + rng.NormFloat64(); return walk }, false},
		"few points, clear":         {12, func(i int) float64 { return 100 + 10*float64(i) }, true},
		"a hundred thousand points": {100000, func(i int) float64 { return 100 + float64(i)/1000 }, true},
	} {
		rng, walk = rand.New(rand.NewPCG(1, 2)), 100
		x, y := series(c.n, c.f)
		got, ok := TrendOf(x, y)
		if !ok || got.Climbs() != c.want {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
	if _, ok := TrendOf(series(9, func(i int) float64 { return float64(i) })); ok {
		t.Error("nine points say something")
	}
	if tr, ok := TrendOf(make([]float64, 100), make([]float64, 100)); ok {
		t.Error("a hundred points at one time say something", tr)
	}
}

func TestDistorted(t *testing.T) {
	for _, c := range []struct {
		requests, failed, slow, above float64
		want                          string
	}{
		{1000, 1, 0, 0, ""},
		{1000, 1, 1, 0, "distorted: 0.2 % of the requests of x failed or took over a second once sent"},
		{1000, 0, 2, 0.01, ""},
		{0, 0, 0, 0, ""},
	} {
		if got := Distorted("x", c.requests, c.failed, c.slow, c.above); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
