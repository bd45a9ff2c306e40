package load

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestRecords: what is handed out ends with the header or the record, however it arrives and is asked for.
func TestRecords(t *testing.T) {
	stream := []byte("\x16\x03\x03\x00\x02ab" + "\x14\x03\x03\x00\x00" + "\x17\x03\x03\x01\x01" + string(make([]byte, 257)))
	ends := map[int]bool{5: true, 7: true, 12: true, 17: true, len(stream): true}
	for _, step := range []struct{ arrive, want int }{{len(stream), 1000}, {1, 1000}, {3, 1000}, {len(stream), 1}, {4, 2}} {
		var r records
		at := 0
		for at < len(stream) {
			in := stream[at:min(len(stream), at+step.arrive)]
			n := r.next(in, step.want)
			if n < 1 || n > len(in) || n > step.want {
				t.Fatalf("%+v: %d of %d at %d", step, n, len(in), at)
			}
			for k := at + 1; k < at+n; k++ {
				if ends[k] {
					t.Fatalf("%+v: from %d to %d in one piece", step, at, at+n)
				}
			}
			at += n
		}
	}
}

// A metered connection of a server counts the bytes of TLS in both directions. It reads no more than a record at a time, so
// that what it has read when the handshake is over is the handshake.
type metered struct {
	net.Conn
	unread  []byte
	in, out int
	last    int // bytes of the last record that was written
}

func (m *metered) Read(b []byte) (int, error) {
	if len(m.unread) == 0 {
		record := make([]byte, 5)
		if _, err := io.ReadFull(m.Conn, record); err != nil {
			return 0, err
		}
		record = append(record, make([]byte, binary.BigEndian.Uint16(record[3:]))...)
		if _, err := io.ReadFull(m.Conn, record[5:]); err != nil {
			return 0, err
		}
		m.unread = record
		m.in += len(record)
	}
	n := copy(b, m.unread)
	m.unread = m.unread[n:]
	return n, nil
}

func (m *metered) Write(b []byte) (int, error) {
	m.out += len(b)
	for rest := b; len(rest) >= 5; rest = rest[min(len(rest), m.last):] {
		m.last = 5 + int(binary.BigEndian.Uint16(rest[3:]))
	}
	return m.Conn.Write(b)
}

// meter is a server that answers a request on each connection and says what the handshakes took. With tickets it sends one
// along with its Finished in TLS 1.3, which does not count.
func meter(t *testing.T, c *tls.Config, tickets bool) (address string, full, resumed func() shakeSize) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	sizes := map[bool]shakeSize{}
	serve := func(tcp net.Conn) {
		defer tcp.Close()
		m := &metered{Conn: tcp}
		s := tls.Server(m, c)
		if err := s.Handshake(); err != nil {
			t.Errorf("the server's handshake: %v", err)
			return
		}
		state := s.ConnectionState()
		out := m.out
		if state.Version == tls.VersionTLS13 && tickets {
			out -= m.last
		}
		mu.Lock()
		sum := sizes[state.DidResume]
		sizes[state.DidResume] = shakeSize{in: sum.in + out, out: sum.out + m.in}
		mu.Unlock()
		if _, err := http.ReadRequest(bufio.NewReader(s)); err == nil {
			_, _ = io.WriteString(s, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}
		_, _ = io.Copy(io.Discard, s)
	}
	wg.Go(func() {
		for {
			tcp, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { serve(tcp) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	size := func(resumed bool) func() shakeSize {
		return func() shakeSize { mu.Lock(); defer mu.Unlock(); return sizes[resumed] }
	}
	return l.Addr().String(), size(false), size(true)
}

// TestHandshakeBytes: the bytes that the load counts of its handshakes are those that the server counts.
func TestHandshakeBytes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server func(*tls.Config)
		change func(*Spec)
	}{
		{name: "1.3", change: func(*Spec) {}, server: func(*tls.Config) {}},
		{name: "1.3, without tickets", change: func(s *Spec) { s.Resume = true }, server: func(c *tls.Config) { c.SessionTicketsDisabled = true }},
		{name: "1.3, resumed", change: func(s *Spec) { s.Resume = true }, server: func(*tls.Config) {}},
		{name: "1.3, the server asks for another group", change: groups("X25519", "P-384"), server: func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.CurveP384} }},
		{name: "1.2", change: func(*Spec) {}, server: func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }},
		{name: "1.2, resumed", change: func(s *Spec) { s.Resume = true }, server: func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }},
	} {
		for _, wire := range wires(t) {
			t.Run(tt.name+"/"+wire, func(t *testing.T) {
				t.Parallel()
				secure := certified(t)
				tt.server(secure)
				var spec Spec
				tt.change(&spec)
				address, full, resumed := meter(t, secure, spec.Resume && !secure.SessionTicketsDisabled)
				spec = fewHandshakes(address)
				spec.Wire = wire
				tt.change(&spec)
				s, _ := begin(t, spec)
				time.Sleep(10 * time.Millisecond)
				c := s.stop().Counts
				if c.OK != 5 || c.Handshakes != 6 {
					t.Fatalf("outcomes %s, handshakes %d", s.outcomes(), c.Handshakes)
				}
				if got := (shakeSize{int(c.FullIn), int(c.FullOut)}); got != full() || c.Handshakes > c.Resumed && got.in == 0 {
					t.Errorf("full handshakes took %+v, the server's count is %+v", got, full())
				}
				if got := (shakeSize{int(c.ResumedIn), int(c.ResumedOut)}); got != resumed() || c.Resumed > 0 && got.in == 0 {
					t.Errorf("resumed handshakes took %+v, the server's count is %+v", got, resumed())
				}
			})
		}
	}
}
