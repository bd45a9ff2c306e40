// Package hdr fixes the one histogram configuration of planrun, so that histograms of workers, seconds and phases always
// merge: nanoseconds up to 120 s with three significant digits (HdrHistogram). A value above the range is counted
// as overflow, never dropped silently; the exact minimum and maximum are kept beside it, because a histogram rounds to
// its bucket.
package hdr

import (
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
	packed   *hdrhistogram.PackedHistogram
	n        int64 // values within the range
	overflow int64
	min, max int64 // exact, in nanoseconds; valid if Count() > 0
}

// Pack gives up the memory of all counters for that of those which are not 0: a few kilobytes for some hundred kilobytes. What
// can be read of a packed histogram is read without unpacking it; recording and merging into it unpack it. A nil histogram stays nil.
func (h *Histogram) Pack() {
	if h == nil || h.h == nil {
		return
	}
	h.packed = hdrhistogram.NewPacked(Lowest, Highest, Digits)
	h.packed.MergeFrom(h.h) // of the same range, so nothing is dropped
	h.packed.Compact()
	h.h = nil
}

// own makes the counters ready to be changed.
func (h *Histogram) own() *hdrhistogram.Histogram {
	if h.h == nil {
		h.h, h.packed = h.Raw(), nil
	}
	if h.h == nil {
		h.h = hdrhistogram.New(Lowest, Highest, Digits)
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
	percent := 100 * rank / float64(h.n)
	var v int64
	if h.packed != nil {
		v = h.packed.ValueAtPercentile(percent)
	} else {
		v = h.h.ValueAtQuantile(percent)
	}
	return float64(min(max(v, h.min), h.max))
}

// Mean is in nanoseconds, NaN if empty. Values above the range enter with the highest trackable value.
func (h *Histogram) Mean() float64 {
	n := h.Count()
	if n == 0 {
		return math.NaN()
	}
	sum := float64(Highest) * float64(h.overflow)
	switch {
	case h.packed != nil:
		sum += h.packed.Mean() * float64(h.n)
	case h.n > 0:
		sum += h.h.Mean() * float64(h.n)
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
	var dropped int64
	switch {
	case o.packed != nil:
		dropped = o.packed.MergeInto(h.own())
	case o.n > 0:
		dropped = h.own().Merge(o.h)
	}
	if dropped != 0 {
		return fmt.Errorf("merging histograms dropped %d values", dropped)
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

// Raw is the underlying histogram, for the .hlog writer, to be read only, or a copy; nil if nothing was ever recorded.
func (h *Histogram) Raw() *hdrhistogram.Histogram {
	if h.packed == nil {
		return h.h
	}
	raw := hdrhistogram.New(Lowest, Highest, Digits)
	h.packed.MergeInto(raw)
	return raw
}
