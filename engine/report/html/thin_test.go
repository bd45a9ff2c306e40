package html

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func TestThinKeepsPeaksAndGaps(t *testing.T) {
	values := make([]*float64, 10_000)
	for i := range values {
		v := math.Sin(float64(i) / 500)
		switch {
		case i == 4321:
			v = 99
		case i == 4322:
			v = -99
		case i >= 7000 && i < 7200:
			continue
		}
		values[i] = &v
	}
	runs := thin(values, mostPoints)
	if len(runs) != 2 {
		t.Fatalf("%d runs, want 2: before and after the gap", len(runs))
	}
	n, lo, hi, last := 0, math.Inf(1), math.Inf(-1), -1.0
	for _, run := range runs {
		for _, p := range run {
			n, lo, hi = n+1, min(lo, p[1]), max(hi, p[1])
			if p[0] <= last {
				t.Fatalf("point %v comes after %v", p, last)
			}
			last = p[0]
		}
	}
	if n > mostPoints || lo != -99 || hi != 99 {
		t.Errorf("%d points from %v to %v", n, lo, hi)
	}
	if runs := thin(values[:100], mostPoints); len(runs) != 1 || len(runs[0]) != 100 || runs[0][0][0] != 0.5 {
		t.Errorf("few points are not as they were: %d runs", len(runs))
	}
	if runs := thin(nil, mostPoints); runs != nil {
		t.Errorf("of nothing: %v", runs)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		got  []string
		want string
	}{
		{tickLabels(numbers{}, 0, 4600), "0 1000 2000 3000 4000"},
		{tickLabels(numbers{}, 0, 0.13), "0 0.05 0.1"},
		{tickLabels(numbers{}, 0, 250_000), "0 50k 100k 150k 200k 250k"},
		{tickLabels(numbers{}, 3, 3), "3"},
		{tickLabels(powers{}, 0.4, 90), "0.5 1 2 5 10 20 50"},
		{tickLabels(powers{}, 0.4, 9000), "1 10 100 1000"},
		{tickLabels(clock{}, 0, 10), "0 s 1 s 2 s 3 s 4 s 5 s 6 s 7 s 8 s 9 s 10 s"},
		{tickLabels(clock{}, 0, 600), "0 s 60 s 2:00 3:00 4:00 5:00 6:00 7:00 8:00 9:00 10:00"},
		{tickLabels(nines{}, 0, 4), "0 % 50 % 75 % 90 % 99 % 99.9 % 99.99 %"},
	} {
		if got := strings.Join(c.got, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func tickLabels(of plot.Ticker, lo, hi float64) (out []string) {
	for _, t := range of.Ticks(lo, hi) {
		out = append(out, t.Label)
	}
	return out
}
