package load

import "time"

// A throttle bounds how fast each connection is read: a chunk, then a pause. The receive buffer is kept small beside it, so
// that the server feels it.
type throttle struct {
	rate    int64 // bytes a second; 0 is no bound
	chunk   int   // bytes
	pause   int64 // ns
	waiting queue[*conn]
}

// readTick is how often a connection is read, where its rate is more than a byte in that time.
const readTick = 10 * time.Millisecond

func newThrottle(rate int64) throttle {
	t := throttle{rate: rate, pause: int64(readTick)}
	if rate == 0 {
		return t
	}
	t.chunk = int(min(max(rate*int64(readTick)/int64(time.Second), 1), 64<<10))
	t.pause = int64(t.chunk) * int64(time.Second) / rate
	return t
}

// may tells whether c may be read at now; if not it will be ready later.
func (t *throttle) may(c *conn, now int64) bool {
	if c.readAfter > now {
		if c.slow.in == nil {
			t.waiting.push(&c.slow, c.readAfter)
		}
		return false
	}
	return true
}

// took makes c ready again after the pause.
func (t *throttle) took(c *conn, now int64) {
	c.readAfter = now + t.pause
	if c.slow.in == nil {
		t.waiting.push(&c.slow, c.readAfter)
	}
}

// ready gives a connection that may be read again; nil if there is none.
func (t *throttle) ready(now int64) *conn {
	l := t.waiting.first
	if l == nil || l.deadline > now {
		return nil
	}
	l.leave()
	return l.of
}

func (t *throttle) forget(c *conn) {
	c.slow.leave()
	c.readAfter = 0
}
