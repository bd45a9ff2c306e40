package hdr

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

// TestPack holds a packed histogram against the same one unpacked, in everything that can be asked of it.
func TestPack(t *testing.T) {
	var a, b Histogram
	for i := range int64(10_000) {
		v := 50_000 + i*i%7_000_000
		a.Record(v)
		b.Record(v)
	}
	a.Record(int64(3 * time.Minute))
	b.Record(int64(3 * time.Minute))
	b.Pack()
	if b.h != nil || b.packed == nil || b.packed.GetMemorySize() > 30_000 {
		t.Errorf("%d bytes, counters kept: %v", b.packed.GetMemorySize(), b.h != nil)
	}
	same := func(when string) {
		t.Helper()
		if a.Count() != b.Count() || a.Overflow() != b.Overflow() || a.Min() != b.Min() || a.Max() != b.Max() || math.Abs(a.Mean()-b.Mean()) > 1 {
			t.Errorf("%s: %d %d %d %d %g, want %d %d %d %d %g", when, b.Count(), b.Overflow(), b.Min(), b.Max(), b.Mean(), a.Count(), a.Overflow(), a.Min(), a.Max(), a.Mean())
		}
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
			if a.Quantile(q) != b.Quantile(q) {
				t.Errorf("%s: quantile %g is %g, want %g", when, q, b.Quantile(q), a.Quantile(q))
			}
		}
	}
	same("packed")
	js, err := json.Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	var c Histogram
	if err := json.Unmarshal(js, &c); err != nil || c.Count() != a.Count() || c.Quantile(0.99) != a.Quantile(0.99) {
		t.Errorf("through JSON: %d, %v", c.Count(), err)
	}
	var sum Histogram
	if err := sum.Merge(&b); err != nil || sum.Count() != a.Count() || sum.Quantile(0.5) != a.Quantile(0.5) {
		t.Errorf("merged: %d, %v", sum.Count(), err)
	}
	a.Record(77_000)
	b.Record(77_000)
	same("recorded into")
	var none, empty *Histogram = nil, new(Histogram)
	none.Pack()
	if empty.Pack(); none != nil || empty.Count() != 0 {
		t.Error("packed nothing is something")
	}
}
