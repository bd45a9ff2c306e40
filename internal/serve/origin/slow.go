package origin

import (
	"net"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// chunk is the size of the pieces of /chunked/N, in bytes.
const chunk = 16 << 10

// slow answers one request through blocking calls.
func (c *conn) slow() step {
	length, code, ok := c.body()
	if !ok {
		return over
	}
	if code != 0 {
		c.refuse(code)
		return c.end()
	}
	if c.answerQuickly() {
		return c.end()
	}
	c.count.got(c.route.class)
	f, p := c.s.forms.Load(), c.persistence()
	n := c.route.n
	switch c.route.class {
	case upload:
		answer := strconv.AppendInt(nil, length, 10)
		answer = append(answer, '\n')
		c.out = f.appendHead(c.out, 200, int64(len(answer)), p)
		if !c.head.head {
			c.out = append(c.out, answer...)
		}
	case delayed:
		if !c.s.sleep(time.Duration(n)) {
			return over
		}
		form := c.s.forms.Load().small[p]
		if c.head.head {
			form = form[:len(form)-len(Small)]
		}
		c.out = append(c.out, form...)
	case sized:
		c.out = f.appendHead(c.out, 200, n, p)
		if !c.head.head && !c.stream(n) {
			return over
		}
	case pieces:
		if !c.chunks(f, p, n) {
			return over
		}
	case resets:
		c.out = f.appendHead(c.out, 200, n+chunk, p)
		if c.stream(n) {
			reset(c.tcp)
		}
		return over
	case stalled:
		c.stall()
		return over
	}
	c.batch = append(c.batch, answer{c.route.class, 200})
	c.closing = c.head.close
	return c.end()
}

// end writes what is left of the answer.
func (c *conn) end() step {
	if len(c.out) > 0 && !c.put(c.out) || !c.putBody(0, c.tail) {
		return over
	}
	c.sent()
	if c.closing {
		return over
	}
	return wait
}

// body reads a request's body to its end. code is the status of a refusal; ok is false if the client left.
func (c *conn) body() (length int64, code int, ok bool) {
	if c.head.framing == none {
		return 0, 0, true
	}
	if c.head.expects && c.r == c.w && !c.put([]byte("HTTP/1.1 100 Continue\r\n\r\n")) {
		return 0, 0, false
	}
	c.head.target = nil // it lies in the buffer
	var d dechunker
	left := c.head.length
	for {
		if c.head.framing == counted {
			n := min(left, int64(c.w-c.r))
			c.r += int(n)
			if left -= n; left == 0 {
				return c.head.length, 0, true
			}
		} else {
			n, err := d.feed(c.in[c.r:c.w])
			c.r += n
			if err != nil {
				return 0, 400, true
			}
			if d.done {
				return d.total, 0, true
			}
		}
		if len(c.in) < MaxHead {
			c.in = append(c.in, make([]byte, MaxHead-len(c.in))...)
		}
		if c.fill() != nil {
			return 0, 0, false
		}
	}
}

// stream writes out, then n bytes of body.
func (c *conn) stream(n int64) bool {
	first := pieceOf(0, n)
	parts := net.Buffers{c.out, first}
	written, err := parts.WriteTo(c.tcp)
	c.count.bytesOut.Add(written)
	c.out = c.out[:0]
	return err == nil && c.putBody(int64(len(first)), n)
}

// chunks writes the answer of /chunked/N: for HTTP/1.0, which has no chunks, up to the end of the connection.
func (c *conn) chunks(f *forms, p persistence, n int64) bool {
	if c.head.old {
		c.head.close = true
		c.out = f.appendHead(c.out, 200, untilClose, ends)
		return c.head.head || c.stream(n)
	}
	c.out = f.appendHead(c.out, 200, inChunks, p)
	if c.head.head {
		return true
	}
	for n > 0 {
		size := min(n, chunk)
		c.out = strconv.AppendInt(c.out, size, 16)
		c.out = append(c.out, "\r\n"...)
		c.out = append(c.out, block[:size]...)
		c.out = append(c.out, "\r\n"...)
		if !c.put(c.out) {
			return false
		}
		c.out = c.out[:0]
		n -= size
	}
	c.out = append(c.out, "0\r\n\r\n"...)
	return true
}

// reset makes the closing of a connection a TCP reset, after what was written has arrived (at most a second): a reset may
// overtake it otherwise.
func reset(tcp *net.TCPConn) {
	raw, err := tcp.SyscallConn()
	for range 1000 {
		var queued int32
		if err == nil {
			err = raw.Control(func(fd uintptr) {
				syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&queued)))
			})
		}
		if err != nil || queued == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	tcp.SetLinger(0)
}

// stall reads until the client leaves or the server stops.
func (c *conn) stall() {
	c.state.Store(stuck)
	c.tcp.SetReadDeadline(time.Time{}) // of the idle timeout
	if c.s.draining.Load() {
		return
	}
	for {
		c.r, c.w = 0, 0
		if c.fill() != nil {
			return
		}
	}
}
