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
		begin, due, busy := b.pace.reserve(time.Duration(float64(n)/b.Rate*float64(time.Second)), c.Timestamp, time.Now())
		_, ok := b.hold.until(due)
		if !busy {
			b.pace.passed(begin, due)
		} else if took := b.pace.passed(begin, time.Now()); ok {
			b.hold.held.Add(int64(n))
			b.hold.measure(int64(took), int64(n))
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
	last time.Time // a piece was passed on
}

// reserve takes the line for as long as a piece takes that came at a time. It is passed on when it is due; busy says that
// it came before the line was free.
func (p *pace) reserve(takes time.Duration, came, now time.Time) (begin, due time.Time, busy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	begin, busy = p.free, true
	for _, t := range []time.Time{came, now.Add(-catchUp)} {
		if t.After(begin) {
			begin, busy = t, false
		}
	}
	p.free = begin.Add(takes)
	return begin, p.free, busy
}

// passed returns for how long the line was busy with a piece that began and was passed on at these times, without the time
// that was counted for the piece before. The first piece of a busy time is said to pass when it is due: if it is late, those
// behind it catch up, and have its time too.
func (p *pace) passed(begin, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.After(begin) {
		begin = p.last
	}
	if now.After(p.last) {
		p.last = now
	}
	return max(0, now.Sub(begin))
}
