package load

import "fmt"

// openAtOnce bounds the dials in progress while the connections of a load are opened.
const openAtOnce = 128

// prepare opens the connections, verifies one request and then calls ready, all before time zero. It runs in the loop.
func (l *loop) prepare(ready func(Ready)) {
	if !l.job.Reuse { // each is opened for its request
		l.verify(Ready{Connections: l.job.connections}, ready)
		return
	}
	var r Ready
	var dialled, dialling, failed int
	var why, lacked string
	pumping := false
	pump := func() {
		if pumping {
			return
		}
		pumping = true
		for dialling < openAtOnce && dialled < l.job.connections && (failed < openAtOnce || r.Connections > 0) {
			dialling, dialled = dialling+1, dialled+1
			if !l.engine.open() {
				dialling--
				break
			}
		}
		pumping = false
		if dialling > 0 {
			return
		}
		l.onOpened = nil
		if n := l.job.connections - r.Connections; n > 0 && lacked != "" {
			r.Shortage = fmt.Sprintf("%d of %d connections were not opened: %s", n, l.job.connections, lacked)
		} else if n > 0 {
			r.Refused = fmt.Sprintf("%d of %d connections were not opened: %s", n, l.job.connections, why)
		}
		l.verify(r, ready)
	}
	l.onOpened = func(o outcome) {
		dialling--
		if o.class == "" {
			r.Connections++
		} else {
			failed++
			if why = o.class + ": " + o.reason; o.class == generatorClass {
				lacked = why
			}
		}
		pump()
	}
	pump()
}

// verify sends one request that is not part of the load.
func (l *loop) verify(r Ready, ready func(Ready)) {
	l.verified = func(o outcome) {
		switch {
		case o.class != "":
			r.Problem = o.class + ": " + o.reason
		case !l.job.right(o.status):
			r.Problem = fmt.Sprintf("status %d", o.status)
		default:
			r.Verified = 1
		}
		ready(r)
	}
	now := l.clock()
	l.engine.send(request{due: now, ready: now})
}
