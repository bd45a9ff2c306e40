package load

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// States of a conn.
const (
	empty = iota // not connected
	connecting
	securing // the TLS handshake runs in its own goroutine
	idle
	busy
)

// A conn is one of the fixed number of connections. A lost one is dialled again by the next request that comes to it.
type conn struct {
	slot  int
	gen   int32 // distinguishes the descriptors that the slot had, so that events of a closed one are not taken for its own
	state int

	sock   *socket
	tls    *tls.Conn
	cancel context.CancelFunc // of the handshake
	began  int64              // of the dial or the handshake

	has     bool // a request is in flight or waits for the dial
	req     request
	fresh   bool   // dialled for this request, so its end is not that of an idle connection
	out     []byte // rest of a plain request
	parser  parser
	hash    hash.Hash
	freed   int64 // when it was seen to become free
	inFree  bool  // it is in the queue of free ones
	overdue bool  // the handshake was cancelled because it took too long

	deadline   int64
	in         *queue // the queue of deadlines in which it is
	prev, next *conn
}

// start writes the request of an established connection.
func (e *epoll) start(c *conn) {
	r := &c.req
	c.state = busy
	c.parser.reset()
	if c.hash != nil {
		c.hash.Reset()
	}
	r.ready = max(r.due, c.freed)
	r.sent = e.clock()
	e.sink.sent(r, len(e.job.request))
	e.timeouts.push(c, r.sent+int64(e.job.Timeout))
	var err error
	if c.tls != nil {
		_, err = c.tls.Write(e.job.request)
	} else {
		var n int
		n, err = write(c.sock.fd, e.job.request)
		c.out = e.job.request[n:]
	}
	if err != nil {
		e.writeFailed(c, err)
	}
}

// writable writes what remains of a request.
func (e *epoll) writable(c *conn) {
	var err error
	if c.tls != nil {
		if len(c.sock.out) > 0 {
			err = c.sock.flush()
		}
	} else if len(c.out) > 0 {
		var n int
		n, err = write(c.sock.fd, c.out)
		c.out = c.out[n:]
	}
	if err != nil && c.state == busy {
		e.writeFailed(c, err)
	}
}

// writeFailed reads what the server may have said before it closed the connection: that is the answer, or decides what
// became of the request.
func (e *epoll) writeFailed(c *conn, err error) {
	c.out, c.sock.out = nil, nil
	gen := c.gen
	e.readable(c, true)
	if c.gen == gen && c.state == busy {
		e.lost(c, err)
	}
}

// readable reads what has arrived; closing tells that the server has closed its side, so all of it is to be read.
func (e *epoll) readable(c *conn, closing bool) {
	if closing && c.tls != nil {
		c.sock.drained = false
	}
	for range 16 {
		var n int
		var err error
		if c.tls != nil {
			n, err = c.tls.Read(e.buf)
		} else {
			var errno unix.Errno
			n, errno = sysRead(c.sock.fd, e.buf)
			switch {
			case errno == unix.EINTR:
				continue
			case errno == unix.EAGAIN:
				err = errAgain
			case errno != 0:
				err = errno
			case n == 0:
				err = io.EOF
			}
		}
		if err != nil && n <= 0 {
			if !errors.Is(err, errAgain) {
				e.lost(c, err)
			}
			return
		}
		if !e.arrived(c, e.buf[:n], closing) {
			return
		}
		if c.tls == nil && n < len(e.buf) && !closing {
			return
		}
	}
	e.again = append(e.again, ref{c.slot, c.gen, closing}) // others first
}

// arrived takes bytes of a response and tells whether to go on reading.
func (e *epoll) arrived(c *conn, b []byte, closing bool) bool {
	now := e.clock()
	e.sink.received(now, len(b))
	if c.state != busy {
		e.sink.noted(fmt.Sprintf("%s: %d bytes that nobody asked for: %.40q", Protocol, len(b), b))
		e.disconnect(c)
		return false
	}
	done, err := c.parser.feed(b)
	switch {
	case err != nil:
		e.fail(c, outcome{class: Protocol, reason: err.Error()})
		return false
	case done:
		return e.answered(c, now, closing)
	}
	return true
}

// answered ends a request whose response is complete, and tells whether to go on reading.
func (e *epoll) answered(c *conn, now int64, closing bool) bool {
	var sum []byte
	if c.hash != nil {
		sum = c.hash.Sum(e.sum[:0])
	}
	o := e.job.judge(c.parser.status, c.parser.bytes, sum)
	o.at = now
	r := c.req
	c.has, c.fresh, c.freed = false, false, now
	e.inFlight--
	c.in.remove(c)
	c.state = idle
	// An answer before the request was written leaves the rest of the request in the way.
	kept := c.parser.keep && e.job.Reuse && !closing && len(c.out) == 0 && len(c.sock.out) == 0
	if !kept {
		e.disconnect(c)
	}
	e.release(c)
	e.sink.finished(&r, o)
	gen := c.gen
	e.sink.freed()
	return kept && c.gen == gen && c.state != empty
}

// lost handles the end of a connection by the server or by an error.
func (e *epoll) lost(c *conn, err error) {
	if c.state != busy {
		e.disconnect(c) // it was idle: the next request dials
		return
	}
	if errors.Is(err, io.EOF) && c.parser.eof() {
		e.answered(c, e.clock(), true)
		return
	}
	if !c.parser.began && !c.fresh && !c.req.retried && e.job.repeatable {
		// The server may have closed the idle connection before it saw the request. RFC 9110, section 9.2.2: an idempotent
		// request may be repeated then; it is, once, on a new connection, and counted.
		c.req.retried = true
		e.sink.retried(e.clock())
		e.disconnect(c)
		c.fresh = true
		e.dial(c)
		return
	}
	class, reason := Reset, "closed before an answer"
	switch op, _ := errors.AsType[*net.OpError](err); {
	case op != nil && c.tls != nil: // an alert, such as that the server wants a certificate
		class, reason = TLS, err.Error()
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		reason = err.Error()
	case c.parser.began:
		reason = "closed within an answer"
	}
	e.fail(c, outcome{class: class, reason: reason})
}

// fail ends the request in flight with a failure, and its connection.
func (e *epoll) fail(c *conn, o outcome) {
	o.at = e.clock()
	r := c.req
	c.has, c.freed = false, o.at
	e.inFlight--
	e.disconnect(c)
	e.release(c)
	e.sink.finished(&r, o)
	e.sink.freed()
}

// watchBody prepares the hash of the body, where one is expected.
func (c *conn) watchBody(j *job) {
	c.parser.head = j.head
	if j.sha256 != nil {
		c.hash = sha256.New()
		c.parser.body = func(b []byte) { c.hash.Write(b) }
	}
}
