package load

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// A netWire is the wire over package net, with goroutines for each connection: for systems that have nothing better.
type netWire struct {
	p      *pool
	conns  map[*conn]*netConn
	events chan netEvent
	woken  chan struct{}
	timer  *time.Timer
	slow   throttle
	all    sync.WaitGroup
}

// A netConn is a connection with a goroutine that dials and reads and, once it stands, one that writes.
type netConn struct {
	ctx     context.Context
	cancel  context.CancelFunc
	taken   chan struct{} // the loop is done with what was read
	mu      sync.Mutex
	filled  sync.Cond
	out     []byte
	writing int // bytes that the writer has taken and not yet written
	closed  bool
}

// A netEvent is what a goroutine tells the loop of a connection.
type netEvent struct {
	c         *conn
	n         *netConn
	connected bool
	b         []byte
	err       error
}

const netBuffer = 16 << 10

func newNetWire(p *pool) (wire, error) {
	return &netWire{p: p, conns: map[*conn]*netConn{}, events: make(chan netEvent, 256), woken: make(chan struct{}, 1), timer: time.NewTimer(0), slow: newThrottle(p.job.ReadRate)}, nil
}

func (w *netWire) connect(c *conn) error {
	n := &netConn{taken: make(chan struct{}, 1)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.filled.L = &n.mu
	w.conns[c] = n
	r := w.p.route(c)
	w.all.Go(func() { w.live(c, n, r) })
	return nil
}

// live dials, then reads.
func (w *netWire) live(c *conn, n *netConn, r route) {
	d := net.Dialer{KeepAlive: -1}
	if r.from.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: r.from.AsSlice(), Zone: r.from.Zone()}
	}
	nc, err := d.DialContext(n.ctx, "tcp", r.to.String())
	if !w.tell(n, netEvent{c: c, n: n, connected: true, err: cause(err)}) || err != nil {
		if nc != nil {
			nc.Close()
		}
		return
	}
	defer nc.Close()
	stop := context.AfterFunc(n.ctx, func() { nc.Close() })
	defer stop()
	w.all.Go(func() { n.write(nc) })
	b := make([]byte, netBuffer)
	if w.slow.rate > 0 {
		_ = nc.(*net.TCPConn).SetReadBuffer(8 << 10) // the system's own size is a coarser bound
		b = b[:min(len(b), w.slow.chunk)]
	}
	for {
		k, err := nc.Read(b)
		if !w.tell(n, netEvent{c: c, n: n, b: b[:k], err: cause(err)}) {
			return
		}
		if err != nil {
			<-n.ctx.Done() // the other side hears of the end when the loop has
			return
		}
		select {
		case <-n.taken:
		case <-n.ctx.Done():
			return
		}
		if w.slow.rate > 0 {
			select {
			case <-time.After(time.Duration(w.slow.pause)):
			case <-n.ctx.Done():
				return
			}
		}
	}
}

// cause is the error of the system call within one of package net.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		if inner := errors.Unwrap(op.Err); inner != nil {
			return inner
		}
		return op.Err
	}
	return err
}

func (w *netWire) tell(n *netConn, e netEvent) bool {
	select {
	case w.events <- e:
		return true
	case <-n.ctx.Done():
		return false
	}
}

// write writes what the loop leaves, until the connection is dropped. What an error of it means reading tells.
func (n *netConn) write(nc net.Conn) {
	var b []byte
	for {
		n.mu.Lock()
		n.writing = 0
		for len(n.out) == 0 && !n.closed {
			n.filled.Wait()
		}
		if n.closed {
			n.mu.Unlock()
			return
		}
		b, n.out = n.out, b[:0]
		n.writing = len(b)
		n.mu.Unlock()
		_, _ = nc.Write(b)
	}
}

func (w *netWire) send(c *conn, b []byte) {
	n := w.conns[c]
	n.mu.Lock()
	n.out = append(n.out, b...)
	n.mu.Unlock()
	n.filled.Signal()
}

func (w *netWire) flush(c *conn) {
	if c.state == connecting || len(c.out) == 0 {
		return
	}
	w.send(c, c.out)
	c.out = c.out[:0]
}

func (w *netWire) pending(c *conn) bool {
	n := w.conns[c]
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.out)+n.writing+len(c.out) > takenAtOnce // the writer may not have noticed yet that less was taken
}

func (w *netWire) drop(c *conn) {
	n := w.conns[c]
	if n == nil {
		return
	}
	delete(w.conns, c)
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.filled.Signal()
	n.cancel()
}

func (w *netWire) next() int64 { return never }

func (w *netWire) wake() {
	select {
	case w.woken <- struct{}{}:
	default: // it is full of wake-ups
	}
}

func (w *netWire) close() { w.all.Wait() }

func (w *netWire) poll(ns int64) bool {
	var over <-chan time.Time
	if ns > 0 && ns != never {
		w.timer.Reset(time.Duration(ns))
		over = w.timer.C
	}
	if ns > 0 {
		select {
		case e := <-w.events:
			w.handle(e)
		case <-w.woken:
			return true
		case <-over:
			return false
		}
	}
	for i := 0; ; i++ {
		select {
		case e := <-w.events:
			w.handle(e)
		case <-w.woken:
			return true
		default:
			return i > 0 || ns > 0
		}
	}
}

func (w *netWire) handle(e netEvent) {
	if w.conns[e.c] != e.n {
		return // it was dropped
	}
	if e.connected {
		e.c.connected(e.err)
		return
	}
	if len(e.b) > 0 {
		e.c.arrived(e.b)
	}
	if w.conns[e.c] != e.n {
		return
	}
	if e.err != nil {
		e.c.ended(e.err)
		return
	}
	e.n.taken <- struct{}{}
}
