package hdr

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Restore makes a Histogram of one that was read from a log and of what the log does not hold: the exact minimum and
// maximum in nanoseconds and how many durations were above the range. It may keep raw. Values of raw beyond this package's range are an
// error.
func Restore(raw *hdrhistogram.PackedHistogram, min, max, overflow int64) (*Histogram, error) {
	h := &Histogram{packed: raw, min: min, max: max, overflow: overflow}
	if raw == nil {
		return h, nil
	}
	h.n = raw.TotalCount()
	var err error
	if h.packed, err = Ours(raw); err != nil {
		return nil, err
	}
	return h, nil
}

// Ours is a histogram in this package's configuration: raw itself if it has that. Values beyond this package's range are an
// error.
func Ours(raw *hdrhistogram.PackedHistogram) (*hdrhistogram.PackedHistogram, error) {
	if ours(raw) {
		return raw, nil
	}
	h := hdrhistogram.NewPacked(Lowest, Highest, Digits)
	if dropped := h.Merge(raw); dropped != 0 {
		return nil, fmt.Errorf("reading a histogram: %d values are out of range", dropped)
	}
	return h, nil
}

// ours reports whether a histogram has this package's configuration.
func ours(raw *hdrhistogram.PackedHistogram) bool {
	return raw.LowestTrackableValue() == Lowest && raw.HighestTrackableValue() == Highest && raw.SignificantFigures() == Digits
}
