package hdr

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A wire is a histogram on its way from a worker. It is not compressed: the library's own encoding makes a compressor each time,
// which costs a load generator more than all that it compresses.
type wire struct {
	// Counts are the counters in their order, up to the last that is not 0, as the payload of the V2 encoding has them: signed
	// varints, of which a negative one is so many counters that are 0.
	Counts   []byte `json:"c,omitempty"`
	Overflow int64  `json:"o,omitempty"`
	Min      int64  `json:"min,omitempty"`
	Max      int64  `json:"max,omitempty"`
}

// MarshalJSON writes the counters with the exact minimum and maximum, for this package alone; what others are to read is of the
// library (see Raw).
func (h *Histogram) MarshalJSON() ([]byte, error) {
	if h.Count() == 0 {
		return []byte("{}"), nil
	}
	w := wire{nil, h.overflow, h.min, h.max}
	if raw := h.Raw(); raw != nil {
		w.Counts = appendCounts(nil, raw.Export().Counts)
	}
	return json.Marshal(w)
}

func appendCounts(to []byte, counts []int64) []byte {
	zeros := int64(0)
	for _, n := range counts {
		if n == 0 {
			zeros++
			continue
		}
		if zeros > 0 {
			to, zeros = binary.AppendVarint(to, -zeros), 0
		}
		to = binary.AppendVarint(to, n)
	}
	return to
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	*h = Histogram{overflow: w.Overflow, min: w.Min, max: w.Max}
	if len(w.Counts) == 0 {
		return nil
	}
	counts, err := readCounts(w.Counts)
	if err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	h.h = hdrhistogram.Import(&hdrhistogram.Snapshot{LowestTrackableValue: Lowest, HighestTrackableValue: Highest, SignificantFigures: Digits, Counts: counts})
	h.n = h.h.TotalCount()
	return nil
}

func readCounts(from []byte) ([]int64, error) {
	counts := make([]int64, 0, counters())
	for len(from) > 0 {
		n, size := binary.Varint(from)
		if size <= 0 {
			return nil, errors.New("a counter is cut off, or above 64 bits")
		}
		from = from[size:]
		room := int64(cap(counts) - len(counts))
		switch {
		case n > 0 && room > 0:
			counts = append(counts, n)
		case n < 0 && n > -room: // a counter that is not 0 follows
			counts = counts[:len(counts)+int(-n)]
		default:
			return nil, fmt.Errorf("there are more than %d counters", cap(counts))
		}
	}
	return counts, nil
}

// counters is how many a histogram of this package has.
var counters = sync.OnceValue(func() int { return len(hdrhistogram.New(Lowest, Highest, Digits).Export().Counts) })
