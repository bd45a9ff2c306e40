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
	current atomic.Pointer[setting]
	stream  string
	pair    *pair // the one whose link is being started; under relay.starting
}

// A setting is the faults in force in a direction, in the order in which they act. It is not changed; another one takes
// its place.
type setting struct{ faults []*fault }

// GetBufferSize is how many chunks may be on their way.
func (p *permanent) GetBufferSize() int { return 1024 }

// NewState is called by StartLink, for the connection that is being started.
func (p *permanent) NewState() any { return p.pair }

// Pipe passes the chunks of one connection.
func (p *permanent) Pipe(stub *toxics.ToxicStub) {
	pair := stub.State.(*pair)
	line := &pair.down
	if p.stream == Upstream {
		line = &pair.up
	}
	out := func(c *stream.StreamChunk) { stub.Output <- c }
	// The link takes a chunk only when it has written the one before: an empty one says when all are written. (Without data at
	// all it would be the end of the stream.)
	flush := func() { out(&stream.StreamChunk{Data: []byte{}}) }
	var last *setting
	var all []*working
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if now := p.current.Load(); now != last {
				all, last = now.work(all, func(f *fault) *hold { return &hold{f, pair, p.stream, flush} }), now
			}
			if c == nil && pair.isDone() {
				stub.Close()
				return
			}
			if c == nil {
				ends(all, pair.began.Add(time.Duration(line.ended.Load())))
				stub.Close()
				return
			}
			if pair.isDone() {
				continue
			}
			through(all, c, out)
		}
	}
}

// work makes the effects of the faults on one direction of a connection; those that are at work already go on.
func (s *setting) work(before []*working, to func(*fault) *hold) (all []*working) {
next:
	for _, f := range s.faults {
		for _, w := range before {
			if w.hold.fault == f {
				all = append(all, w)
				continue next
			}
		}
		h := to(f)
		if !f.hits(h.pair) {
			continue
		}
		if e := f.toxic.effect(h); e != nil {
			all = append(all, &working{hold: h, effect: e})
		}
	}
	return all
}
