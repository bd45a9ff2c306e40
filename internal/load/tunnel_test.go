package load

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// forwarding is a forward proxy under a script: what it does with a CONNECT, after which it passes bytes on.
func forwarding(piece int, answer string) func(*scene) {
	return func(x *scene) {
		if !x.head() {
			return
		}
		to, err := net.Dial("tcp", strings.Fields(x.server.requests()[x.asked])[1])
		if err != nil {
			return
		}
		defer to.Close()
		x.piece = piece
		x.say(answer)
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			io.Copy(to, x.in)
			to.(*net.TCPConn).CloseWrite()
		})
		io.Copy(x.Conn, to)
		x.tcp.CloseWrite()
	}
}

// threeThrough is a load of three requests through a proxy.
func threeThrough(proxy, address, scheme string) Spec {
	return Spec{Address: address, Proxy: proxy, Scheme: scheme, Connections: 1, Reuse: true, Timeout: 20 * time.Second, Rate: []RateStep{{300, 300, 10 * time.Millisecond}}}
}

// TestAbsoluteForm: what goes over http is asked of a forward proxy itself.
func TestAbsoluteForm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, path, want string }{
		{"GET", "/a?b", "GET http://origin.test:81/a?b HTTP/1.1\r\nHost: origin.test:81\r\n\r\n"},
		{"OPTIONS", "*", "OPTIONS http://origin.test:81 HTTP/1.1\r\nHost: origin.test:81\r\n\r\n"},
	} {
		proxy := play(t, "127.0.0.1:0", nil, 0, every(ok))
		spec := threeThrough(proxy.address, "origin.test:81", "http")
		spec.Method, spec.Path = tt.method, tt.path
		s, _ := begin(t, spec)
		time.Sleep(10 * time.Millisecond)
		if c := s.stop().Counts; c.OK != 3 || c.Opened != 1 {
			t.Errorf("opened %d, outcomes %s", c.Opened, s.outcomes())
		}
		for _, r := range proxy.requests() {
			if r != tt.want {
				t.Errorf("the proxy saw %q, want %q", r, tt.want)
			}
		}
	}
}

// TestConnect: https goes through a tunnel, whatever a proxy says around its 200.
func TestConnect(t *testing.T) {
	for name, answer := range map[string]string{
		"plain":         "HTTP/1.1 200 Connection established\r\n\r\n",
		"1.0":           "HTTP/1.0 200 OK\r\n\r\n",
		"with a length": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nVia: x\r\n\r\n",
		"another 2xx":   "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
		"after interim": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
	} {
		for _, p := range passages {
			t.Run(name+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				origin := play(t, "127.0.0.1:0", certified(t), 0, every(ok))
				proxy := play(t, "127.0.0.1:0", nil, 0, forwarding(p.piece, answer))
				spec := threeThrough(proxy.address, origin.address, "https")
				spec.Wire = p.wire
				s, _ := begin(t, spec)
				time.Sleep(10 * time.Millisecond)
				if c := s.stop().Counts; c.OK != 3 || c.Opened != 1 || c.Handshakes != 1 || c.Sent != 3 {
					t.Errorf("opened %d, handshakes %d, outcomes %s", c.Opened, c.Handshakes, s.outcomes())
				}
				if r, want := proxy.requests(), "CONNECT "+origin.address+" HTTP/1.1\r\nHost: "+origin.address+"\r\n\r\n"; len(r) != 1 || r[0] != want {
					t.Errorf("the proxy saw %q", r)
				}
				if r := origin.requests(); len(r) != 4 || r[0] != "GET / HTTP/1.1\r\nHost: "+origin.address+"\r\n\r\n" {
					t.Errorf("the origin saw %q", r)
				}
			})
		}
	}
}

// TestNoConnect: what a proxy does not connect has the class connect, with the reason.
func TestNoConnect(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script func(*scene)
		says   string
		limit  time.Duration
	}{
		{name: "403", script: single("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", (*scene).silent), says: "connect: the proxy answered CONNECT with status 403"},
		{name: "407", script: single("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", nil), says: "connect: the proxy answered CONNECT with status 407"},
		{name: "garbage", script: single("SSH-2.0-OpenSSH\r\n\r\n", (*scene).silent), says: "connect: the proxy's answer to CONNECT: status line"},
		{name: "without end", script: single("HTTP/1.1 200 OK\r\nA: "+strings.Repeat("a", 2*maxHead), (*scene).silent), says: "connect: the proxy's answer to CONNECT is longer than 65536 bytes"},
		{name: "silent", script: (*scene).silent, says: "connect: no answer to CONNECT within 50ms", limit: 50 * time.Millisecond},
		{name: "half an answer", script: single("HTTP/1.1 200 OK\r\n", (*scene).silent), says: "connect: no answer to CONNECT within 50ms", limit: 50 * time.Millisecond},
		{name: "closed", script: single("", nil), says: "connect: the proxy closed the connection instead of answering CONNECT"},
		{name: "closed within the answer", script: single("HTTP/1.1 200", nil), says: "connect: the proxy closed the connection instead of answering CONNECT"},
		{name: "reset", script: single("", (*scene).reset), says: "connect: connection reset by peer"},
		{name: "no TLS behind it", script: single("HTTP/1.1 200 OK\r\n\r\n", func(x *scene) { x.say(ok) }), says: "tls: "},
	} {
		for _, wire := range wires(t) {
			t.Run(tt.name+"/"+wire, func(t *testing.T) {
				t.Parallel()
				proxy := play(t, "127.0.0.1:0", nil, 0, tt.script)
				spec := threeThrough(proxy.address, "origin.test:443", "https")
				spec.DialTimeout, spec.Wire = tt.limit, wire
				s, ready := begin(t, spec)
				if !strings.HasPrefix(ready.Refused, "1 of 1 connections were not opened: "+tt.says) || ready.Problem == "" {
					t.Errorf("ready: %+v", ready)
				}
				time.Sleep(10 * time.Millisecond)
				class, _, _ := strings.Cut(tt.says, ":")
				if c := s.stop().Counts; c.Due != 3 || c.Errors[class] != 3 || c.Sent != 0 {
					t.Errorf("outcomes %s", s.outcomes())
				}
				if !strings.Contains(strings.Join(s.examples, "\n"), tt.says) {
					t.Errorf("examples %q, want one with %q", s.examples, tt.says)
				}
			})
		}
	}
}

// TestRealProxies: through squid, which keeps connections, and tinyproxy, which closes them.
func TestRealProxies(t *testing.T) {
	origin := play(t, "127.0.0.1:0", nil, 0, every(ok))
	secured := play(t, "127.0.0.1:0", certified(t), 0, every(ok))
	for name, start := range map[string]func(*testing.T) *program{"squid": squid, "tinyproxy": tinyproxy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := start(t)
			refusing, _ := freeAddress(t)
			for _, tt := range []struct {
				scheme, address string
				problem         string
				class           string
			}{
				{scheme: "http", address: origin.address},
				{scheme: "https", address: secured.address},
				{scheme: "http", address: refusing, problem: "status 50"},
				{scheme: "https", address: refusing, problem: "connect: the proxy answered CONNECT with status 50", class: Connect},
			} {
				spec := threeThrough(proxy.address, tt.address, tt.scheme)
				spec.Connections, spec.Expect.Bytes = 2, size(2)
				s, ready := begin(t, spec)
				time.Sleep(10 * time.Millisecond)
				c := s.stop().Counts
				switch {
				case tt.problem == "" && (c.OK != 3 || ready.Verified != 1):
					t.Errorf("%s: %+v, outcomes %s", tt.scheme, ready, s.outcomes())
				case tt.problem != "" && (!strings.HasPrefix(ready.Problem, tt.problem) || c.OK != 0 || c.Errors[tt.class] != 3 && tt.class != ""):
					t.Errorf("%s to nobody: %+v, outcomes %s", tt.scheme, ready, s.outcomes())
				}
				if name == "squid" && tt.problem == "" && c.Opened != 2 {
					t.Errorf("%s: %d connections", tt.scheme, c.Opened)
				}
			}
		})
	}
}
