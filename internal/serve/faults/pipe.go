package faults

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// typeName is that of our permanent toxic in Toxiproxy's registry.
const typeName = "planrun"

var register = sync.OnceFunc(func() { toxics.Register(typeName, new(permanent)) })

// permanent is the one toxic of a direction. Toxiproxy makes it when it is added to the chain, before the relay's first
// connection.
type permanent struct {
	current atomic.Pointer[setting] // nil: no fault
	pair    *pair                   // the one whose link is being started; under relay.starting

	chunks, bytes, delay atomic.Int64
}

// A setting is the toxics in force in a direction. It is not changed; another one takes its place.
type setting struct {
	toxics []toxic
	names  []string
	over   chan struct{} // closed when another one takes its place
}

// A hold is where a chunk waits.
type hold struct {
	over <-chan struct{} // the fault is
	dead <-chan struct{} // the connection is
}

// until waits for the time, but not longer than the fault is in force and the connection lives.
func (h *hold) until(t time.Time) {
	wait := time.Until(t)
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.over:
	case <-h.dead:
	}
}

// GetBufferSize is how many chunks may be on their way.
func (p *permanent) GetBufferSize() int { return 1024 }

// NewState is called by StartLink, for the connection that is being started.
func (p *permanent) NewState() any { return p.pair }

// Pipe passes the chunks of one connection.
func (p *permanent) Pipe(stub *toxics.ToxicStub) {
	pair := stub.State.(*pair)
	out := func(c *stream.StreamChunk) { stub.Output <- c }
	counted := func(c *stream.StreamChunk) {
		p.delay.Add(int64(time.Since(c.Timestamp)))
		p.bytes.Add(int64(len(c.Data)))
		p.chunks.Add(1)
		out(c)
	}
	var last *setting
	var effects []effect
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			now := p.current.Load()
			if now == nil {
				out(c)
				continue
			}
			if now != last {
				last, effects = now, nil
				for _, t := range now.toxics {
					effects = append(effects, t.effect(pair.number))
				}
			}
			through(effects, &hold{now.over, pair.dead}, c, counted)
		}
	}
}

// through gives the chunk to the first effect, and what it lets pass to the others.
func through(effects []effect, h *hold, c *stream.StreamChunk, out func(*stream.StreamChunk)) {
	if len(effects) == 0 {
		out(c)
		return
	}
	effects[0].pass(h, c, func(c *stream.StreamChunk) { through(effects[1:], h, c, out) })
}

// sample reads the counters.
func (p *permanent) sample() Effect {
	e := Effect{Chunks: p.chunks.Load(), Bytes: p.bytes.Load(), Delay: time.Duration(p.delay.Load())}
	if now := p.current.Load(); now != nil {
		e.Toxics = now.names
	}
	return e
}
