package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// MaxLatency bounds a latency with its jitter.
const MaxLatency = 10 * time.Minute

// Latency are the attributes of the toxic "latency": each chunk is passed on so long after it was read, never before the
// chunk ahead of it. What is on its way does not count against the bandwidth.
type Latency struct {
	Latency time.Duration `json:"latency"`          // nanoseconds
	Jitter  time.Duration `json:"jitter,omitempty"` // uniform in [-Jitter, Jitter]; at most the latency
	Seed    uint64        `json:"seed,omitempty"`   // of the jitter; connection i of a relay draws the same in each run
}

var latencyKind = kind{"latency", func(attributes json.RawMessage) (toxic, error) {
	var l Latency
	if err := decode(attributes, &l); err != nil {
		return nil, err
	}
	switch {
	case l.Latency < 0 || l.Jitter < 0:
		return nil, fmt.Errorf("latency %v with jitter %v: neither can be negative", l.Latency, l.Jitter)
	case l.Jitter > l.Latency:
		return nil, fmt.Errorf("jitter %v: more than the latency of %v would need time to go backwards", l.Jitter, l.Latency)
	case l.Latency+l.Jitter > MaxLatency:
		return nil, fmt.Errorf("latency %v with jitter %v: at most %v", l.Latency, l.Jitter, MaxLatency)
	}
	return l, nil
}}

func (l Latency) effect(number uint64) effect {
	return &latency{l, rand.New(rand.NewPCG(l.Seed, number))}
}

type latency struct {
	Latency
	random *rand.Rand
}

func (l *latency) pass(h *hold, c *stream.StreamChunk, next func(*stream.StreamChunk)) {
	h.until(c.Timestamp.Add(l.draw()))
	next(c)
}

func (l *latency) draw() time.Duration {
	if l.Jitter == 0 {
		return l.Latency.Latency
	}
	return l.Latency.Latency - l.Jitter + time.Duration(l.random.Int64N(int64(2*l.Jitter)+1))
}
