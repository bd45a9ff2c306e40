package load

// States of a conn.
const (
	empty      = iota // not connected
	connecting        // the TCP connection
	tunnelling        // a forward proxy was asked to connect
	securing          // the TLS handshake
	greeting          // the protocol begins: HTTP/2 waits for the server's settings
	open
)

// A conn is one of the connections of a pool. It is used again for another connection after it was closed; gen tells them
// apart.
type conn struct {
	p      *pool
	number int
	gen    int32
	state  int

	source int // of the routes: each dial has the next one, workers have different ones

	// What the wire keeps.
	fd      int
	out     []byte // to be written; the protocol appends, the wire takes
	writing []byte // the kernel has it
	armed   bool
	once    bool   // it receives once at a time
	broken  error  // writing failed; what the server said before is read first
	closing bool   // the other side has closed its end, so that nothing follows what is being read
	dirty   bool   // it has something to flush
	full    bool   // HTTP/2: bodies go on when out was taken
	skip    int64  // bytes of a body that come next and that nobody wants to see
	plain   []byte // to be encrypted into out

	secure *secure  // nil without TLS
	proto  protocol // nil until the connection is secured
	tunnel []byte   // of the proxy's answer

	load    int        // requests that were given to it, in flight and waiting
	limit   int        // on load: more of them wait
	waiting []*request // for the dial; after it for room
	bare    bool       // dialled without a request
	inFree  bool       // it can be taken from the pool's frees
	listed  bool       // it stands there
	retired bool       // it takes no further requests
	spare   bool       // it was retired and is closed
	said    string     // HTTP/2: what the server said before the end, for messages
	fresh   bool       // no request was answered on it, so its end is not that of an idle connection

	began      int64 // of the stage of the dial
	freed      int64 // when it was last seen to become free
	dialing    link[*conn]
	slow       link[*conn] // of the throttle
	readAfter  int64
	continuing link[*conn]
}

// resize takes over the protocol's limit, which may have changed, and sends what waits for room.
func (c *conn) resize() {
	c.limit = c.proto.limit()
	if c.load >= c.limit {
		c.p.unlist(c)
	}
	gen := c.gen
	for len(c.waiting) > 0 && c.load-len(c.waiting) < c.limit && c.gen == gen {
		c.freed = c.p.now
		c.begin(c.unqueue())
	}
	for len(c.waiting) > 0 && c.p.room() && c.gen == gen { // others take what the server leaves
		r := c.unqueue()
		c.p.leave(r)
		c.p.give(c.p.take(), r)
	}
	if c.gen == gen {
		for _, r := range c.waiting {
			c.p.limitWait(r)
		}
		c.p.release(c)
	}
}

// unqueue takes the first that waits.
func (c *conn) unqueue() *request {
	r := c.waiting[0]
	c.waiting = c.waiting[:copy(c.waiting, c.waiting[1:])]
	return r
}

// goOn is after a request has left: what waits has its room, and a retired connection that is empty is closed.
func (c *conn) goOn() {
	switch {
	case c.retired && c.load == 0 && c.state != empty:
		c.flush()
		c.disconnect()
	case len(c.waiting) > 0 && c.state == open:
		c.resize()
	case len(c.waiting) > 0 && c.state == empty:
		c.dial()
	}
	c.p.release(c)
}

// begin writes a request.
func (c *conn) begin(r *request) {
	p := c.p
	r.clear()
	now := p.now
	if r.sent == 0 {
		r.ready = max(r.due, c.freed, p.freed)
		r.sent = now
		r.timeout.leave() // of the wait
	}
	p.sink.sent(r, now, r.form.bytes)
	if r.timeout.in == nil {
		p.timeouts.push(&r.timeout, r.sent+int64(p.job.Timeout))
	}
	c.proto.send(r)
}

// unwait takes r out of those that wait for the dial; false if it is not one of them.
func (c *conn) unwait(r *request) bool {
	for i, w := range c.waiting {
		if w == r {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// send writes bytes that never change.
func (c *conn) send(b []byte) {
	if c.secure == nil && len(c.out) == 0 {
		c.p.wire.send(c, b)
		return
	}
	c.write(b)
	c.flush()
}

// write puts bytes into the buffer; what is flushed at the end of what is being done goes out together.
func (c *conn) write(b []byte) {
	if c.secure != nil && c.state > securing {
		c.plain = append(c.plain, b...)
	} else {
		c.out = append(c.out, b...)
	}
	if !c.dirty {
		c.dirty = true
		c.p.dirty = append(c.p.dirty, c)
	}
}

func (c *conn) flush() {
	if len(c.plain) > 0 && c.secure != nil {
		c.secure.write(c.plain)
		c.plain = c.plain[:0]
	}
	if len(c.out) > 0 && c.state != empty {
		c.p.wire.flush(c)
	}
	if c.full && len(c.out) == 0 && c.broken == nil {
		c.full = false
		c.proto.(*h2).uploadAll()
	}
}

// arrived hears from the wire.
func (c *conn) arrived(b []byte) {
	c.p.touch()
	switch {
	case c.state == tunnelling:
		c.tunnelled(b)
	case c.secure != nil:
		c.secure.feed(b)
	default:
		c.feed(b)
	}
	c.flush()
}

// skipped hears from the wire that n of the next skip bytes have arrived and were thrown away.
func (c *conn) skipped(n int64) {
	c.p.touch()
	c.p.sink.received(c.p.now, int(n))
	c.skip -= n
	c.proto.(*h1).skipped(n)
	c.flush()
}

// feed takes bytes as the other side wrote them.
func (c *conn) feed(b []byte) {
	c.p.sink.received(c.p.now, len(b))
	c.proto.feed(b)
}
