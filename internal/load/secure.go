package load

import (
	"crypto/tls"
	"errors"
	"io"
	"iter"
	"net"
	"time"
)

// A secure is TLS on a connection. crypto/tls reads from what arrived; in a handshake it waits for more in a coroutine on the
// loop's own thread, after it a read that finds nothing ends with errAgain, which leaves a tls.Conn usable. What it writes
// goes into the connection's buffer.
type secure struct {
	c    *conn
	tls  *tls.Conn
	in   []byte // arrived, not yet read
	end  error  // after in
	over bool   // the end was read

	shaking bool
	err     error // of the handshake
	size    shakeSize
	records records
	resume  func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
}

func newSecure(c *conn) *secure {
	s := &secure{c: c}
	s.tls = tls.Client(s, c.p.job.tls)
	return s
}

// handshake begins it.
func (s *secure) handshake() {
	s.shaking = true
	s.resume, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		s.yield = yield
		s.err = s.tls.Handshake()
	})
	s.shake()
}

// shake goes on with the handshake as far as what arrived allows.
func (s *secure) shake() {
	c := s.c
	if _, more := s.resume(); more {
		c.flush()
		return
	}
	s.shaking = false
	p := c.p
	state := s.tls.ConnectionState()
	if want := p.job.alpn; s.err == nil && want == "h2" && state.NegotiatedProtocol != want {
		s.err = errors.New("the server does not speak HTTP/2: it did not choose h2 by ALPN")
	}
	if s.err != nil {
		c.flush() // an alert
		c.dialFailed(TLS, s.err.Error())
		return
	}
	p.touch()
	p.sink.secured(p.now, p.now-c.began, &state, s.size)
	gen := c.gen
	c.speak()
	if c.gen == gen {
		s.pump() // what came with the end of the handshake
	}
}

// feed takes bytes that arrived.
func (s *secure) feed(b []byte) {
	s.in = b
	if s.shaking {
		s.shake()
		return
	}
	s.pump()
}

// pump reads what can be read.
func (s *secure) pump() {
	c, p := s.c, s.c.p
	gen := c.gen
	for {
		n, err := s.tls.Read(p.plain)
		if n > 0 {
			c.feed(p.plain[:n])
			if c.gen != gen {
				return
			}
		}
		if err != nil {
			if errors.Is(err, errAgain) {
				return
			}
			s.over = true
			if s.end == nil && !errors.Is(err, io.EOF) { // not the connection's end, but an alert or what is no TLS
				c.flush() // an alert of our own
				c.fail(TLS, "%v", err)
				return
			}
			c.ended(err)
			return
		}
	}
}

// ended hears that nothing more arrives.
func (s *secure) ended(err error) {
	s.end = err
	if s.shaking {
		s.shake()
		return
	}
	s.pump()
}

// write encrypts.
func (s *secure) write(b []byte) {
	if _, err := s.tls.Write(b); err != nil {
		s.c.broken = err
	}
}

// abandon ends a handshake that is not over.
func (s *secure) abandon() {
	if s.shaking {
		s.shaking = false
		s.stop()
	}
}

// errAgain is temporary and a timeout, so that crypto/tls does not take it for the end of the connection.
var errAgain net.Error = again{}

type again struct{}

func (again) Error() string   { return "nothing to read yet" }
func (again) Temporary() bool { return true }
func (again) Timeout() bool   { return true }

// Read is for crypto/tls.
func (s *secure) Read(b []byte) (int, error) {
	for len(s.in) == 0 {
		switch {
		case s.end != nil:
			return 0, s.end
		case !s.shaking:
			return 0, errAgain
		case !s.yield(struct{}{}):
			return 0, net.ErrClosed
		}
	}
	if s.shaking {
		b = b[:s.records.next(s.in, len(b))]
		s.size.in += len(b)
	}
	n := copy(b, s.in)
	s.in = s.in[n:]
	return n, nil
}

// Write is for crypto/tls.
func (s *secure) Write(b []byte) (int, error) {
	if s.shaking {
		s.size.out += len(b)
	}
	s.c.out = append(s.c.out, b...)
	return len(b), nil
}

func (s *secure) Close() error                     { return nil } // the wire closes
func (s *secure) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *secure) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *secure) SetDeadline(time.Time) error      { return nil }
func (s *secure) SetReadDeadline(time.Time) error  { return nil }
func (s *secure) SetWriteDeadline(time.Time) error { return nil }
