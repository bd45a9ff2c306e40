package load

import (
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A script answers one connection: it reads requests by next, which gives false at the end of the connection.
type script func(c *net.TCPConn, next func() bool)

// raw serves every connection by the script.
func raw(t *testing.T, f script) (address string, accepted *atomic.Int64) {
	t.Helper()
	s := play(t, "127.0.0.1:0", nil, 0, func(x *scene) { f(x.tcp, x.head) })
	return s.address, &s.accepted
}

// answers gives the same bytes to every request.
func answers(s string) script {
	return func(c *net.TCPConn, next func() bool) {
		for next() {
			io.WriteString(c, s)
		}
	}
}

// once answers the first request (the verification) well and then does something else.
func once(then script) script {
	return func(c *net.TCPConn, next func() bool) {
		if next() {
			io.WriteString(c, ok)
			then(c, next)
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func reset(c *net.TCPConn) { c.SetLinger(0); c.Close() }

// TestOutcomes: five requests, each of which meets the same answer, are counted five times in one class.
func TestOutcomes(t *testing.T) {
	const n = 5
	for _, tt := range []struct {
		name   string
		script script
		change func(*Spec)
		errors map[string]int64
		non2xx map[int]int64
		ok     int64
		says   string // part of an example
	}{
		{name: "ok", script: answers(ok), ok: n},
		{name: "204", script: answers("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"), ok: n},
		{name: "304", script: answers("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), non2xx: map[int]int64{304: n}},
		{name: "304 expected", script: answers("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), change: func(s *Spec) { s.Expect.Status = 304 }, ok: n},
		{name: "HEAD", script: answers("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), change: func(s *Spec) { s.Method = "HEAD" }, ok: n},
		{name: "interim", script: answers("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n" + ok), ok: n},
		{name: "chunked with trailers", script: answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\no\r\n1\r\nk\r\n0\r\nA: b\r\n\r\n"), ok: n},
		{name: "connection close", script: func(c *net.TCPConn, next func() bool) {
			if next() {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
			}
		}, ok: n},
		{name: "until close", script: func(c *net.TCPConn, next func() bool) {
			if next() {
				io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\nok")
			}
		}, ok: n},
		{name: "until close, bytes expected", script: func(c *net.TCPConn, next func() bool) {
			if next() {
				io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nok")
			}
		}, change: func(s *Spec) { s.Expect.Bytes = size(2) }, ok: n},
		{name: "byte by byte", script: func(c *net.TCPConn, next func() bool) {
			for next() {
				for _, b := range []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n") {
					c.Write([]byte{b})
				}
			}
		}, ok: n},
		{name: "503", script: answers("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), non2xx: map[int]int64{503: n}, says: ""},
		{name: "other status", script: answers(ok), change: func(s *Spec) { s.Expect.Status = 201 }, errors: map[string]int64{Mismatch: n}, says: "status 200 instead of 201"},
		{name: "other size", script: answers(ok), change: func(s *Spec) { s.Expect.Bytes = size(3) }, errors: map[string]int64{Mismatch: n}, says: "2 bytes instead of 3"},
		{name: "other body", script: answers(ok), change: func(s *Spec) { s.Expect.SHA256 = strings.Repeat("0", 64) }, errors: map[string]int64{Mismatch: n}, says: "sha256 2689"},
		{name: "no HTTP", script: answers("SSH-2.0-OpenSSH_9.2\r\n\r\n"), errors: map[string]int64{Protocol: n}, says: "status line"},
		{name: "more than the response", script: answers(ok + "x"), errors: map[string]int64{Protocol: n}, says: "1 bytes follow"},
		{name: "HEAD with a body", script: answers(ok), change: func(s *Spec) { s.Method = "HEAD" }, errors: map[string]int64{Protocol: n}, says: "2 bytes follow"},
		{name: "closed before an answer", script: func(c *net.TCPConn, next func() bool) { next() }, errors: map[string]int64{Reset: n}, says: "closed before an answer"},
		{name: "closed within an answer", script: func(c *net.TCPConn, next func() bool) {
			if next() {
				io.WriteString(c, ok[:len(ok)-1])
			}
		}, errors: map[string]int64{Reset: n}, says: "closed within an answer"},
		{name: "reset", script: func(c *net.TCPConn, next func() bool) {
			if next() {
				reset(c)
			}
		}, errors: map[string]int64{Reset: n}, says: "connection reset"},
		{name: "no answer", script: func(c *net.TCPConn, next func() bool) {
			for next() {
			}
		}, change: func(s *Spec) { s.Timeout = 50 * time.Millisecond }, errors: map[string]int64{Timeout: n}, says: "no answer within 50ms"},
		{name: "stops within an answer", script: answers(ok[:len(ok)-1]), change: func(s *Spec) { s.Timeout = 50 * time.Millisecond }, errors: map[string]int64{Timeout: n}},
		{name: "no TLS", script: func(c *net.TCPConn, next func() bool) { io.WriteString(c, ok) }, change: func(s *Spec) { s.Scheme = "https" }, errors: map[string]int64{TLS: n}},
		{name: "TLS without an end", script: func(c *net.TCPConn, next func() bool) { io.Copy(io.Discard, c) }, change: func(s *Spec) {
			s.Scheme, s.DialTimeout = "https", 50*time.Millisecond
		}, errors: map[string]int64{TLS: n}, says: "no handshake within 50ms"},
		{name: "a large answer", script: answers(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 3<<20, strings.Repeat("x", 3<<20))), ok: n},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address, _ := raw(t, tt.script)
			spec := Spec{Address: address, Connections: 1, Reuse: true, Timeout: 5 * time.Second, Rate: []RateStep{{50, 50, n * time.Second / 50}}}
			if tt.change != nil {
				tt.change(&spec)
			}
			s, ready := begin(t, spec)
			if (ready.Verified == 1) != (tt.ok > 0) || (ready.Problem == "") != (tt.ok > 0) {
				t.Errorf("ready: %+v", ready)
			}
			time.Sleep(150 * time.Millisecond)
			c := s.stop().Counts
			if c.Due != n || c.OK != tt.ok || c.Generator != 0 || !equal(c.Errors, tt.errors) || !equal(c.Non2xx, tt.non2xx) {
				t.Errorf("outcomes: %s", s.outcomes())
			}
			if !strings.Contains(strings.Join(s.examples, "\n"), tt.says) {
				t.Errorf("examples %q, want one with %q", s.examples, tt.says)
			}
		})
	}
}

// equal takes nil for an empty map.
func equal[K comparable](a, b map[K]int64) bool {
	return len(a) == 0 && len(b) == 0 || maps.Equal(a, b)
}
