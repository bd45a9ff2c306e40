package stats

import (
	"math"
	"testing"

	"github.com/planrun/planrun/engine/series"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-3*math.Max(1, math.Abs(want))) { // NaN is near nothing
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestMedianAndCV(t *testing.T) {
	near(t, "median of three", Median([]float64{3, 1, 2}), 2)
	near(t, "median of four", Median([]float64{4, 1, 3, 2}), 2.5)
	near(t, "cv of all on one", CV([]float64{6, 0, 0, 0, 0, 0}), math.Sqrt(5))
	for _, v := range []float64{Median(nil), Mean(nil), CV(nil), CV([]float64{0, 0})} {
		if !math.IsNaN(v) {
			t.Errorf("of nothing: %v, want NaN", v)
		}
	}
}

func TestCompare(t *testing.T) {
	type want struct {
		value, low, high float64
		noise            Noise
		na               string
	}
	for _, c := range []struct {
		name string
		a, b Side
		want want
	}{
		{"far apart", Side{Runs: []float64{200, 202, 198}}, Side{Runs: []float64{100, 101, 99}}, want{2, 198. / 101, 202. / 99, Beyond, ""}},
		{"the same", Side{Runs: []float64{100, 101, 99}}, Side{Runs: []float64{100, 101, 99}}, want{1, 99. / 101, 101. / 99, Within, ""}},
		{"two runs", Side{Runs: []float64{200, 200}}, Side{Runs: []float64{100, 100, 100}}, want{2, 2, 2, Unknown, ""}},
		{"no spread at all", Side{Runs: []float64{100, 100, 100}}, Side{Runs: []float64{99, 99, 99}}, want{100. / 99, 100. / 99, 100. / 99, Unknown, ""}},
		{"one value of all", Side{Runs: []float64{100, 100, 100}}, Side{Runs: []float64{100, 100, 100}}, want{1, 1, 1, Within, ""}},
		{"no spread of runs, but one between stages", Side{Runs: []float64{100, 100, 100}, Again: []float64{100.5}}, Side{Runs: []float64{99, 99, 99}}, want{100. / 99, 100. / 99, 100. / 99, Beyond, ""}},
		{"another stage disagrees by more", Side{Runs: []float64{100, 100, 100}, Again: []float64{90}}, Side{Runs: []float64{99, 99, 99}}, want{100. / 99, 100. / 99, 100. / 99, Within, ""}},
		{"0/0", Side{Runs: []float64{0, 0, 0}}, Side{Runs: []float64{0, 0, 0}}, want{na: "0/0"}},
		{"x/0", Side{Runs: []float64{1, 1, 1}}, Side{Runs: []float64{0, 0, 0}}, want{na: "b is 0"}},
		{"a range without an end", Side{Runs: []float64{0, 0, 0}}, Side{Runs: []float64{0, 1, 1}}, want{0, 0, math.Inf(1), Unknown, ""}},
		{"0/x", Side{Runs: []float64{0, 0, 0}}, Side{Runs: []float64{1, 1, 1}}, want{0, 0, 0, Unknown, ""}},
		{"missing", Side{}, Side{Runs: []float64{1}}, want{na: "no value of a"}},
		{"not a number", Side{Runs: []float64{1}}, Side{Runs: []float64{math.NaN()}}, want{na: "b has a value of which there is no ratio (NaN)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Compare("a", c.a, "b", c.b)
			if r.NA != c.want.na {
				t.Fatalf("NA = %q, want %q", r.NA, c.want.na)
			}
			near(t, "value", r.Value, c.want.value)
			near(t, "low", r.Low, c.want.low)
			if r.High != c.want.high {
				near(t, "high", r.High, c.want.high)
			}
			if r.Noise != c.want.noise {
				t.Errorf("noise %q, want %q (floor %v)", r.Noise, c.want.noise, r.Floor)
			}
			if r.NA == "" && r.Noise == Unknown && r.Why == "" {
				t.Error("unknown noise without a reason")
			}
		})
	}
}

// Worked by hand: logarithms 0, ln 1.1, ln 1.21 on one side and their like shifted by ln 2 on the other; each deviates by
// ln 1.1, so s = ln 1.1, and t(0.975, 4) = 2.7764.
func TestFloor(t *testing.T) {
	b := []float64{1, 1.1, 1.21}
	a := []float64{2, 2.2, 2.42}
	r := Compare("a", Side{Runs: a}, "b", Side{Runs: b})
	near(t, "floor", math.Log(r.Floor), 2.7764*math.Log(1.1)*math.Sqrt(2./3))
}

func tells(s float64, n int, size float64) bool { return Spread{s, 2*n - 2}.HalfWidth(n, n) < size }

func TestNeeded(t *testing.T) {
	b := []float64{1, 1.1, 1.21}
	a := []float64{1.1, 1.21, 1.331}
	r := Compare("a", Side{Runs: a}, "b", Side{Runs: b})
	if r.Noise != Within || r.Needed <= 3 {
		t.Fatalf("%+v, want within the noise and more than 3 runs needed", r)
	}
	s := math.Log(1.1)
	if size := math.Log(1.1); !tells(s, r.Needed, size) || tells(s, r.Needed-1, size) {
		t.Errorf("%d runs are not the smallest number that would do", r.Needed)
	}
}

func TestAcross(t *testing.T) {
	for _, c := range []struct {
		a    series.Across
		runs []float64
		want float64
	}{
		{series.Median, []float64{3, 1, 2}, 2}, {series.Median, []float64{4, 1, 2, 3}, 2.5}, {series.Median, []float64{5}, 5},
		{series.Sum, []float64{1, 2, 4}, 7}, {series.Max, []float64{1, 4, 2}, 4}, {series.Max, []float64{-3, -2}, -2},
	} {
		if got := Across(c.a, c.runs); got != c.want {
			t.Errorf("%s of %v = %v, want %v", c.a, c.runs, got, c.want)
		}
	}
}
