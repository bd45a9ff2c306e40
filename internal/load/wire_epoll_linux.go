package load

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// epollWire is the wire over non-blocking sockets, edge-triggered.
type epollWire struct {
	p         *pool
	ep, event int
	events    []unix.EpollEvent
	again     []ref // to be read on, or broken
	buf       []byte
	noPwait2  bool // the kernel is older than 5.11, or a seccomp filter is

	slow throttle
}

// A ref is a connection as it was.
type ref struct {
	c       *conn
	gen     int32
	closing bool
}

func newEpollWire(p *pool) (wire, error) {
	w := &epollWire{p: p, events: make([]unix.EpollEvent, 256), buf: make([]byte, 64<<10), ep: -1, event: -1, slow: newThrottle(p.job.ReadRate)}
	var err error
	if w.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		if w.event, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err == nil {
			err = unix.EpollCtl(w.ep, unix.EPOLL_CTL_ADD, w.event, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: -1})
		}
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("preparing the event loop: %w", err)
	}
	return w, nil
}

func (w *epollWire) connect(c *conn) error {
	var err error
	if c.fd, err = dialSocket(w.p.job, w.p.route(c)); err != nil {
		return err
	}
	return unix.EpollCtl(w.ep, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&math.MaxUint32, Fd: int32(c.number), Pad: c.gen,
	})
}

func (w *epollWire) send(c *conn, b []byte) {
	n, err := write(c.fd, b)
	if err != nil {
		w.breaks(c, err)
		return
	}
	if n < len(b) {
		c.out = append(c.out, b[n:]...)
	}
}

func (w *epollWire) flush(c *conn) {
	if c.state == connecting || len(c.out) == 0 {
		return
	}
	n, err := write(c.fd, c.out)
	if err != nil {
		w.breaks(c, err)
		return
	}
	c.out = c.out[:copy(c.out, c.out[n:])]
}

func (w *epollWire) pending(c *conn) bool { return len(c.out) > 0 }

// breaks has what the server may have said before it closed the connection read: that is the answer, or decides what became
// of the request.
func (w *epollWire) breaks(c *conn, err error) {
	c.out = c.out[:0]
	if c.broken == nil {
		c.broken = err
		w.again = append(w.again, ref{c, c.gen, true})
	}
}

func (w *epollWire) drop(c *conn) {
	if c.fd >= 0 {
		unix.Close(c.fd) // which also ends its watching
		c.fd = -1
	}
	w.slow.forget(c)
}

func (w *epollWire) next() int64 { return w.slow.waiting.next() }

func (w *epollWire) wake() {
	one := [8]byte{1}
	_, _ = unix.Write(w.event, one[:]) // it can only be full of wake-ups
}

func (w *epollWire) close() {
	for _, fd := range []int{w.ep, w.event} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func (w *epollWire) poll(ns int64) bool {
	if len(w.again) > 0 {
		ns = 0
	}
	n := w.wait(ns)
	again := w.again
	w.again = nil
	for i := range n {
		w.handle(&w.events[i])
	}
	for _, r := range again {
		if r.c.gen == r.gen {
			w.read(r.c, r.closing)
		}
	}
	if w.slow.rate > 0 {
		now := w.p.clock()
		for c := w.slow.ready(now); c != nil; c = w.slow.ready(now) {
			w.read(c, c.closing)
		}
	}
	return n > 0 || len(again) > 0
}

// handle handles one event.
func (w *epollWire) handle(ev *unix.EpollEvent) {
	if ev.Fd < 0 {
		var b [8]byte
		_, _ = unix.Read(w.event, b[:])
		return
	}
	c := w.p.conns[ev.Fd]
	gen := ev.Pad
	if c.gen != gen {
		return
	}
	const end = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	if ev.Events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		if c.state == connecting {
			errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
			if err == nil && errno != 0 {
				err = unix.Errno(errno)
			}
			c.connected(err)
		} else if len(c.out) > 0 {
			c.flush()
		}
	}
	if c.gen == gen && c.state != connecting && ev.Events&(unix.EPOLLIN|end) != 0 {
		w.read(c, ev.Events&end != 0)
	}
}

// read reads what has arrived; closing tells that the server has closed its side, so all of it is to be read.
func (w *epollWire) read(c *conn, closing bool) {
	gen := c.gen
	c.closing = c.closing || closing
	buf := w.buf
	if w.slow.rate > 0 {
		if !w.slow.may(c, w.p.clock()) {
			return
		}
		buf = buf[:w.slow.chunk]
	}
	for range 16 {
		skip := min(c.skip, maxSkip)
		var n int
		var errno unix.Errno
		if skip > 0 && w.slow.rate == 0 {
			n, errno = sysSkip(c.fd, int(skip))
		} else {
			skip = 0
			n, errno = sysRead(c.fd, buf)
		}
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			if c.broken != nil {
				c.ended(c.broken)
			}
			return
		case errno != 0:
			c.ended(errno)
			return
		case n == 0:
			c.ended(io.EOF)
			return
		}
		if skip > 0 {
			c.skipped(int64(n))
		} else {
			c.arrived(buf[:n])
		}
		if c.gen != gen {
			return
		}
		if w.slow.rate > 0 {
			w.slow.took(c, w.p.clock())
			return
		}
		all := n < len(buf)
		if skip > 0 {
			all = c.skip == 0 || int64(n) < skip
		}
		if all && !closing { // what follows will be signalled
			return
		}
	}
	w.again = append(w.again, ref{c, c.gen, closing}) // others first
}

// maxSkip bounds the bytes that are thrown away at a time.
const maxSkip = 1 << 20

// wait waits for events for at most ns nanoseconds.
func (w *epollWire) wait(ns int64) int {
	var n uintptr
	var errno unix.Errno
	events, size := uintptr(unsafe.Pointer(&w.events[0])), uintptr(len(w.events))
	switch {
	case ns == 0:
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_WAIT, uintptr(w.ep), events, size, 0, 0, 0)
	case !w.noPwait2:
		ts := unix.NsecToTimespec(ns)
		call := unix.Syscall6
		if ns <= int64(rawWait) {
			call = unix.RawSyscall6
		}
		n, _, errno = call(unix.SYS_EPOLL_PWAIT2, uintptr(w.ep), events, size, uintptr(unsafe.Pointer(&ts)), 0, 8)
		if errno == unix.ENOSYS || errno == unix.EPERM {
			w.noPwait2 = true
			return w.wait(ns)
		}
	default:
		ms := min((ns+int64(time.Millisecond)-1)/int64(time.Millisecond), math.MaxInt32)
		n, _, errno = unix.Syscall6(unix.SYS_EPOLL_WAIT, uintptr(w.ep), events, size, uintptr(ms), 0, 0)
	}
	if errno != 0 {
		if !errors.Is(errno, unix.EINTR) {
			panic(fmt.Sprintf("waiting for events: %v", errno)) // a wrong argument: there is no going on
		}
		return 0
	}
	return int(n)
}
