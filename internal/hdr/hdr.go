// Package hdr fixes the one histogram configuration of planrun, so that histograms of workers, seconds and phases always
// merge: nanoseconds up to 120 s with three significant digits (HdrHistogram). A value above the range is counted
// as overflow, never dropped silently; the exact minimum and maximum are kept beside it, because a histogram rounds to
// its bucket.
package hdr

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// Lowest and Highest bound the recorded values, in nanoseconds. Lowest is the unit, not only the smallest value: with 1 us
	// all values up to 1 ms would be told apart by half a microsecond only, which is a percent of a fast answer.
	Lowest  = int64(1)
	Highest = int64(120 * time.Second)
	// Digits of precision: a value is off by at most 0.1 %.
	Digits = 3
)

// A Histogram records durations. The zero value is empty and ready to use.
type Histogram struct {
	h        *hdrhistogram.Histogram // nil if nothing was recorded within the range, or if it is packed
	packed   []byte                  // V2, compressed: about a hundredth of the memory
	n        int64                   // values within the range
	overflow int64
	min, max int64 // exact, in nanoseconds; valid if Count() > 0
}

// Pack gives up the counters' memory for their compressed form. Reading a packed histogram unpacks it each time, without
// keeping that; recording and merging into it unpack it for good. A nil histogram stays nil.
func (h *Histogram) Pack() error {
	if h == nil || h.h == nil {
		return nil
	}
	b, err := h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return fmt.Errorf("packing a histogram: %w", err)
	}
	h.packed, h.h = b, nil
	return nil
}

// counters are those of the values within the range; they may be a copy.
func (h *Histogram) counters() *hdrhistogram.Histogram {
	if h.h != nil || h.packed == nil {
		return h.h
	}
	raw, err := hdrhistogram.Decode(h.packed)
	if err != nil {
		panic("hdr: what was packed cannot be unpacked: " + err.Error())
	}
	return raw
}

// own makes the counters ready to be changed.
func (h *Histogram) own() *hdrhistogram.Histogram {
	if h.h == nil {
		old := h.counters()
		if h.h = hdrhistogram.New(Lowest, Highest, Digits); old != nil {
			h.h.Merge(old)
		}
		h.packed = nil
	}
	return h.h
}

// Record counts one duration of ns nanoseconds; a negative one counts as 0.
func (h *Histogram) Record(ns int64) {
	ns = max(ns, 0)
	if h.Count() == 0 {
		h.min, h.max = ns, ns
	} else {
		h.min, h.max = min(h.min, ns), max(h.max, ns)
	}
	// The last bucket of the library ends somewhat above the range.
	if ns > Highest || h.own().RecordValue(ns) != nil {
		h.overflow++
		return
	}
	h.n++
}

// Count is the number of recorded durations, with those above the range.
func (h *Histogram) Count() int64 {
	if h == nil {
		return 0
	}
	return h.n + h.overflow
}

// Overflow is how many durations were above Highest.
func (h *Histogram) Overflow() int64 { return h.overflow }

// Min and Max are exact, in nanoseconds; 0 if empty.
func (h *Histogram) Min() int64 { return h.min }

// Max is the exact maximum in nanoseconds; 0 if empty.
func (h *Histogram) Max() int64 { return h.max }

// Quantile gives the duration in nanoseconds below or at which the fraction q (0 to 1) of the values lies. It is NaN if
// the histogram is empty, and never above the exact maximum. A rank that falls among the values above the range gives
// the exact maximum.
func (h *Histogram) Quantile(q float64) float64 {
	n := h.Count()
	if n == 0 || math.IsNaN(q) {
		return math.NaN()
	}
	// The rank is exact but for products such as 0.07 * 100, which are a little above the whole number.
	rank := max(1, math.Ceil(q*float64(n)-1e-6))
	if rank > float64(h.n) {
		return float64(h.max)
	}
	// The library rounds a rank instead of taking the next one, so it gets the quantile of a whole rank.
	v := h.counters().ValueAtQuantile(100 * rank / float64(h.n))
	return float64(min(max(v, h.min), h.max))
}

// Mean is in nanoseconds, NaN if empty. Values above the range enter with the highest trackable value.
func (h *Histogram) Mean() float64 {
	n := h.Count()
	if n == 0 {
		return math.NaN()
	}
	sum := float64(Highest) * float64(h.overflow)
	if h.n > 0 {
		sum += h.counters().Mean() * float64(h.n)
	}
	return sum / float64(n)
}

// Merge adds o to h.
func (h *Histogram) Merge(o *Histogram) error {
	if o.Count() == 0 {
		return nil
	}
	if h.Count() == 0 {
		h.min, h.max = o.min, o.max
	} else {
		h.min, h.max = min(h.min, o.min), max(h.max, o.max)
	}
	if o.n > 0 {
		if dropped := h.own().Merge(o.counters()); dropped != 0 {
			return fmt.Errorf("merging histograms dropped %d values", dropped)
		}
	}
	h.n += o.n
	h.overflow += o.overflow
	return nil
}

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	if h.h != nil {
		h.h.Reset()
	}
	h.packed, h.n, h.overflow, h.min, h.max = nil, 0, 0, 0, 0
}

// Raw is the underlying histogram, for the .hlog writer, to be read only; nil if nothing was ever recorded.
func (h *Histogram) Raw() *hdrhistogram.Histogram { return h.counters() }

type wire struct {
	Hist     []byte `json:"h,omitempty"` // V2, compressed
	Overflow int64  `json:"o,omitempty"`
	Min      int64  `json:"min,omitempty"`
	Max      int64  `json:"max,omitempty"`
}

// MarshalJSON writes the compressed V2 encoding with the exact minimum and maximum.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	if h.Count() == 0 {
		return []byte("{}"), nil
	}
	w := wire{h.packed, h.overflow, h.min, h.max}
	if h.h != nil {
		var err error
		if w.Hist, err = h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err != nil {
			return nil, fmt.Errorf("encoding a histogram: %w", err)
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	*h = Histogram{overflow: w.Overflow, min: w.Min, max: w.Max}
	if len(w.Hist) == 0 {
		return nil
	}
	raw, err := hdrhistogram.Decode(w.Hist)
	if err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	// What was read may have another range; one fixed configuration everywhere.
	h.h = hdrhistogram.New(Lowest, Highest, Digits)
	if dropped := h.h.Merge(raw); dropped != 0 {
		return fmt.Errorf("decoding a histogram: %d values are out of range", dropped)
	}
	h.n = h.h.TotalCount()
	return nil
}
