package faults

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// Bandwidth are the attributes of the toxic "bandwidth": what is passed on takes the time that a line of that rate takes.
type Bandwidth struct {
	Rate   float64 `json:"rate"`             // bytes a second, in each direction
	Shared bool    `json:"shared,omitempty"` // by all connections of the relay; else each has the rate
}

var bandwidthKind = kind{"bandwidth", attributes[Bandwidth], func(e Effect) float64 { return float64(e.Of) / time.Duration(e.Sum).Seconds() }}

func (b Bandwidth) check() error {
	if !(b.Rate >= 1) || math.IsInf(b.Rate, 0) {
		return fmt.Errorf("rate %v: at least a byte a second", b.Rate)
	}
	return nil
}

func (b Bandwidth) effect(h *hold) effect {
	e := &bandwidth{Bandwidth: b, hold: h, pace: &pace{}}
	if b.Shared {
		e.pace = &h.paces[0]
		if h.stream == Upstream {
			e.pace = &h.paces[1]
		}
	}
	return e
}

type bandwidth struct {
	Bandwidth
	hold *hold
	pace *pace
}

// pass cuts the chunk into pieces of a hundredth of a second, so that other connections and what follows get their turn.
func (b *bandwidth) pass(c *stream.StreamChunk, next func(*stream.StreamChunk)) {
	piece := int(min(max(b.Rate/100, 1), float64(len(c.Data))))
	for data := c.Data; len(data) > 0; {
		n := min(piece, len(data))
		due, in, first := b.pace.reserve(time.Duration(float64(n)/b.Rate*float64(time.Second)), c.Timestamp, time.Now())
		if _, ok := b.hold.until(due); ok && !first {
			b.hold.held.Add(int64(n))
			b.hold.measure(int64(b.pace.passed(in, time.Now())), int64(n))
		}
		next(&stream.StreamChunk{Data: data[:n], Timestamp: due})
		data = data[n:]
	}
}

// catchUp is how far a line may be behind: pieces that are passed on late do not lower the rate, but time in which nobody
// took anything is lost.
const catchUp = 50 * time.Millisecond

// A pace says when a line is free.
type pace struct {
	mu   sync.Mutex
	free time.Time // from when on
	now  *burst    // the newest one
}

// A burst is a time in which a line is never free. Its rate is that of what comes behind its first piece, since that is due:
// whoever is late in it is caught up with, and pieces of several connections need not pass in their order.
type burst struct{ last time.Time }

// reserve takes the line for as long as a piece takes that came at a time. It is passed on when it is due. The first piece
// of a burst came when the line was free.
func (p *pace) reserve(takes time.Duration, came, now time.Time) (due time.Time, in *burst, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	begin := p.free
	for _, t := range []time.Time{came, now.Add(-catchUp)} {
		if t.After(begin) {
			begin, first = t, true
		}
	}
	p.free = begin.Add(takes)
	if first {
		p.now = &burst{p.free}
	}
	return p.free, p.now, first
}

// passed returns for how long the line was busy until now with a piece of a burst, beside what was counted before.
func (p *pace) passed(b *burst, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := now.Sub(b.last)
	if took <= 0 {
		return 0
	}
	b.last = now
	return took
}
