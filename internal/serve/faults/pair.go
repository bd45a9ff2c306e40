package faults

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// A pair is a client's connection and the one that goes on from it.
type pair struct {
	number         uint64
	relay          *relay
	client, server *net.TCPConn
	open           atomic.Int32  // directions that have not ended
	dead           chan struct{} // closed by kill
	once           sync.Once
	moved          atomic.Int64 // bytes
	seen           int64        // of them at a stop's last look
}

// kill closes both connections.
func (p *pair) kill() {
	p.once.Do(func() {
		close(p.dead)
		p.client.Close()
		p.server.Close()
	})
}

// reset closes both connections with a TCP reset.
func (p *pair) reset() {
	p.client.SetLinger(0)
	p.server.SetLinger(0)
	p.kill()
}

// A source is what a link reads from. It has no more methods than Read, so that io.Copy goes through the link.
type source struct {
	p *pair
	c *net.TCPConn
}

func (s source) Read(b []byte) (int, error) {
	n, err := s.c.Read(b)
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
	select {
	case <-s.p.dead:
		return len(b), nil
	default:
	}
	n, err := s.c.Write(b)
	s.count.Add(int64(n))
	s.p.moved.Add(int64(n))
	if err != nil {
		s.p.reset()
	}
	return len(b), nil
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
