package origin

import (
	"net"
	"sync"
	"sync/atomic"
)

// tracked is a connection that net/http serves, with its counters.
type tracked struct {
	net.Conn
	count  *shard
	before []byte // was read already
	closed atomic.Bool
}

func (t *tracked) Read(b []byte) (int, error) {
	if len(t.before) > 0 {
		n := copy(b, t.before)
		t.before = t.before[n:]
		return n, nil
	}
	n, err := t.Conn.Read(b)
	t.count.bytesIn.Add(int64(n))
	return n, err
}

func (t *tracked) Write(b []byte) (int, error) {
	n, err := t.Conn.Write(b)
	t.count.bytesOut.Add(int64(n))
	return n, err
}

func (t *tracked) Close() error {
	if !t.closed.Swap(true) {
		t.count.left()
	}
	return t.Conn.Close()
}

// counting is a listener whose connections are tracked.
type counting struct {
	net.Listener
	l *listener
}

func (c *counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tracked{Conn: conn, count: c.l.counters.pick()}, nil
}

// handoff is a listener for connections that were accepted elsewhere.
type handoff struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newHandoff(addr net.Addr) *handoff {
	return &handoff{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// hand gives the connection to who accepts, or closes it.
func (h *handoff) hand(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		c.Close()
	}
}

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func (h *handoff) Addr() net.Addr { return h.addr }
