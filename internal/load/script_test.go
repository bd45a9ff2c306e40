package load

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/planrun/planrun/internal/serve/certificate"
)

// A scriptedServer hands every connection to a function, and keeps what that read.
type scriptedServer struct {
	address  string
	accepted atomic.Int64

	mu   sync.Mutex
	seen []string // requests, each with as much of its body as was read
}

// A scene is one connection of a scripted server, where the script plays.
type scene struct {
	net.Conn // TLS, if the server speaks it
	tcp      *net.TCPConn
	in       *bufio.Reader
	server   *scriptedServer
	number   int // of the connection, from 0
	asked    int // which of the server's requests was read here last
	piece    int // how many bytes are written at once, by say and below TLS; 0 is all
}

// A dribble is a connection that is written a byte at a time.
type dribble struct{ net.Conn }

func (d dribble) Write(b []byte) (int, error) {
	for i := range b {
		if _, err := d.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}

// play starts a scripted server on an address of this machine, over TLS if secure is not nil. At the end of the test its
// connections end too.
func play(t *testing.T, address string, secure *tls.Config, piece int, script func(*scene)) *scriptedServer {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return playOn(t, l, secure, piece, script)
}

// playOn is play on a listener, which it closes.
func playOn(t *testing.T, l net.Listener, secure *tls.Config, piece int, script func(*scene)) *scriptedServer {
	s := &scriptedServer{address: l.Addr().String()}
	var wg sync.WaitGroup
	ending := make(chan struct{})
	t.Cleanup(func() { close(ending); l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			x := &scene{Conn: c, tcp: c.(*net.TCPConn), server: s, number: int(s.accepted.Add(1)) - 1, piece: piece}
			if piece > 0 {
				x.Conn = dribble{c}
			}
			if secure != nil {
				x.Conn = tls.Server(x.Conn, secure)
			}
			x.in = bufio.NewReader(x.Conn)
			wg.Go(func() {
				defer x.Close()
				over := make(chan struct{})
				defer close(over)
				go func() {
					select {
					case <-ending:
						c.Close()
					case <-over:
					}
				}()
				script(x)
			})
		}
	})
	return s
}

// head reads a request without its body; false at the end of the connection.
func (x *scene) head() bool {
	var head strings.Builder
	for {
		line, err := x.in.ReadString('\n')
		head.WriteString(line)
		if err != nil {
			return false
		}
		if line == "\r\n" {
			x.asked = x.server.saw(head.String())
			return true
		}
	}
}

// request reads a request with its body.
func (x *scene) request() bool { return x.head() && x.body() }

// body reads the body of the request whose head was read last.
func (x *scene) body() bool {
	_, after, found := strings.Cut(x.server.requests()[x.asked], "Content-Length: ")
	if !found {
		return true
	}
	digits, _, _ := strings.Cut(after, "\r\n")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return false
	}
	b := make([]byte, n)
	got, err := io.ReadFull(x.in, b)
	x.server.add(x.asked, string(b[:got]))
	return err == nil
}

// rest reads all that still comes, until the other side closes the connection.
func (x *scene) rest() {
	b, _ := io.ReadAll(x.in)
	x.server.add(x.asked, string(b))
}

// say writes an answer, or a part of it.
func (x *scene) say(text string) {
	n := x.piece
	if n == 0 {
		n = len(text)
	}
	for len(text) > 0 {
		n = min(n, len(text))
		if _, err := io.WriteString(x.Conn, text[:n]); err != nil {
			return
		}
		text = text[n:]
	}
}

// reset closes the connection with a RST.
func (x *scene) reset() { reset(x.tcp) }

func (s *scriptedServer) saw(text string) (index int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, text)
	return len(s.seen) - 1
}

func (s *scriptedServer) add(index int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[index] += text
}

// requests gives what was read so far.
func (s *scriptedServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

// certified is how the tests' servers speak TLS.
func certified(t *testing.T) *tls.Config {
	t.Helper()
	cert, err := certificateOnce()
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}}
}

var certificateOnce = sync.OnceValues(func() (tls.Certificate, error) { return certificate.Load(certificate.Spec{}) })
