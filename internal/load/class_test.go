package load

import (
	"crypto/tls"
	"io"
	"strings"
	"testing"
	"time"
)

// misbehaving answers each path in its own way.
func misbehaving(x *scene) {
	for x.request() {
		switch strings.Fields(x.server.requests()[x.asked])[1] {
		case "/0":
			x.say(ok)
		case "/1":
			x.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nok")
		case "/2":
			x.say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nokk") // the wrong size
		case "/3":
			x.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nko") // the wrong hash
		case "/4":
			x.say("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok") // the wrong 2xx
		case "/5":
			x.say("garbage\r\n\r\n")
		case "/6":
			x.reset()
		case "/7":
			x.silent()
			return
		}
	}
}

// TestClassesOfAnswers: one request each meets a server that answers as it should and in every way in which it should not.
func TestClassesOfAnswers(t *testing.T) {
	for _, p := range passages {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			// A connection for each, because those that fail are slow to come back. The verification ends with the first failure.
			spec := Spec{SpreadPath: "/{0..7}", Connections: 8, Reuse: true, Timeout: 2 * time.Second, Rate: []RateStep{{800, 800, 10 * time.Millisecond}},
				Expect: Expect{Status: 200, Bytes: size(2), SHA256: "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"}}
			playBy(t, p, &spec, misbehaving)
			s, ready := begin(t, spec)
			if !strings.HasPrefix(ready.Problem, "/") {
				t.Errorf("ready: %+v", ready)
			}
			time.Sleep(10 * time.Millisecond)
			c := s.stop().Counts
			if c.Due != 8 || c.OK != 1 || c.Generator != 0 || !equal(c.Non2xx, map[int]int64{503: 1}) ||
				!equal(c.Errors, map[string]int64{Mismatch: 3, Protocol: 1, Reset: 1, Timeout: 1}) {
				t.Errorf("outcomes %s", s.outcomes())
			}
			for _, want := range []string{"mismatch: 3 bytes instead of 2", "mismatch: sha256 ", "mismatch: status 201 instead of 200", "protocol: status line", "reset: ", "timeout: "} {
				if !strings.Contains(strings.Join(s.examples, "\n"), want) {
					t.Errorf("no example with %q in %q", want, s.examples)
				}
			}
		})
	}
}

// TestClassesOfConnections: of four requests, each with a new connection, one meets what keeps it from being sent.
func TestClassesOfConnections(t *testing.T) {
	secure := certified(t)
	// opening is what the third connection of a server meets instead of what the others do.
	opening := func(then, instead func(*scene)) func(*scene) {
		return func(x *scene) {
			if x.number == 2 {
				instead(x)
				return
			}
			then(x)
		}
	}
	overTLS := func(x *scene) {
		x.Conn = tls.Server(x.tcp, secure)
		x.in.Reset(x.Conn)
		every(ok)(x)
	}
	for _, tt := range []struct {
		name   string
		script func(*scene)
		change func(t *testing.T, s *Spec)
		class  string
		sent   int64
	}{
		{"connect", opening(forwarding(0, "HTTP/1.1 200 OK\r\n\r\n"), single("HTTP/1.1 502 Bad Gateway\r\n\r\n", nil)), func(t *testing.T, s *Spec) {
			s.Scheme, s.Proxy, s.Address = "https", s.Address, play(t, "127.0.0.1:0", secure, 0, every(ok)).address
		}, Connect, 3},
		{"tls", opening(overTLS, func(x *scene) { io.WriteString(x.tcp, "no TLS") }), func(_ *testing.T, s *Spec) { s.Scheme = "https" }, TLS, 3},
		{"generator", every(ok), func(_ *testing.T, s *Spec) {
			s.Sources = []string{"127.0.1.1", "127.0.1.2", "192.0.2.1", "127.0.1.3", "127.0.1.4"}
		}, generatorClass, 3},
		{"reset", opening(every(ok), func(x *scene) { x.request() }), nil, Reset, 4},
	} {
		for _, wire := range wires(t) {
			t.Run(tt.name+"/"+wire, func(t *testing.T) {
				t.Parallel()
				server := play(t, "127.0.0.1:0", nil, 0, tt.script)
				spec := Spec{Address: server.address, Connections: 1, Wire: wire, Timeout: 20 * time.Second, Rate: []RateStep{{400, 400, 10 * time.Millisecond}}}
				if tt.change != nil {
					tt.change(t, &spec)
				}
				s, ready := begin(t, spec)
				if ready.Verified != 1 {
					t.Errorf("ready: %+v", ready)
				}
				time.Sleep(10 * time.Millisecond)
				c := s.stop().Counts
				got := map[string]int64{}
				if c.Generator > 0 {
					got[generatorClass] = c.Generator
				}
				for class, n := range c.Errors {
					got[class] = n
				}
				if c.Due != 4 || c.OK != 3 || c.Sent != tt.sent || !equal(got, map[string]int64{tt.class: 1}) {
					t.Errorf("sent %d, outcomes %s", c.Sent, s.outcomes())
				}
			})
		}
	}
}

// TestOneDropped: of three requests for one connection one is sent, one waits and one is dropped.
func TestOneDropped(t *testing.T) {
	for _, p := range passages {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			g := newGate(2)
			spec := Spec{Connections: 1, Reuse: true, MaxWaiting: 1, Timeout: 20 * time.Second, Rate: []RateStep{{300, 300, 10 * time.Millisecond}}}
			playBy(t, p, &spec, g.keeper())
			s, _ := begin(t, spec)
			time.Sleep(10 * time.Millisecond)
			if err := s.client.Control(t.Context(), Control{Phase: "after", At: time.Hour}, nil); err != nil { // all are due
				t.Fatal(err)
			}
			g.remove()
			if c := s.stop().Counts; c.Due != 3 || c.OK != 2 || c.Sent != 2 || !equal(c.Errors, map[string]int64{Dropped: 1}) {
				t.Errorf("outcomes %s", s.outcomes())
			}
		})
	}
}
