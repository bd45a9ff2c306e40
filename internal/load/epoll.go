package load

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/internal/worker"
)

// closedPause is how long a connection of a closed loop pauses that could not connect.
const closedPause = 10 * time.Millisecond

// epoll is the engine for HTTP/1.1 over non-blocking sockets, edge-triggered, in one thread.
type epoll struct {
	job    *job
	sink   sink
	clock  func() int64
	family int
	to     unix.Sockaddr

	ep, event int
	events    []unix.EpollEvent
	conns     []*conn
	frees     ring[*conn]
	again     []ref // to be read on
	buf       []byte
	sum       [32]byte

	dials, timeouts, pauses queue
	opens, inFlight         int

	handshakes sync.WaitGroup
	mu         sync.Mutex
	secured    []handshake // finished; guarded by mu

	idleAt     int64
	noPwait2   bool // the kernel is older than 5.11
	spinning   bool // since the last tick
	spinAfter  int64
	switches   int64
	switchesOK bool
}

// A ref is a connection as it was.
type ref struct {
	slot    int
	gen     int32
	closing bool
}

// newEpoll prepares an engine; its loop must be locked to its thread.
func newEpoll(j *job, family int, to unix.Sockaddr, clock func() int64, s sink) (*epoll, error) {
	e := &epoll{job: j, sink: s, clock: clock, family: family, to: to,
		events: make([]unix.EpollEvent, 256), buf: make([]byte, 64<<10), ep: -1, event: -1}
	var err error
	if e.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		if e.event, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err == nil {
			err = unix.EpollCtl(e.ep, unix.EPOLL_CTL_ADD, e.event, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: -1})
		}
	}
	if err != nil {
		e.close()
		return nil, &worker.Error{Class: generatorClass, Message: fmt.Sprintf("preparing the event loop: %v", err)}
	}
	if j.Pacing == "precise" {
		// The default slack delays every sleep by 50 us. Without the right to change it pacing is that much coarser.
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	for i := range j.connections {
		c := &conn{slot: i}
		c.watchBody(j)
		e.conns = append(e.conns, c)
		e.release(c)
	}
	return e, nil
}

func (e *epoll) watch(c *conn) error {
	return unix.EpollCtl(e.ep, unix.EPOLL_CTL_ADD, c.sock.fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&math.MaxUint32, Fd: int32(c.slot), Pad: c.gen,
	})
}

func (e *epoll) release(c *conn) {
	if !c.inFree {
		c.inFree = true
		e.frees.push(c)
	}
}

func (e *epoll) take() *conn {
	c := e.frees.pop()
	c.inFree = false
	return c
}

func (e *epoll) free() int { return e.frees.size }

func (e *epoll) open() bool {
	for range e.frees.size {
		c := e.take()
		if c.state == empty {
			e.dial(c)
			return true
		}
		e.release(c)
	}
	return false
}

func (e *epoll) send(r request) {
	c := e.take()
	c.req, c.has, c.fresh = r, true, c.state == empty
	e.inFlight++
	if c.state == empty {
		e.dial(c)
	} else {
		e.start(c)
	}
}

func (e *epoll) state() (open, inFlight int) { return e.opens, e.inFlight }

func (e *epoll) idle() int64 { return e.idleAt }

func (e *epoll) wake() {
	one := [8]byte{1}
	_, _ = unix.Write(e.event, one[:]) // it can only be full of wake-ups
}

// handle handles one event.
func (e *epoll) handle(ev *unix.EpollEvent) {
	if ev.Fd < 0 {
		var b [8]byte
		_, _ = unix.Read(e.event, b[:])
		e.finishHandshakes()
		return
	}
	c := e.conns[ev.Fd]
	if c.gen != ev.Pad {
		return
	}
	const end = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	switch c.state {
	case connecting:
		if ev.Events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			e.connected(c)
			// The edge of what arrived at the same time is used up.
			if c.gen == ev.Pad && (c.state == idle || c.state == busy) && ev.Events&(unix.EPOLLIN|end) != 0 {
				e.readable(c, ev.Events&end != 0)
			}
		}
	case securing:
		select {
		case c.sock.readable <- struct{}{}:
		default:
		}
	case idle, busy:
		if ev.Events&unix.EPOLLOUT != 0 && (len(c.out) > 0 || len(c.sock.out) > 0) {
			e.writable(c)
		}
		if c.gen == ev.Pad && ev.Events&(unix.EPOLLIN|end) != 0 && c.state != empty {
			e.readable(c, ev.Events&end != 0)
		}
	}
}

// due ends what took too long, and pauses that are over.
func (e *epoll) due(now int64) {
	for c := e.dials.first; c != nil && c.deadline <= now; c = e.dials.first {
		if c.state == securing { // its goroutine will report
			e.dials.remove(c)
			c.overdue = true
			c.cancel()
			continue
		}
		e.dialFailed(c, outcome{class: Connect, reason: fmt.Sprintf("no connection within %v", e.job.DialTimeout)})
	}
	for c := e.timeouts.first; c != nil && c.deadline <= now; c = e.timeouts.first {
		e.fail(c, outcome{class: Timeout, reason: fmt.Sprintf("no answer within %v", e.job.Timeout)})
	}
	freed := false
	for c := e.pauses.first; c != nil && c.deadline <= now; c = e.pauses.first {
		e.pauses.remove(c)
		e.release(c)
		freed = true
	}
	if freed {
		e.sink.freed()
	}
}

func (e *epoll) expire(o outcome) {
	for _, c := range e.conns {
		if !c.has {
			continue
		}
		if c.state == securing { // its goroutine still uses the descriptor
			r := c.req
			c.has = false
			e.inFlight--
			o.at = e.clock()
			e.sink.finished(&r, o)
			continue
		}
		e.fail(c, o)
	}
}

func (e *epoll) close() {
	for _, c := range e.conns {
		if c.state == securing {
			c.cancel()
		}
	}
	e.handshakes.Wait()
	for _, c := range e.conns {
		if c.cancel != nil {
			c.cancel()
		}
		e.disconnect(c)
	}
	for _, fd := range []int{e.ep, e.event} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
