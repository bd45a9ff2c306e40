//go:build linux && (amd64 || arm64)

package load

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/internal/load/uring"
)

// A uringWire is the wire over io_uring: what connections write goes to the kernel together with the wait for what arrives.
// Sockets are blocking ones: io_uring then waits for them by itself.
type uringWire struct {
	p         *pool
	ring      *uring.Ring
	addresses []*uring.Address  // of the routes
	orphans   map[uint64][]byte // buffers of dropped connections that the kernel may still read, by user data
	handle    func(ud uint64, res int32, flags uint32, data []byte)
	happened  int
	unsent    int // completions handled since the last submission
}

// Operations, in the low bits of user data; above them the connection's number, then as many bits of its generation as fit.
const (
	opConnect = iota
	opRecv
	opSend
	opSendStatic
	opDiscard
	opBits = 3
	opMask = 1<<opBits - 1

	numberBits = 24
	numberMask = 1<<numberBits - 1
)

// submitEach is after how many completions what was written meanwhile is submitted, so that the first does not wait for the
// last.
const submitEach = 32

func tokenOf(c *conn, op uint64) uint64 {
	return op | uint64(c.number)<<opBits | uint64(uint32(c.gen))<<(opBits+numberBits)
}

func newUringWire(p *pool) (wire, error) {
	w := &uringWire{p: p, orphans: map[uint64][]byte{}}
	for _, r := range p.routes {
		to, _, err := sockaddr(r.to)
		if err != nil {
			return nil, err
		}
		a, err := uring.NewAddress(to)
		if err != nil {
			return nil, err
		}
		w.addresses = append(w.addresses, a)
	}
	var err error
	if w.ring, err = uring.Open(uring.Config{Buffers: min(max(p.job.connections, 64), 1024)}); err != nil {
		return nil, err
	}
	w.handle = w.complete
	return w, nil
}

func (w *uringWire) connect(c *conn) error {
	if c.number > numberMask {
		return fmt.Errorf("more than %d connections", numberMask)
	}
	n := c.source % len(w.p.routes)
	var err error
	if c.fd, err = openSocket(w.p.job, w.p.routes[n], 0); err != nil {
		return err
	}
	c.armed = true
	w.ring.Connect(c.fd, w.addresses[n], tokenOf(c, opConnect))
	return nil
}

func (w *uringWire) send(c *conn, b []byte) {
	if len(c.writing) == 0 && len(c.out) == 0 && len(b) <= takenAtOnce {
		w.ring.SendStatic(c.fd, b, tokenOf(c, opSendStatic))
		return
	}
	c.out = append(c.out, b...)
	w.flush(c)
}

func (w *uringWire) flush(c *conn) {
	if c.state == connecting || len(c.writing) > 0 || len(c.out) == 0 {
		return
	}
	c.writing, c.out = c.out, c.writing[:0]
	w.ring.Send(c.fd, c.writing, tokenOf(c, opSend))
}

func (w *uringWire) pending(c *conn) bool { return len(c.writing) > 0 || len(c.out) > 0 }

func (w *uringWire) drop(c *conn) {
	if c.fd < 0 {
		return
	}
	if len(c.writing) > 0 {
		w.orphans[tokenOf(c, opSend)] = c.writing
		c.armed = true
	}
	if c.armed {
		w.ring.CancelFD(c.fd, uring.Nobody)
	}
	w.ring.CloseFD(c.fd, uring.Nobody)
	c.fd, c.writing, c.armed, c.once = -1, nil, false, false
}

func (w *uringWire) next() int64 { return never }
func (w *uringWire) wake()       { w.ring.Wake() }
func (w *uringWire) close()      { w.ring.Close() }

func (w *uringWire) poll(ns int64) bool {
	if ns == never {
		ns = -1
	}
	w.happened, w.unsent = 0, 0
	if err := w.ring.Wait(ns, w.handle); err != nil {
		panic(fmt.Sprintf("waiting for events: %v", err)) // there is no going on
	}
	return w.happened > 0
}

// complete takes one completion.
func (w *uringWire) complete(ud uint64, res int32, flags uint32, data []byte) {
	w.happened++
	if ud == uring.Woken {
		return
	}
	c := w.p.conns[ud>>opBits&numberMask]
	op := ud & opMask
	if tokenOf(c, op) != ud {
		delete(w.orphans, ud)
		return
	}
	switch op {
	case opConnect:
		w.connected(c, res)
	case opRecv:
		w.received(c, ud, res, flags, data)
	case opDiscard:
		w.discarded(c, ud, res)
	case opSend:
		w.sent(c, res)
	case opSendStatic: // it failed; what is read says what became of the connection
	}
	if w.unsent++; w.unsent >= submitEach {
		w.unsent = 0
		_ = w.ring.Submit() // an error shows in the next wait
	}
}

func (w *uringWire) connected(c *conn, res int32) {
	c.armed = false
	if res < 0 {
		c.connected(unix.Errno(-res))
		return
	}
	w.receive(c)
	c.connected(nil)
}

func (w *uringWire) received(c *conn, ud uint64, res int32, flags uint32, data []byte) {
	c.armed = flags&uring.More != 0
	switch {
	case res > 0:
		c.arrived(data)
	case res == -int32(unix.ENOBUFS), res == -int32(unix.ECANCELED) && c.once: // to be received again
	default:
		w.ends(c, res)
		return
	}
	if tokenOf(c, opRecv) == ud {
		w.receive(c)
	}
}

// receive has more received. A connection that has seen a large body receives once at a time, so that the rest of a body can
// be discarded.
func (w *uringWire) receive(c *conn) {
	switch {
	case c.armed && c.skip > 0 && !c.once:
		c.once = true // from the end of this multishot receive on
		w.ring.Cancel(tokenOf(c, opRecv), uring.Nobody)
	case c.armed:
	case c.once && c.skip > 0:
		c.armed = true
		w.ring.RecvDiscard(c.fd, int(min(c.skip, maxDiscard)), tokenOf(c, opDiscard))
	case c.once:
		c.armed = true
		w.ring.Recv(c.fd, tokenOf(c, opRecv))
	default:
		c.armed = true
		w.ring.RecvMultishot(c.fd, tokenOf(c, opRecv))
	}
}

// maxDiscard bounds the bytes that are discarded at a time.
const maxDiscard = 1 << 30

func (w *uringWire) discarded(c *conn, ud uint64, res int32) {
	c.armed = false
	if res <= 0 {
		w.ends(c, res)
		return
	}
	c.skipped(int64(res))
	if tokenOf(c, opDiscard) == ud {
		w.receive(c)
	}
}

// ends tells of the end of the input, which is 0 or a negative error.
func (w *uringWire) ends(c *conn, res int32) {
	if res == 0 {
		c.ended(io.EOF)
	} else {
		c.ended(unix.Errno(-res))
	}
}

func (w *uringWire) sent(c *conn, res int32) {
	n := len(c.writing)
	c.writing = c.writing[:0]
	if int(res) < n { // what is read says what became of the connection
		c.out = c.out[:0]
		return
	}
	c.flush()
}
