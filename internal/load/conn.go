package load

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

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
	skip    int64  // bytes of a body that come next and that nobody wants to see
	plain   []byte // to be encrypted into out

	secure *secure  // nil without TLS
	proto  protocol // nil until the connection is secured
	tunnel []byte   // of the proxy's answer

	load    int        // requests that were given to it
	limit   int        // of load
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

// dial connects; the waiting requests are sent after that.
func (c *conn) dial() {
	p := c.p
	now := p.now
	c.gen++
	c.state, c.began, c.fresh, c.said = connecting, now, true, ""
	c.out, c.plain = c.out[:0], c.plain[:0] // what was written when all was over
	p.dials.push(&c.dialing, now+int64(p.job.DialTimeout))
	p.opens++
	c.source = p.dialled*p.job.Workers + p.job.Worker
	p.dialled++
	if err := p.wire.connect(c); err != nil {
		c.dialFailed(dialClass(err), err.Error())
	}
}

// connected hears from the wire that the connection stands, or why it does not.
func (c *conn) connected(err error) {
	c.p.touch()
	if err != nil {
		c.dialFailed(dialClass(err), err.Error())
		return
	}
	now := c.p.now
	c.p.sink.connected(now, now-c.began)
	if c.p.job.tunnel != nil {
		c.state, c.tunnel = tunnelling, c.tunnel[:0]
		c.send(c.p.job.tunnel)
		return
	}
	c.through()
}

// through begins TLS, if it is spoken, on a connection to the target.
func (c *conn) through() {
	if c.p.job.tls == nil {
		c.speak()
		return
	}
	c.state, c.began = securing, c.p.now
	c.secure = newSecure(c)
	c.secure.handshake()
}

// speak begins the protocol.
func (c *conn) speak() {
	c.state = greeting
	c.proto = c.p.job.newProtocol(c)
	c.proto.open()
}

// established sends the requests for which the connection was dialled.
func (c *conn) established() {
	p := c.p
	p.touch()
	now := p.now
	c.dialing.leave()
	c.state, c.freed = open, now
	bare := c.bare
	c.bare = false
	c.resize()
	gen := c.gen
	if bare {
		p.sink.opened(now, outcome{})
	}
	if c.gen == gen {
		p.sink.freed()
	}
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
	p.sink.sent(r, now, r.form.size())
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
	if len(c.out) > 0 || len(c.plain) > 0 {
		c.flush()
	}
}

// skipped hears from the wire that n of the next skip bytes have arrived and were thrown away.
func (c *conn) skipped(n int64) {
	c.p.touch()
	c.p.sink.received(c.p.now, int(n))
	c.skip -= n
	c.proto.(*h1).skipped(n)
	if len(c.out) > 0 {
		c.flush()
	}
}

// feed takes bytes as the other side wrote them.
func (c *conn) feed(b []byte) {
	c.p.sink.received(c.p.now, len(b))
	c.proto.feed(b)
}

// ended hears from the wire, or from TLS, that nothing more comes: io.EOF or an error.
func (c *conn) ended(err error) {
	if c.secure != nil && !c.secure.over {
		c.secure.ended(err) // which ends c
		return
	}
	switch c.state {
	case empty:
	case open:
		if errors.Is(err, io.EOF) && c.proto.completes() {
			return
		}
		reason := ""
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			reason = err.Error()
		}
		c.lost(Reset, reason)
	default:
		class, reason := Reset, "closed before the first request"
		if c.state == tunnelling {
			class, reason = Connect, "the proxy closed the connection instead of answering CONNECT"
		}
		if !errors.Is(err, io.EOF) {
			reason = err.Error()
		}
		c.dialFailed(class, reason)
	}
}

// lost ends the connection. Requests on it that may be sent again are, once.
func (c *conn) lost(class, reason string) {
	p := c.p
	fresh, said := c.fresh, c.said
	orphans, waiting := c.vacate()
	for _, r := range orphans {
		if class == Reset && !r.began && !fresh && said == "" && r.retried == 0 && p.job.repeatable {
			// The server may have closed the idle connection before it saw the request. RFC 9110, section 9.2.2: an idempotent
			// request may be repeated then; it is, once, on a new connection, and counted.
			p.sink.retried(p.now)
			on := c
			if c.retired {
				on = p.another()
			}
			p.retry(r, on)
			continue
		}
		why := reason
		if why == "" {
			why = "closed before an answer"
			if r.began {
				why = "closed within an answer"
			}
		}
		if said != "" {
			why += ", " + said
		}
		p.finish(r, outcome{class: class, reason: why})
	}
	p.replace(waiting)
	p.sink.freed()
}

// fail ends the connection and the requests on it with a failure.
func (c *conn) fail(class, format string, args ...any) {
	p := c.p
	o := outcome{class: class, reason: fmt.Sprintf(format, args...)}
	if c.state != open {
		c.dialFailed(o.class, o.reason)
		return
	}
	orphans, waiting := c.vacate()
	if len(orphans) == 0 {
		p.sink.noted(o.class + ": " + o.reason)
	}
	for _, r := range orphans {
		p.finish(r, o)
	}
	p.replace(waiting)
	p.sink.freed()
}

// vacate closes the connection and gives the requests that were in flight and those that waited for room.
func (c *conn) vacate() (orphans, waiting []*request) {
	if c.proto != nil {
		orphans = slices.Clone(c.proto.orphans())
	}
	waiting = slices.Clone(c.waiting)
	c.waiting = c.waiting[:0]
	for _, r := range orphans {
		c.p.leave(r)
	}
	for _, r := range waiting {
		c.p.leave(r)
	}
	c.disconnect()
	c.p.release(c)
	return orphans, waiting
}

// answered ends a request whose answer is complete; kept tells whether the connection can be used further. The caller looks
// at gen before it goes on.
func (c *conn) answered(r *request, kept bool) {
	p := c.p
	o := p.job.judge(r)
	o.at = p.now
	c.fresh = false
	p.leave(r)
	if !kept {
		c.disconnect()
	}
	c.goOn()
	p.finish(r, o)
	p.sink.freed()
}

// failed ends a request with a failure of its own. The caller looks at gen before it goes on.
func (c *conn) failed(r *request, class, format string, args ...any) {
	p := c.p
	p.leave(r)
	c.goOn()
	p.finish(r, outcome{class: class, reason: fmt.Sprintf(format, args...)})
	p.sink.freed()
}

// refused gives a request back that the server did not take. The caller looks at gen before it goes on.
func (c *conn) refused(r *request) {
	p := c.p
	p.leave(r)
	c.goOn()
	p.refuse(r)
	p.sink.freed()
}

// retire lets the requests on the connection end and takes no further ones; another one takes its place.
func (c *conn) retire() {
	p := c.p
	if c.retired {
		return
	}
	c.retired = true
	p.unlist(c)
	p.members--
	p.add()
	waiting := slices.Clone(c.waiting)
	c.waiting = c.waiting[:0]
	for _, r := range waiting {
		p.leave(r)
	}
	p.replace(waiting)
}

// late ends a dial that takes too long.
func (c *conn) late() {
	switch c.state {
	case securing:
		c.dialFailed(TLS, fmt.Sprintf("no handshake within %v", c.p.job.DialTimeout))
	case tunnelling:
		c.dialFailed(Connect, fmt.Sprintf("no answer to CONNECT within %v", c.p.job.DialTimeout))
	case greeting:
		c.dialFailed(Protocol, fmt.Sprintf("no HTTP/2 settings within %v", c.p.job.DialTimeout))
	default:
		c.dialFailed(Connect, fmt.Sprintf("no connection within %v", c.p.job.DialTimeout))
	}
}

// dialFailed gives the requests that wait for the dial their outcome.
func (c *conn) dialFailed(class, reason string) {
	p := c.p
	p.touch() // a handshake takes its time
	o := outcome{at: p.now, class: class, reason: reason}
	bare := c.bare
	c.bare = false
	_, waiting := c.vacate()
	if bare {
		p.sink.opened(o.at, o)
	}
	for _, r := range waiting {
		p.finish(r, o)
	}
	p.sink.freed()
}

// disconnect closes the connection; requests on it are somebody else's by then.
func (c *conn) disconnect() {
	c.dialing.leave()
	c.continuing.leave()
	if c.state != empty {
		c.p.wire.drop(c)
		c.p.opens--
		c.gen++
	}
	if c.secure != nil {
		c.secure.abandon()
	}
	c.secure, c.proto, c.out, c.plain, c.state = nil, nil, nil, nil, empty
	c.broken, c.closing, c.skip = nil, false, 0
	if !c.retired {
		c.limit = c.p.roomOf()
	} else if c.load == 0 && !c.spare {
		c.spare = true
		c.p.spare = append(c.p.spare, c)
	}
}
