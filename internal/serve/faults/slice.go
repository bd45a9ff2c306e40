package faults

import (
	"fmt"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// Slice are the attributes of the toxic "slice": what comes is passed on in pieces, each written on its own.
type Slice struct {
	Size  int           `json:"size"`            // bytes of a piece at most
	Delay time.Duration `json:"delay,omitempty"` // nanoseconds between the pieces of a chunk
}

// What was not cut is not measured.
var sliceKind = kind{"slice", attributes[Slice], each}

func (s Slice) check() error {
	switch {
	case s.Size < 1:
		return fmt.Errorf("size %d: at least a byte", s.Size)
	case s.Delay < 0 || s.Delay > MaxLatency:
		return fmt.Errorf("delay %v: from 0 to %v", s.Delay, MaxLatency)
	}
	return nil
}

func (s Slice) effect(h *hold) effect { return &slicer{s, h} }

type slicer struct {
	Slice
	hold *hold
}

func (s *slicer) pass(c *stream.StreamChunk, next func(*stream.StreamChunk)) {
	if len(c.Data) <= s.Size {
		next(c)
		return
	}
	s.hold.held.Add(int64(len(c.Data)))
	at := c.Timestamp
	for data := c.Data; ; {
		if _, ok := s.hold.until(at); !ok { // the rest goes as it is
			next(&stream.StreamChunk{Data: data, Timestamp: at})
			return
		}
		n := min(s.Size, len(data))
		next(&stream.StreamChunk{Data: data[:n], Timestamp: at})
		s.hold.measure(int64(n), 1)
		if data = data[n:]; len(data) == 0 {
			return
		}
		if s.Delay > 0 { // since the last one was written, or pieces that are late would come together
			s.hold.flush()
			at = time.Now().Add(s.Delay)
		}
	}
}
