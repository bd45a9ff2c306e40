package hdr

import (
	"encoding/json"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// What a histogram was sent as it is read as, counter by counter, from the lowest to the highest value.
func TestWire(t *testing.T) {
	for name, values := range map[string][]int64{
		"the ends of the range":   {0, Lowest, Highest},
		"the highest alone":       {Highest},
		"above the range":         {Highest, 3 * Highest},
		"only above the range":    {2 * Highest},
		"many of one, and others": {100, 100, 100, 5000, 70_000_000, 70_000_001},
	} {
		var h, back Histogram
		for _, v := range values {
			for range 300 { // counters of several bytes
				h.Record(v)
			}
		}
		js, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(js, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h.Raw() != nil && !h.Raw().Equals(back.Raw()) || h.Count() != back.Count() || h.Overflow() != back.Overflow() || h.Min() != back.Min() || h.Max() != back.Max() {
			t.Errorf("%s: %d values (%d above) from %d to %d became %d (%d) from %d to %d", name, h.Count(), h.Overflow(), h.Min(), h.Max(), back.Count(), back.Overflow(), back.Min(), back.Max())
		}
	}
}

// What can be read at all is whole, and is written as what it was read as.
func FuzzWire(f *testing.F) {
	for _, js := range []string{`{}`, `{"c":"AgE=","min":3,"max":4}`, `{"c":"/////////////w=="}`, `{"c":"gA=="}`, `{"c":"AA=="}`, `{"c":"Aw=="}`, `{"o":3,"min":1,"max":9}`, `{"c":"////////////////AQ=="}`} {
		f.Add([]byte(js))
	}
	f.Fuzz(func(t *testing.T, js []byte) {
		var h, again Histogram
		if json.Unmarshal(js, &h) != nil || h.h == nil {
			return
		}
		if h.n < 0 || h.h.TotalCount() != h.n {
			t.Fatalf("%s: %d values, the counters have %d", js, h.n, h.h.TotalCount())
		}
		out, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &again); err != nil || h.Count() > 0 && !h.h.Equals(again.h) {
			t.Fatalf("%s became %s: %v", js, out, err)
		}
	})
}

func TestWireRefuses(t *testing.T) {
	long := appendCounts(nil, append(hdrhistogram.New(Lowest, Highest, Digits).Export().Counts, 1))
	for name, w := range map[string]wire{
		"a counter more than there are": {Counts: long},
		"a counter that is cut off":     {Counts: []byte{0x80}},
		"a zero that is not run":        {Counts: []byte{0}},
		"more zeros than there are":     {Counts: appendCounts(nil, append(make([]int64, 1<<20), 1))},
	} {
		js, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		var h Histogram
		if json.Unmarshal(js, &h) == nil {
			t.Errorf("%s is read as %d values", name, h.Count())
		}
	}
}
