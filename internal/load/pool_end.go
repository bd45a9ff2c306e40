package load

import (
	"fmt"
	"time"
)

const (
	refusedPause = 5 * time.Millisecond // before a refused stream is tried again
	maxTries     = 20                   // of a request that servers refuse over and over
)

// leave takes a request from its connection, which is not changed otherwise.
func (p *pool) leave(r *request) {
	c := r.conn
	r.conn = nil
	if c.load == c.limit {
		c.freed = p.now
	}
	c.load--
}

// finish ends a request that has left its connection.
func (p *pool) finish(r *request, o outcome) {
	if o.at == 0 {
		o.at = p.now
	}
	if p.inFlight == p.job.inFlight {
		p.freed = p.now
	}
	p.inFlight--
	r.timeout.leave()
	p.sink.finished(r, o)
}

// retry sends a request again, which has left its connection, on c.
func (p *pool) retry(r *request, c *conn) {
	r.retried++
	p.give(c, r)
}

// away sends a request again, which has left its connection, that a server's GOAWAY left out.
func (p *pool) away(r *request) {
	if r.retried >= maxTries {
		p.finish(r, outcome{class: Reset, reason: fmt.Sprintf("sent %d times, and left out by GOAWAY the last time", r.retried+1)})
		return
	}
	p.sink.retriedAway(p.now)
	p.retry(r, p.another())
}

// refuse sends a request again after a pause, which has left its connection, that a server refused to take.
func (p *pool) refuse(r *request) {
	if r.retried >= maxTries {
		p.finish(r, outcome{class: Reset, reason: fmt.Sprintf("sent %d times, and refused the last time", r.retried+1)})
		return
	}
	r.retried++
	p.sink.retriedRefusal(p.now)
	r.timeout.leave()
	p.refused.push(&r.timeout, p.now+int64(refusedPause))
}

// limitWait bounds how long a request waits for room on a connection; its dial has a bound of its own.
func (p *pool) limitWait(r *request) {
	if r.timeout.in == nil {
		p.timeouts.push(&r.timeout, p.now+int64(p.job.Timeout))
	}
}

// until is when something takes too long.
func (p *pool) until() int64 {
	return min(p.dials.next(), p.timeouts.next(), p.refused.next(), p.continues.next(), p.wire.next())
}

// due ends what took too long, and pauses that are over.
func (p *pool) due() {
	now := p.now
	for l := p.dials.first; l != nil && l.deadline <= now; l = p.dials.first {
		l.of.late()
	}
	for l := p.continues.first; l != nil && l.deadline <= now; l = p.continues.first {
		l.leave()
		l.of.uncontinued()
	}
	for l := p.timeouts.first; l != nil && l.deadline <= now; l = p.timeouts.first {
		why := "no answer"
		if l.of.sent == 0 {
			why = "the server's limit on streams left no room"
		} else if l.of.began {
			why = "the answer began and did not end"
		}
		p.end(l.of, outcome{class: Timeout, reason: fmt.Sprintf("%s within %v", why, p.job.Timeout)})
	}
	for l := p.refused.first; l != nil && l.deadline <= now; l = p.refused.first {
		r := l.of
		l.leave()
		if now-r.sent >= int64(p.job.Timeout) {
			p.finish(r, outcome{class: Timeout, reason: fmt.Sprintf("refused for %v", p.job.Timeout)})
			p.sink.freed()
			continue
		}
		p.give(p.another(), r)
	}
	p.flush()
}

// end gives a request its outcome before it was answered.
func (p *pool) end(r *request, o outcome) {
	c := r.conn
	r.timeout.leave()
	if c == nil { // it pauses
		p.finish(r, o)
		return
	}
	waited := c.unwait(r)
	usable := waited || c.state != open || c.proto.cancel(r)
	p.leave(r)
	if !usable {
		c.lost(Reset, "the connection was closed after a timeout")
	}
	c.goOn()
	p.finish(r, o)
	p.sink.freed()
}

// expire ends every request that is in flight.
func (p *pool) expire(o outcome) {
	for _, c := range p.conns {
		orphans, waiting := c.vacate()
		for _, r := range append(orphans, waiting...) {
			p.finish(r, o)
		}
	}
	for l := p.refused.first; l != nil; l = p.refused.first {
		l.leave()
		p.finish(l.of, o)
	}
}
