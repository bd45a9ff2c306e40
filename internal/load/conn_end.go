package load

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

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
	for _, r := range orphans {
		c.p.leave(r)
	}
	waiting = c.dismiss()
	c.disconnect()
	c.p.release(c)
	return orphans, waiting
}

// dismiss has the requests that wait leave, and gives them.
func (c *conn) dismiss() []*request {
	waiting := slices.Clone(c.waiting)
	c.waiting = c.waiting[:0]
	for _, r := range waiting {
		c.p.leave(r)
	}
	return waiting
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
	p.replace(c.dismiss())
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
	c.broken, c.closing, c.skip, c.full = nil, false, 0, false
	if !c.retired {
		c.limit = c.p.roomOf()
	} else if c.load == 0 && !c.spare {
		c.spare = true
		c.p.spare = append(c.p.spare, c)
	}
}
