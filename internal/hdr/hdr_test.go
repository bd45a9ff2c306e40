package hdr

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// exact is the quantile of sorted values by the rank rule of the package.
func exact(sorted []int64, q float64) int64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))-1e-6))-1)]
}

func check(t *testing.T, h *Histogram, values []int64) {
	t.Helper()
	slices.Sort(values)
	if h.Count() != int64(len(values)) || h.Min() != values[0] || h.Max() != values[len(values)-1] {
		t.Errorf("count %d, min %d, max %d", h.Count(), h.Min(), h.Max())
	}
	for _, q := range []float64{0, 0.01, 0.07, 0.21, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1} {
		want := float64(exact(values, q))
		if got := h.Quantile(q); math.Abs(got-want) > want/1000+1 {
			t.Errorf("quantile %v of %d values is %v, want %v", q, len(values), got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 10, 100, 999, 10_000} {
		var h Histogram
		values := make([]int64, n)
		for i := range values { // from 1 us to 120 s
			values[i] = int64(math.Pow(10, 3+r.Float64()*8))
			h.Record(values[i])
		}
		check(t, &h, values)
	}
}

func TestAboveTheRange(t *testing.T) {
	var h Histogram
	for i := range 90 {
		h.Record(int64(i+1) * int64(time.Millisecond))
	}
	for i := range 10 {
		h.Record(Highest + Highest/10*int64(i+1))
	}
	if h.Count() != 100 || h.Overflow() != 10 {
		t.Errorf("count %d, overflow %d", h.Count(), h.Overflow())
	}
	if got, want := h.Quantile(0.9), 90e6; math.Abs(got-want) > want/1000 {
		t.Errorf("p90 is %v", got)
	}
	if got := h.Quantile(0.95); got != float64(2*Highest) {
		t.Errorf("p95 is %v, not the maximum", got)
	}
}

func TestEmpty(t *testing.T) {
	var h Histogram
	var none *Histogram
	if h.Count() != 0 || none.Count() != 0 || !math.IsNaN(h.Quantile(0.5)) || !math.IsNaN(h.Mean()) {
		t.Error("an empty histogram has values")
	}
	if err := h.Merge(none); err != nil || h.Count() != 0 {
		t.Error("merging nothing:", err)
	}
	b, err := json.Marshal(&h)
	if err != nil || string(b) != "{}" {
		t.Errorf("%s, %v", b, err)
	}
	h.Record(-5)
	if h.Min() != 0 || h.Max() != 0 || h.Quantile(0.5) != 0 {
		t.Errorf("a negative duration: %d to %d", h.Min(), h.Max())
	}
	h.Reset()
	h.Record(7)
	if h.Count() != 1 || h.Min() != 7 || h.Max() != 7 {
		t.Errorf("after a reset: %d values, %d to %d", h.Count(), h.Min(), h.Max())
	}
}

// TestMerge: parts that travelled as JSON merge to the same as the whole.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var all, merged Histogram
	var values []int64
	for part := range 5 {
		var h Histogram
		for range part * 300 {
			v := int64(r.ExpFloat64() * 1e6)
			values = append(values, v)
			h.Record(v)
			all.Record(v)
		}
		if part == 4 {
			h.Record(2 * Highest)
			all.Record(2 * Highest)
			values = append(values, 2*Highest)
		}
		b, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if err := merged.Merge(&back); err != nil {
			t.Fatal(err)
		}
	}
	check(t, &merged, values)
	if merged.Overflow() != 1 || merged.Mean() != all.Mean() {
		t.Errorf("overflow %d, mean %v, want %v", merged.Overflow(), merged.Mean(), all.Mean())
	}
}

func TestUnmarshalErrors(t *testing.T) {
	for _, s := range []string{`[]`, `{"c":"AA=="}`, `{"c":"!"}`, `{"c":5}`} {
		var h Histogram
		if err := json.Unmarshal([]byte(s), &h); err == nil {
			t.Errorf("%s was accepted", s)
		}
	}
}
