package faults

import (
	"fmt"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// ResetAfter are the attributes of the toxic "reset-after": a connection is reset, on both sides, when so much has passed
// in a direction since the toxic began. With 0 those that live are reset at once, and new ones when they come.
type ResetAfter struct {
	Bytes int64 `json:"bytes"`
}

// LimitData are the attributes of the toxic "limit-data": a connection ends in order, on both sides, when so much has
// passed in a direction since the toxic began. What comes afterwards is thrown away.
type LimitData struct {
	Bytes int64 `json:"bytes"`
}

var (
	resetAfterKind = kind{"reset-after", attributes[ResetAfter], each}
	limitDataKind  = kind{"limit-data", attributes[LimitData], each}
)

func (r ResetAfter) check() error { return cutsAfter(r.Bytes) }
func (l LimitData) check() error  { return cutsAfter(l.Bytes) }

func cutsAfter(bytes int64) error {
	if bytes < 0 {
		return fmt.Errorf("bytes %d: it cannot be negative", bytes)
	}
	return nil
}

func (r ResetAfter) effect(h *hold) effect {
	c := h.pair.client
	if h.stream == Upstream {
		c = h.pair.server
	}
	return &cutter{hold: h, left: r.Bytes, cut: func() {
		h.reset(h.pair, max(0, r.Bytes-int64(h.pair.unsent(c))))
	}}
}

func (l LimitData) effect(h *hold) effect {
	return &cutter{hold: h, left: l.Bytes, cut: func() {
		h.finish(h.pair, l.Bytes)
	}}
}

func (r ResetAfter) door() door {
	if r.Bytes == 0 {
		return reset
	}
	return open
}

func (r ResetAfter) meet(f *fault, p *pair) {
	if r.Bytes == 0 {
		f.reset(p, 0)
	}
}

func (l LimitData) meet(f *fault, p *pair) {
	if l.Bytes == 0 {
		f.finish(p, 0)
	}
}

// A cutter passes so many bytes and ends the connection then.
type cutter struct {
	hold *hold
	left int64
	cut  func()
}

func (c *cutter) pass(k *stream.StreamChunk, next func(*stream.StreamChunk)) {
	n := min(c.left, int64(len(k.Data)))
	if n > 0 {
		next(&stream.StreamChunk{Data: k.Data[:n], Timestamp: k.Timestamp})
	}
	if c.left -= n; c.left > 0 {
		return
	}
	c.hold.flush()
	select {
	case <-c.hold.over:
		next(&stream.StreamChunk{Data: k.Data[n:], Timestamp: k.Timestamp})
	default:
		c.cut()
	}
}
