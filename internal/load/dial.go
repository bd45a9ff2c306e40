package load

import (
	"context"
	"crypto/tls"
	"fmt"

	"golang.org/x/sys/unix"
)

// dial connects the slot; its request, if it has one, is sent after that.
func (e *epoll) dial(c *conn) {
	now := e.clock()
	fd, err := connect(e.family, e.to)
	if fd >= 0 {
		c.gen++
		c.sock, c.state, c.began = &socket{fd: fd}, connecting, now
		e.opens++
	}
	if err == nil {
		err = e.watch(c)
	}
	if err != nil {
		e.dialFailed(c, outcome{class: dialClass(err), reason: err.Error()})
		return
	}
	e.dials.push(c, now+int64(e.job.DialTimeout))
}

// connected goes on after the socket reported the end of connecting.
func (e *epoll) connected(c *conn) {
	errno, err := unix.GetsockoptInt(c.sock.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	if err != nil {
		e.dialFailed(c, outcome{class: dialClass(err), reason: err.Error()})
		return
	}
	now := e.clock()
	e.sink.connected(now, now-c.began)
	c.in.remove(c)
	if e.job.tls == nil {
		e.established(c, now)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.state, c.began, c.cancel, c.overdue = securing, now, cancel, false
	c.sock.ctx, c.sock.readable = ctx, make(chan struct{}, 1)
	c.tls = tls.Client(c.sock, e.job.tls)
	e.dials.push(c, now+int64(e.job.DialTimeout))
	e.handshakes.Go(func() {
		err := c.tls.HandshakeContext(ctx)
		e.mu.Lock()
		e.secured = append(e.secured, handshake{c, err})
		e.mu.Unlock()
		e.wake()
	})
}

// A handshake is the result of one.
type handshake struct {
	c   *conn
	err error
}

// finishHandshakes takes the results of the goroutines.
func (e *epoll) finishHandshakes() {
	e.mu.Lock()
	done := e.secured
	e.secured = nil
	e.mu.Unlock()
	for _, h := range done {
		c := h.c
		c.cancel()
		c.sock.ctx = nil
		if h.err != nil {
			if c.overdue {
				h.err = fmt.Errorf("no handshake within %v", e.job.DialTimeout)
			}
			e.dialFailed(c, outcome{class: TLS, reason: h.err.Error()})
			continue
		}
		now := e.clock()
		e.sink.secured(now, now-c.began, c.tls.ConnectionState().DidResume)
		c.in.remove(c)
		c.sock.drained = false
		e.established(c, now)
		// What was signalled during the handshake will not be again. The second reading goes on where the first one took a
		// short read for the last one.
		gen := c.gen
		for range 2 {
			if c.gen == gen {
				e.readable(c, false)
			}
		}
	}
}

// established sends the request for which the connection was dialled, or reports it open.
func (e *epoll) established(c *conn, now int64) {
	c.state, c.freed = idle, now
	if c.has {
		e.start(c)
		return
	}
	e.release(c)
	e.sink.opened(now, outcome{})
}

// dialFailed gives the request that waits for the dial its outcome.
func (e *epoll) dialFailed(c *conn, o outcome) {
	o.at = e.clock()
	e.disconnect(c)
	had, r := c.has, c.req
	c.has = false
	if had {
		e.inFlight--
		if len(e.job.Rate) == 0 && r.in != nil {
			// A closed loop would otherwise do nothing but fail to connect.
			e.pauses.push(c, o.at+int64(closedPause))
		} else {
			e.release(c)
		}
		e.sink.finished(&r, o)
	} else {
		e.release(c)
		e.sink.opened(o.at, o)
	}
	e.sink.freed()
}

// disconnect closes the descriptor. A handshake must be over by then.
func (e *epoll) disconnect(c *conn) {
	if c.in != nil {
		c.in.remove(c)
	}
	if c.sock != nil {
		unix.Close(c.sock.fd) // which also ends its watching
		e.opens--
	}
	c.gen++
	c.sock, c.tls, c.out, c.state = nil, nil, nil, empty
}
