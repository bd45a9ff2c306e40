package load

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// closedPause is how long a user of a closed loop pauses who could not connect.
const closedPause = 10 * time.Millisecond

// schedule finds the due time of request k.
func (l *loop) schedule() {
	l.nextDue = never
	if at, ok := l.job.schedule.due(l.k); ok && int64(at) < never-l.ledger.start {
		l.nextDue = l.ledger.start + int64(at)
	}
}

// isOpen tells whether this is an open loop.
func (l *loop) isOpen() bool { return len(l.job.Rate) > 0 }

// request makes the next request, which is due.
func (l *loop) request(k, due int64) *request {
	r := l.blank()
	r.form = l.job.forms[int(k%int64(len(l.job.forms)))]
	l.ledger.begin(r, due)
	return r
}

// blank gives an unused request.
func (l *loop) blank() *request {
	if n := len(l.spare); n > 0 {
		r := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return r
	}
	r := &request{}
	r.timeout.of = r
	if l.job.sha256 != nil {
		r.hash = sha256.New()
	}
	return r
}

// recycle takes back a request that is over. A user of a closed loop who could not connect pauses: the loop would otherwise
// do nothing but fail to connect.
func (l *loop) recycle(r *request, o outcome) {
	failed := o.class != "" && r.sent == 0
	r.sent, r.retried, r.in, r.conn = 0, 0, nil, nil
	switch {
	case l.isOpen():
		l.spare = append(l.spare, r)
	case failed:
		l.pauses.push(&r.timeout, o.at+int64(closedPause))
	default:
		l.users++
		l.spare = append(l.spare, r)
	}
}

// unpause lets users try again.
func (l *loop) unpause(now int64) {
	for p := l.pauses.first; p != nil && p.deadline <= now; p = l.pauses.first {
		p.leave()
		l.users++
		l.spare = append(l.spare, p.of)
	}
	l.pool.touch()
	l.freed()
}

// arrive begins the requests that are due at now.
func (l *loop) arrive(now int64) {
	l.pool.touch()
	for l.nextDue <= now {
		free := l.waiting.size == 0 && l.pool.free() && l.pool.now-now < int64(arriveFor)
		if !free && l.waiting.size >= l.job.waiting {
			l.overrun(now)
			break
		}
		r := l.request(l.k, l.nextDue)
		l.k += int64(l.job.Workers)
		l.schedule()
		if free {
			l.pool.touch()
			l.pool.send(r)
		} else {
			l.waiting.push(r)
		}
	}
	if l.waiting.size > 0 && l.pool.free() { // those that were due too late to be begun above
		l.freed()
	}
}

// unsent is the outcome of a request that never came to be sent: class, unless the generator had so much to do that it
// cannot know whether a connection was free.
func (l *loop) unsent(now int64, class, reason string) outcome {
	if idle := now - l.pacer.idle; idle > int64(time.Second) {
		return outcome{at: now, class: generatorClass, reason: fmt.Sprintf("the generator was busy without a break for %v", time.Duration(idle).Round(time.Millisecond))}
	}
	return outcome{at: now, class: class, reason: reason}
}

// freed sends what waits for a connection, and lets the users of a closed loop have their next requests.
func (l *loop) freed() {
	if l.pumping || !l.started || l.over {
		return
	}
	l.pumping = true
	for {
		free := l.pool.free()
		if free && l.waiting.size > 0 {
			l.pool.send(l.waiting.pop())
			continue
		}
		if l.users == 0 || l.stopping {
			break
		}
		l.users--
		r := l.request(l.k, l.pool.now)
		l.k++
		if free {
			l.pool.send(r)
		} else {
			l.waiting.push(r)
		}
	}
	l.pumping = false
}
