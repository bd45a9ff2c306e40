package load

import (
	"fmt"
	"time"
)

const (
	openAtOnce   = 128 // bounds the dials in progress while the connections of a load are opened
	verifyAtOnce = 16  // bounds the verifications in flight
)

// prepare opens the connections, verifies one request of each form and then calls ready, all before time zero. It runs in
// the loop.
func (l *loop) prepare(ready func(Ready)) {
	done := func(r Ready) {
		r.Wire, r.WireNote, r.StreamLimit = l.pool.wireName, l.pool.wireNote, l.pool.streamLimit
		ready(r)
	}
	if !l.job.Reuse { // each is opened for its request
		l.verify(Ready{Connections: l.job.connections}, done)
		return
	}
	o := &opening{l: l, done: func(r Ready) { l.verify(r, done) }}
	l.onOpened, l.open = o.opened, o.pump
	if l.job.ConnectRate > 0 {
		o.every = time.Duration(float64(time.Second) * float64(l.job.Workers) / l.job.ConnectRate)
		o.began = l.clock()
	}
	o.pump()
}

// An opening opens the connections of a load, all at once or at a rate.
type opening struct {
	l                         *loop
	done                      func(Ready)
	every                     time.Duration // between two dials; 0 is at once
	began                     int64
	r                         Ready
	dialled, dialling, failed int
	why, lacked               string
	pumping                   bool
}

// pump dials what may be dialled now.
func (o *opening) pump() {
	if o.pumping || o.l.onOpened == nil {
		return
	}
	o.pumping = true
	l := o.l
	l.nextOpen = never
	for o.dialling < openAtOnce && o.dialled < l.job.connections && (o.failed < openAtOnce || o.r.Connections > 0) {
		if o.every > 0 {
			if at := o.began + int64(o.dialled)*int64(o.every); at > l.clock() {
				l.nextOpen = at
				break
			}
		}
		o.dialling, o.dialled = o.dialling+1, o.dialled+1
		if !l.pool.connect() {
			o.dialling--
			break
		}
	}
	o.pumping = false
	if o.dialling > 0 || l.nextOpen != never {
		return
	}
	l.onOpened = nil
	if n := l.job.connections - o.r.Connections; n > 0 && o.lacked != "" {
		o.r.Shortage = fmt.Sprintf("%d of %d connections were not opened: %s", n, l.job.connections, o.lacked)
	} else if n > 0 {
		o.r.Refused = fmt.Sprintf("%d of %d connections were not opened: %s", n, l.job.connections, o.why)
	}
	o.done(o.r)
}

// opened hears of the end of a dial.
func (o *opening) opened(out outcome) {
	o.dialling--
	if out.class == "" {
		o.r.Connections++
	} else {
		o.failed++
		if o.why = out.class + ": " + out.reason; out.class == generatorClass {
			o.lacked = o.why
		}
	}
	o.pump()
}

// verify sends one request of each form that is not part of the load.
func (l *loop) verify(r Ready, ready func(Ready)) {
	next, flying := 0, 0
	send := func() {
		for next < len(l.job.forms) && flying < verifyAtOnce && (l.pool.free() || flying == 0) && r.Problem == "" {
			v := l.blank()
			v.form = l.job.forms[next]
			v.due, v.ready = l.pool.now, l.pool.now
			next, flying = next+1, flying+1
			l.pool.send(v)
		}
		if flying == 0 {
			l.verified = nil
			ready(r)
		}
	}
	sending := false
	l.verified = func(v *request, o outcome) {
		flying--
		switch {
		case o.class != "":
			r.Problem = o.class + ": " + o.reason
		case !l.job.right(o.status):
			r.Problem = fmt.Sprintf("status %d", o.status)
		default:
			r.Verified++
		}
		if len(l.job.forms) > 1 && r.Problem != "" {
			r.Problem = v.form.path + ": " + r.Problem
		}
		v.sent, v.retried, v.conn = 0, 0, nil
		l.spare = append(l.spare, v)
		if !sending && l.verified != nil {
			sending = true
			send()
			sending = false
		}
	}
	sending = true
	l.pool.touch()
	send()
	sending = false
}
