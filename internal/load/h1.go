package load

import "time"

// continueAfter is how long a request that expects 100 Continue waits for it before its body is sent all the same
// (RFC 9110, section 10.1.1: a client should not wait for ever).
const continueAfter = time.Second

// h1 is HTTP/1.1 on a connection: one request at a time.
type h1 struct {
	c        *conn
	parser   parser
	cur      *request
	list     [1]*request
	withheld bool // the body waits for 100 Continue
}

func newH1(c *conn) *h1 {
	h := &h1{c: c}
	h.parser.watch, h.parser.known = c.p.job.By, &c.p.known
	return h
}

func (h *h1) open()      { h.c.established() }
func (h *h1) limit() int { return 1 }

func (h *h1) send(r *request) {
	c := h.c
	h.cur, h.withheld = r, false
	h.parser.reset(r)
	if r.form.expects {
		h.withheld = true
		c.p.continues.push(&c.continuing, c.p.now+int64(continueAfter))
		c.send(r.form.head)
		return
	}
	c.send(r.form.whole)
}

// goOn sends the body that was held back.
func (h *h1) goOn() {
	if h.withheld && h.cur != nil {
		h.withheld = false
		h.c.continuing.leave()
		h.c.send(h.cur.form.body)
	}
}

func (h *h1) feed(b []byte) {
	c := h.c
	r := h.cur
	if r == nil {
		c.fail(Protocol, "%d bytes that nobody asked for: %.40q", len(b), b)
		return
	}
	r.began, c.skip = true, 0
	done, err := h.parser.feed(b)
	switch {
	case err != nil:
		c.fail(Protocol, "%v", err)
	case done:
		h.answered(!c.closing)
	case h.parser.left >= leastSkip && h.parser.state == inBody && c.secure == nil && r.hash == nil:
		c.skip = h.parser.left
	case h.withheld && h.parser.goOn:
		h.goOn()
	}
}

// leastSkip is from how many bytes on the rest of a body is left to the wire to throw away, if only its length matters.
const leastSkip = 16 << 10

// skipped counts bytes of the body that were thrown away.
func (h *h1) skipped(n int64) {
	h.cur.bytes += n
	if h.parser.left -= n; h.parser.left == 0 {
		h.parser.state = complete
		h.answered(!h.c.closing)
	}
}

// answered gives the request back, whose answer is complete.
func (h *h1) answered(kept bool) {
	c, r := h.c, h.cur
	h.cur = nil
	c.continuing.leave()
	r.status = h.parser.status
	// An answer before the request was written leaves the rest of the request in the way.
	kept = kept && h.parser.keep && c.p.job.Reuse && !h.withheld && !c.p.wire.pending(c)
	c.answered(r, kept)
}

func (h *h1) completes() bool {
	if h.cur == nil || !h.parser.eof() {
		return false
	}
	h.answered(false)
	return true
}

func (h *h1) cancel(*request) bool {
	h.cur = nil
	return false // the answer would still come
}

func (h *h1) orphans() []*request {
	r := h.cur
	h.cur = nil
	if r == nil {
		return nil
	}
	h.list[0] = r
	return h.list[:]
}

// uncontinued sends a body for which no 100 Continue came.
func (c *conn) uncontinued() {
	if h, ok := c.proto.(*h1); ok {
		h.goOn()
	}
}
