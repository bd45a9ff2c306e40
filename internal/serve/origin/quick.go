package origin

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// quick reads requests and answers those that need nothing but memory, until something else is to be done. It stays
// within one RawConn.Read, so that a request costs one read, one write and no work of the poller's beyond its wait.
func (c *conn) quick() step {
	for {
		next := over
		err := c.raw.Read(func(fd uintptr) bool {
			for {
				next = c.advance()
				if !c.flush(fd) {
					next = over
				}
				switch next {
				case write:
					continue
				case slow, http2, over:
					return true
				}
				if done, ok := c.read(fd); !ok {
					next = over
					return true
				} else if !done {
					if c.pause() {
						return false
					}
					next = over
					return true
				}
			}
		})
		if errors.Is(err, os.ErrDeadlineExceeded) && c.state.Load() == busy {
			c.tcp.SetReadDeadline(time.Time{}) // a stop or the idle timeout took it for idle
			continue
		}
		if err != nil {
			return over
		}
		return next
	}
}

// pause prepares for waiting; it is false if the server is stopping and nothing was begun.
func (c *conn) pause() bool {
	if c.r < c.w {
		return true
	}
	if c.s.spec.IdleTimeout > 0 {
		c.tcp.SetReadDeadline(time.Now().Add(c.s.spec.IdleTimeout))
	}
	c.state.Store(idle)
	return !c.s.draining.Load()
}

// read takes what the socket has: done is false if that is nothing yet, ok is false at its end.
func (c *conn) read(fd uintptr) (done, ok bool) {
	if !c.room() {
		return false, false // advance refuses what is too large, so this is not reached
	}
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&c.in[c.w])), uintptr(len(c.in)-c.w))
		switch {
		case errno == syscall.EINTR:
		case errno == syscall.EAGAIN:
			return false, true
		case errno != 0 || n == 0:
			return false, false
		default:
			c.state.Store(busy)
			c.w += int(n)
			c.count.bytesIn.Add(int64(n))
			return true, true
		}
	}
}

// advance answers the requests in the buffer as far as it can.
func (c *conn) advance() step {
	for {
		if c.closing {
			return over
		}
		if c.r == c.w {
			c.r, c.w, c.seen = 0, 0, 0
			return wait
		}
		b := c.in[c.r:c.w]
		if c.fresh {
			if n := min(len(b), len(preface)); string(b[:n]) == preface[:n] {
				if n == len(preface) {
					return http2
				}
				return wait
			}
			c.fresh = false
		}
		end, code := c.endOfHead(b)
		if code == 0 && end > 0 {
			code = parseHead(b[:end], &c.head)
		}
		if code != 0 {
			c.refuse(code)
			return write
		}
		if end == 0 {
			return wait
		}
		c.r += end
		c.seen = 0
		if c.s.draining.Load() {
			c.head.close = true
		}
		if c.route = routeOf(c.head.target); c.head.framing != none || !c.answerQuickly() {
			return slow
		}
		if c.tail > 0 || len(c.out) > 32<<10 {
			return write
		}
	}
}

// endOfHead finds the empty line: end is 0 if it has not arrived. What can be no request is refused at once, so that a
// client which waits for an answer gets one.
func (c *conn) endOfHead(b []byte) (end, code int) {
	from := max(c.seen-3, 0)
	if i := bytes.Index(b[from:], []byte("\r\n\r\n")); i >= 0 {
		return from + i + 4, 0
	}
	for i := from; ; i++ {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			break
		}
		if i += n; i == 0 || b[i-1] != '\r' {
			return 0, 400
		}
	}
	c.seen = len(b)
	if len(b) >= MaxHead {
		if bytes.IndexByte(b, '\n') < 0 {
			return 0, 414
		}
		return 0, 431
	}
	return 0, 0
}

// answerQuickly appends the answer, if it is in memory.
func (c *conn) answerQuickly() bool {
	f, p := c.s.forms.Load(), c.persistence()
	code := 200
	switch c.route.class {
	case small:
		form := f.small[p]
		if c.head.head {
			form = form[:len(form)-len(Small)]
		}
		c.out = append(c.out, form...)
	case hundred:
		c.out = append(c.out, f.hundred[p]...)
		if !c.head.head {
			c.tail = 100 << 10
		}
	case status:
		code = int(c.route.n)
		c.out = f.appendStatus(c.out, code, p, c.head.head)
	case other:
		code = 404
		c.out = f.appendStatus(c.out, code, p, c.head.head)
	default:
		return false
	}
	c.count.got(c.route.class)
	c.batch = append(c.batch, answer{c.route.class, code})
	c.closing = p == ends
	return true
}

func (c *conn) persistence() persistence {
	switch {
	case c.head.close:
		return ends
	case c.head.old:
		return kept
	}
	return stays
}

// refuse answers what is no request; the connection ends with it.
func (c *conn) refuse(code int) {
	c.count.got(refused)
	c.out = c.s.forms.Load().appendStatus(c.out, code, ends, false)
	c.batch = append(c.batch, answer{refused, code})
	c.closing = true
}

// flush writes out and tail and counts their answers; it is false if the client does not take them.
func (c *conn) flush(fd uintptr) bool {
	if len(c.out) == 0 {
		return true
	}
	head, sent := c.out, int64(0) // sent of the tail
	for len(head) > 0 || sent < c.tail {
		piece := pieceOf(sent, c.tail)
		n := writeNow(fd, head, piece)
		c.count.bytesOut.Add(int64(n))
		full := n < len(head)+len(piece)
		skip := min(n, len(head))
		head, sent = head[skip:], sent+int64(n-skip)
		if full { // or the client is gone: the blocking call tells
			if len(head) > 0 && !c.put(head) || !c.putBody(sent, c.tail) {
				return false
			}
			break
		}
	}
	c.sent()
	return true
}

// writeNow writes what the socket takes at once.
func writeNow(fd uintptr, head, piece []byte) int {
	var n uintptr
	var errno syscall.Errno
	switch {
	case len(piece) == 0:
		n, _, errno = syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&head[0])), uintptr(len(head)))
	case len(head) == 0:
		n, _, errno = syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&piece[0])), uintptr(len(piece)))
	default:
		vector := [2]syscall.Iovec{{Base: &head[0]}, {Base: &piece[0]}}
		vector[0].SetLen(len(head))
		vector[1].SetLen(len(piece))
		n, _, errno = syscall.RawSyscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&vector)), uintptr(len(vector)))
	}
	if errno != 0 {
		return 0
	}
	return int(n)
}

// put writes b through the blocking call.
func (c *conn) put(b []byte) bool {
	n, err := c.tcp.Write(b)
	c.count.bytesOut.Add(int64(n))
	return err == nil
}

// putBody writes the bytes of a body from one position to another through the blocking call.
func (c *conn) putBody(from, to int64) bool {
	for from < to {
		piece := pieceOf(from, to)
		if !c.put(piece) {
			return false
		}
		from += int64(len(piece))
	}
	return true
}

// sent counts the answers that were written.
func (c *conn) sent() {
	for _, a := range c.batch {
		c.count.sent(a.class, a.code)
		c.refused = c.refused || a.class == refused
	}
	c.out, c.tail, c.batch = c.out[:0], 0, c.batch[:0]
}
