package listen

import (
	"net"
	"sync/atomic"
)

// Counts are those of the connections that Track was given.
type Counts struct {
	Opened, Live      atomic.Int64
	BytesIn, BytesOut atomic.Int64 // as read from and written to them
}

// Track counts the connection and what goes over it, until it is closed.
func (c *Counts) Track(conn net.Conn) net.Conn {
	c.Opened.Add(1)
	c.Live.Add(1)
	return &tracked{Conn: conn, counts: c}
}

// Tracked is the listener l whose connections are tracked.
func (c *Counts) Tracked(l net.Listener) net.Listener { return &tracking{l, c} }

type tracked struct {
	net.Conn
	counts *Counts
	closed atomic.Bool
}

func (t *tracked) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.counts.BytesIn.Add(int64(n))
	return n, err
}

func (t *tracked) Write(b []byte) (int, error) {
	n, err := t.Conn.Write(b)
	t.counts.BytesOut.Add(int64(n))
	return n, err
}

func (t *tracked) Close() error {
	if !t.closed.Swap(true) {
		t.counts.Live.Add(-1)
	}
	return t.Conn.Close()
}

type tracking struct {
	net.Listener
	counts *Counts
}

func (t *tracking) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return t.counts.Track(c), nil
}
