package faults

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// A hold is a fault on one direction of one connection: where what comes waits, and what may be done to the connection.
type hold struct {
	*fault
	pair   *pair
	stream string
	flush  func() // returns when what was passed on has been written
}

// until waits for the time. It is false if the fault or the connection was over before; late is by how much the time has
// passed, 0 if there was nothing to wait for.
func (h *hold) until(t time.Time) (late time.Duration, ok bool) {
	select {
	case <-h.over:
		return 0, false
	case <-h.pair.done:
		return 0, false
	default:
	}
	wait := time.Until(t)
	if wait <= 0 {
		return 0, true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return time.Since(t), true
	case <-h.over:
	case <-h.pair.done:
	}
	return 0, false
}

// toTheEnd waits until the fault or the connection is over.
func (h *hold) toTheEnd() {
	select {
	case <-h.over:
	case <-h.pair.done:
	}
}

// measure adds to what the fault says of itself.
func (f *fault) measure(sum, of int64) {
	f.sum.Add(sum)
	f.of.Add(of)
}

// A working is an effect with its hold.
type working struct {
	hold   *hold
	effect effect
	came   bool // something came to it
}

// come counts what came to an effect.
func (w *working) come(bytes int) {
	if !w.came {
		w.came = true
		w.hold.acts(w.hold.pair)
	}
	if bytes > 0 {
		w.hold.chunks.Add(1)
		w.hold.bytes.Add(int64(bytes))
	}
}

// through gives the chunk to the first effect, and what it lets pass to the others.
func through(all []*working, c *stream.StreamChunk, out func(*stream.StreamChunk)) {
	if len(all) == 0 {
		out(c)
		return
	}
	next := func(c *stream.StreamChunk) { through(all[1:], c, out) }
	p, ok := all[0].effect.(passer)
	if !ok {
		next(c)
		return
	}
	all[0].come(len(c.Data))
	p.pass(c, next)
}

// ends leads the end of a stream, which came at a time, through the effects.
func ends(all []*working, at time.Time) {
	for _, w := range all {
		if e, ok := w.effect.(ender); ok {
			w.come(0)
			at = e.end(at)
		}
	}
}

// later is a chunk that came at another time, with the same data.
func later(c *stream.StreamChunk, at time.Time) *stream.StreamChunk {
	return &stream.StreamChunk{Data: c.Data, Timestamp: at}
}
