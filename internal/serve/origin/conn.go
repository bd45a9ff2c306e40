package origin

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Sizes of the buffers that a connection begins with, in bytes; the one for requests grows up to MaxHead.
const (
	firstIn  = 4 << 10
	firstOut = 1 << 10
)

// A conn is an HTTP/1.1 connection. Its goroutine answers what can be answered from memory while it waits for the
// socket (quick.go), and takes everything else, one request at a time, through blocking reads and writes (slow.go).
type conn struct {
	s     *Server
	count *shard
	tcp   *net.TCPConn
	raw   syscall.RawConn
	*buffers
	r, w  int // in[r:w] was not consumed yet
	seen  int // of it: holds no end of a head
	fresh bool
	state atomic.Int32 // phase

	head  head
	route route

	tail    int64    // bytes of a body that follow out
	batch   []answer // that are in out and tail
	closing bool     // nothing follows out and tail
	refused bool     // the last answer was a refusal
}

type answer struct {
	class class
	code  int
}

// What a connection is doing, as a graceful stop sees it.
const (
	idle  int32 = iota // between requests: may be closed
	busy               // has begun to read a request, or to answer it
	stuck              // in /stall: may be closed
)

// A step is how it goes on.
type step int

const (
	wait  step = iota // for more bytes
	write             // out and tail, then go on
	slow              // answer head and route through blocking calls
	http2             // the connection preface was read: the buffer is for net/http
	over
)

type buffers struct{ in, out []byte }

var pool = sync.Pool{New: func() any { return &buffers{make([]byte, firstIn), make([]byte, 0, firstOut)} }}

// serve owns the connection until it ends.
func (s *Server) serve(tcp *net.TCPConn, l *listener) {
	count := l.counters.pick()
	raw, err := tcp.SyscallConn()
	if err != nil {
		tcp.Close()
		count.left()
		return
	}
	c := &conn{s: s, count: count, tcp: tcp, raw: raw, buffers: pool.Get().(*buffers), fresh: true}
	if !s.add(c) {
		tcp.Close()
		count.left()
		return
	}
	next := wait
	for next != over && next != http2 {
		if next = c.quick(); next == slow {
			next = c.slow()
		}
	}
	if next == http2 {
		s.remove(c)
		l.http2.hand(&tracked{Conn: tcp, count: count, before: bytes.Clone(c.in[c.r:c.w])})
	} else {
		defer s.remove(c)
		if c.refused || c.closing && c.r < c.w {
			c.linger()
		}
		tcp.Close()
		count.left()
	}
	if len(c.in) == firstIn && cap(c.out) <= MaxHead {
		c.out = c.out[:0]
		pool.Put(c.buffers)
	}
}

// room makes place for at least one more byte behind w; it is false where the buffer has reached its bound.
func (c *conn) room() bool {
	if c.r > 0 {
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	}
	if c.w == len(c.in) {
		if len(c.in) >= MaxHead {
			return false
		}
		c.in = append(c.in, make([]byte, len(c.in))...)
	}
	return true
}

// fill waits for bytes, through the blocking calls.
func (c *conn) fill() error {
	if !c.room() {
		return bytes.ErrTooLarge
	}
	n, err := c.tcp.Read(c.in[c.w:])
	c.w += n
	c.count.bytesIn.Add(int64(n))
	if n > 0 {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && c.state.Load() == busy {
		c.tcp.SetReadDeadline(time.Time{}) // a stop or the idle timeout took it for idle
		return nil
	}
	return err
}

// linger lets the client read the last answer although it has sent more than was read: closing would reset the connection.
func (c *conn) linger() {
	c.tcp.CloseWrite()
	c.tcp.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	n, _ := io.CopyN(io.Discard, c.tcp, 1<<20)
	c.count.bytesIn.Add(n)
}

// poke ends the connection if it is between requests; a graceful stop calls it.
func (c *conn) poke() {
	if c.state.Load() != busy {
		c.tcp.SetReadDeadline(time.Unix(1, 0))
	}
}
