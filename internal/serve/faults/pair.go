package faults

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// linger is how long the end of a connection in order waits for its peers to end it too. What they still send is read and
// thrown away: closing with unread bytes would reset the connection, and might lose what was written before.
const linger = 2 * time.Second

// A pair is a client's connection and the one that goes on from it.
type pair struct {
	number         uint64
	relay          *relay
	began          time.Time
	client, server *net.TCPConn  // server is nil if the client has not come that far
	open           atomic.Int32  // directions that have not ended
	done           chan struct{} // closed when nothing passes any more
	stopping       sync.Once
	killing        sync.Once
	up, down       line
	acted          sync.Map              // by fault: it acted on this pair
	lost           atomic.Pointer[fault] // that swallowed what came
	moved          atomic.Int64          // bytes
	seen           int64                 // of them at a stop's last look
}

// A line is a direction of a pair.
type line struct {
	ended atomic.Int64 // when the end of the stream was read, in nanoseconds since the pair began; 0: not yet
}

// stop lets nothing pass any more. It is false if that was so already.
func (p *pair) stop() (first bool) {
	p.stopping.Do(func() {
		first = true
		close(p.done)
	})
	return first
}

// kill closes both connections.
func (p *pair) kill() {
	p.stop()
	p.killing.Do(func() { p.both((*net.TCPConn).Close) })
}

// reset closes both connections with a TCP reset.
func (p *pair) reset() {
	p.stop()
	p.both(func(c *net.TCPConn) error { return c.SetLinger(0) })
	p.kill()
}

// finish ends both connections in order.
func (p *pair) finish() {
	p.stop()
	p.both((*net.TCPConn).CloseWrite)
	time.AfterFunc(linger, p.kill)
}

func (p *pair) both(f func(*net.TCPConn) error) {
	f(p.client)
	if p.server != nil {
		f(p.server)
	}
}

// lose notes that a fault swallowed what came: without it nothing sensible can follow.
func (p *pair) lose(f *fault) {
	p.lost.CompareAndSwap(nil, f)
	select {
	case <-f.over: // whoever ended it may have looked before
		p.afterLoss(f)
	default:
	}
}

// afterLoss resets the pair if the fault, which is over, swallowed something.
func (p *pair) afterLoss(f *fault) {
	if p.lost.Load() == f {
		f.reset(p, 0)
	}
}

// drainFor is how long a reset waits at most until what was passed on before it has left.
const drainFor = 200 * time.Millisecond

// unsent waits until the system has sent what was written, and returns how many bytes it has not: it would forget them with
// a reset. Waiting for them to be acknowledged would take the peer's delay of acknowledgements.
func (p *pair) unsent(c *net.TCPConn) int {
	left := 0
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	for end := time.Now().Add(drainFor); ; {
		err := raw.Control(func(fd uintptr) { left, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQNSD) })
		if err != nil || left == 0 || time.Now().After(end) {
			return left
		}
		select {
		case <-time.After(100 * time.Microsecond):
		case <-p.done:
			return left
		}
	}
}

// A source is what a link reads from. It has no more methods than Read, so that io.Copy goes through the link.
type source struct {
	p    *pair
	c    *net.TCPConn
	line *line
}

func (s source) Read(b []byte) (int, error) {
	n, err := s.c.Read(b)
	if err == io.EOF {
		s.line.ended.CompareAndSwap(0, max(1, int64(time.Since(s.p.began))))
	}
	if err != nil && err != io.EOF {
		if errors.Is(err, syscall.ECONNRESET) {
			s.p.reset()
		}
		s.p.kill()
		return n, io.EOF // the link ends; why is known here only
	}
	return n, err
}

// A sink is what a link writes to. Writing never fails: after the connection has ended the link must still be drained, or
// what stands before it would stay blocked.
type sink struct {
	p      *pair
	c      *net.TCPConn
	count  *atomic.Int64
	closed atomic.Bool
}

func (s *sink) Write(b []byte) (int, error) {
	if s.p.isDone() {
		return len(b), nil
	}
	n, err := s.c.Write(b)
	s.count.Add(int64(n))
	s.p.relay.chunks.Add(1)
	s.p.moved.Add(int64(n))
	if err != nil && !s.p.isDone() {
		s.p.reset()
	}
	return len(b), nil
}

func (p *pair) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Close is called at the end of the link.
func (s *sink) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.c.CloseWrite()
	if s.p.open.Add(-1) == 0 {
		s.p.kill()
		s.p.relay.ended(s.p)
	}
	return nil
}
