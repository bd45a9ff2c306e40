package faults

import (
	"fmt"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// Stall are the attributes of the toxic "stall", which has none: nothing passes, not even the end of a stream; what came
// passes when the toxic is over.
type Stall struct{}

// Timeout are the attributes of the toxic "timeout": nothing passes, and a connection ends in order so long after it or the
// toxic began, whichever was later. What comes does not delay that.
type Timeout struct {
	Timeout time.Duration `json:"timeout"` // nanoseconds
}

// Blackhole are the attributes of the toxic "blackhole", which has none: what comes is swallowed; new connections are
// accepted and go no further. Those of which something was swallowed are reset when it is over, since their rest would make
// no sense.
type Blackhole struct{}

var (
	stallKind     = kind{"stall", attributes[Stall], nil}
	timeoutKind   = kind{"timeout", attributes[Timeout], mean}
	blackholeKind = kind{"blackhole", attributes[Blackhole], nil}
)

func (Stall) check() error     { return nil }
func (Blackhole) check() error { return nil }

func (t Timeout) check() error {
	if t.Timeout < 0 || t.Timeout > 24*time.Hour {
		return fmt.Errorf("timeout %v: from 0 to 24h", t.Timeout)
	}
	return nil
}

func (Stall) effect(h *hold) effect     { return &still{h} }
func (Timeout) effect(h *hold) effect   { return &still{h} }
func (Blackhole) effect(h *hold) effect { return &hole{h} }

// still holds whatever comes until the toxic or the connection is over.
type still struct{ hold *hold }

func (s *still) pass(c *stream.StreamChunk, next func(*stream.StreamChunk)) {
	s.hold.held.Add(int64(len(c.Data)))
	s.hold.toTheEnd()
	next(later(c, time.Now()))
}

func (s *still) end(time.Time) time.Time {
	s.hold.toTheEnd()
	return time.Now()
}

func (t Timeout) meet(f *fault, p *pair) {
	began := p.began
	if f.began.After(began) {
		began = f.began
	}
	f.relay.wg.Go(func() {
		timer := time.NewTimer(time.Until(began.Add(t.Timeout)))
		defer timer.Stop()
		select {
		case <-timer.C:
			f.finish(p, int64(time.Since(began)))
		case <-f.over:
		case <-p.done:
		}
	})
}

// hole swallows whatever comes; the end of a stream waits, since nothing may follow it.
type hole struct{ hold *hold }

func (b *hole) pass(c *stream.StreamChunk, next func(*stream.StreamChunk)) {
	select {
	case <-b.hold.over:
		next(c)
	default:
		gone{b.hold.fault}.Write(c.Data)
		b.hold.pair.lose(b.hold.fault)
	}
}

func (b *hole) end(time.Time) time.Time {
	b.hold.toTheEnd()
	return time.Now()
}

func (Blackhole) door() door { return swallow }

// gone counts what a fault swallows.
type gone struct{ f *fault }

func (g gone) Write(b []byte) (int, error) {
	g.f.held.Add(int64(len(b)))
	return len(b), nil
}
