package load

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/load/uring"
	"github.com/planrun/planrun/internal/serve/servetest"
)

// An exchange is what a server does with requests, and what is to become of them.
type exchange struct {
	name   string
	script func(*scene)
	change func(*Spec)

	ok, retried int64 // retried -1 is any number
	errors      map[string]int64
	non2xx      map[int]int64
	opened      int64  // connections
	asked       int    // requests that the server saw
	says        string // part of an example
	atOnce      bool   // only if the answer comes at once
}

// every answers all requests of a connection alike.
func every(answer string) func(*scene) {
	return func(x *scene) {
		for x.request() {
			x.say(answer)
		}
	}
}

// single answers one request of a connection and then does something else, such as closing it.
func single(answer string, then func(*scene)) func(*scene) {
	return func(x *scene) {
		if x.request() {
			x.say(answer)
			if then != nil {
				then(x)
			}
		}
	}
}

func head(s *Spec) { s.Method = "HEAD" }
func post(s *Spec) { s.Method = "POST" }
func status(n int) func(*Spec) {
	return func(s *Spec) { s.Expect.Status = n }
}

// impatient has a connection for each request, because a request that waits until the end of the drain is not sent.
func impatient(s *Spec) { s.Timeout, s.Connections = 100*time.Millisecond, 4 }

// exchanges are those of three requests that are due one after another, and of the verification before them.
var exchanges = []exchange{
	{name: "length", script: every(ok), ok: 3, opened: 1, asked: 4},
	{name: "no body", script: every("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), ok: 3, opened: 1, asked: 4},
	{name: "HEAD with a length", script: every("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), change: head, ok: 3, opened: 1, asked: 4},
	{name: "HEAD with chunks", script: every("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), change: head, ok: 3, opened: 1, asked: 4},
	{name: "HEAD without either", script: every("HTTP/1.1 200 OK\r\n\r\n"), change: head, ok: 3, opened: 1, asked: 4},
	{name: "interim answers", script: every("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 5\r\n\r\n" +
		"HTTP/1.1 103 Early Hints\r\n\r\n" + ok), ok: 3, opened: 1, asked: 4},
	{name: "interim answers without end", script: every(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", maxInterim+1) + ok),
		errors: map[string]int64{Protocol: 3}, opened: 4, asked: 4, says: "more than 16 interim"},
	{name: "an interim answer and the end", script: single("HTTP/1.1 103 Early Hints\r\n\r\n", nil),
		errors: map[string]int64{Reset: 3}, opened: 4, asked: 4, says: "closed within an answer"},
	{name: "101", script: every("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), errors: map[string]int64{Protocol: 3}, opened: 4, asked: 4, says: "101"},
	{name: "204", script: every("HTTP/1.1 204 No Content\r\n\r\n"), ok: 3, opened: 1, asked: 4},
	{name: "204 with a length", script: every("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"), ok: 3, opened: 1, asked: 4},
	{name: "304 with a length", script: every("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), non2xx: map[int]int64{304: 3}, opened: 1, asked: 4},
	{name: "304 with chunks, expected", script: every("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"), change: status(304), ok: 3, opened: 1, asked: 4},
	{name: "chunks", script: every("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=\"y;\"\r\no\r\n001 ; a\r\nk\r\n0;z\r\nA: b\r\nC: d\r\n\r\n"), change: func(s *Spec) {
		s.Expect.SHA256 = "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df" // of ok
	}, ok: 3, opened: 1, asked: 4},
	{name: "chunks that end early", script: single("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n", nil),
		errors: map[string]int64{Reset: 3}, opened: 4, asked: 4, says: "closed within an answer"},
	{name: "a longer body than said", script: single(ok+"surplus", (*scene).rest), errors: map[string]int64{Protocol: 3}, opened: 4, asked: 4, says: "7 bytes follow", atOnce: true},
	{name: "two answers", script: single(ok+ok, (*scene).rest), errors: map[string]int64{Protocol: 3}, opened: 4, asked: 4, says: "40 bytes follow", atOnce: true},
	{name: "a body of 204", script: single("HTTP/1.1 204 No Content\r\n\r\nx", (*scene).rest), errors: map[string]int64{Protocol: 3}, opened: 4, asked: 4, says: "1 bytes follow", atOnce: true},
	{name: "a shorter body than said", script: single("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", nil), errors: map[string]int64{Reset: 3}, opened: 4, asked: 4, says: "closed within an answer"},
	{name: "a shorter body than said, and no end", script: single("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", (*scene).rest), change: impatient,
		errors: map[string]int64{Timeout: 3}, opened: 4, asked: 4, says: "the answer began and did not end within 100ms"},
	{name: "Connection: close", script: single("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", nil), ok: 3, opened: 4, asked: 4},
	{name: "Connection: close, and the client has to", script: single("HTTP/1.1 200 OK\r\nConnection: foo , Close\r\nContent-Length: 2\r\n\r\nok", (*scene).rest), ok: 3, opened: 4, asked: 4},
	{name: "HTTP/1.0", script: single("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", (*scene).rest), ok: 3, opened: 4, asked: 4},
	{name: "HTTP/1.0 kept alive", script: every("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"), ok: 3, opened: 1, asked: 4},
	{name: "a body up to the end", script: single("HTTP/1.1 200 OK\r\n\r\nok", nil), change: func(s *Spec) { s.Expect.Bytes = size(2) }, ok: 3, opened: 4, asked: 4},
	{name: "a body up to the end of HTTP/1.0", script: single("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nok", nil), change: func(s *Spec) { s.Expect.Bytes = size(2) }, ok: 3, opened: 4, asked: 4},
	{name: "a body up to a reset", script: single("HTTP/1.1 200 OK\r\n\r\nok", (*scene).reset), errors: map[string]int64{Reset: 3}, opened: 4, asked: 4, says: "connection reset"},
	{name: "reset", script: single("", (*scene).reset), errors: map[string]int64{Reset: 3}, opened: 4, asked: 4, says: "connection reset"},
	{name: "reset in the header", script: single("HTTP/1.1 200 OK\r\nContent-", (*scene).reset), errors: map[string]int64{Reset: 3}, opened: 4, asked: 4, says: "connection reset"},
	{name: "reset in the body", script: single("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", (*scene).reset), errors: map[string]int64{Reset: 3}, opened: 4, asked: 4, says: "connection reset"},
	{name: "something that is not HTTP, and no end", script: single("SSH-2.0-OpenSSH\r\n", (*scene).rest), errors: map[string]int64{Protocol: 3}, opened: 4, asked: 4, says: "status line \"SSH-2.0-OpenSSH\""},
	{name: "no answer", script: single("", nil), errors: map[string]int64{Reset: 3}, opened: 4, asked: 4, says: "closed before an answer"},
	{name: "an idle connection is closed under a GET", script: single(ok, func(x *scene) { x.request() }), ok: 3, retried: 3, opened: 4, asked: 7},
	{name: "an idle connection is closed under a POST", script: single(ok, func(x *scene) { x.request() }), change: post,
		ok: 1, errors: map[string]int64{Reset: 2}, opened: 2, asked: 4, says: "closed before an answer"},
	{name: "closed within an answer is not repeated", script: single(ok, func(x *scene) {
		if x.request() {
			x.say("HTTP/1.1 200")
		}
	}), ok: 1, errors: map[string]int64{Reset: 2}, opened: 2, asked: 4, says: "closed within an answer"},
	{name: "a request is repeated once", script: func(x *scene) {
		if x.number == 0 && x.request() {
			x.say(ok)
		}
		x.request()
	}, errors: map[string]int64{Reset: 3}, retried: 1, opened: 4, asked: 5, says: "closed before an answer"},
	{name: "closed while idle or just before", script: single(ok, nil), ok: 3, retried: -1, opened: 4, asked: 4},
	{name: "no reuse", script: every(ok), change: func(s *Spec) { s.Reuse = false }, ok: 3, opened: 4, asked: 4},
	{name: "a POST without a body", script: every(ok), change: post, ok: 3, opened: 1, asked: 4},
}

// A passage is a way for the bytes between load and server.
type passage struct {
	name   string
	secure bool
	piece  int
	wire   string
}

// passages have each wire with and without TLS, and with answers whole and in pieces of a byte. Where io_uring is not allowed
// goroutines take its place.
var passages = []passage{
	{"epoll", false, 0, "epoll"}, {kernelRing + " byte by byte", false, 1, kernelRing},
	{"TLS on " + kernelRing, true, 0, kernelRing}, {"TLS on epoll byte by byte", true, 1, "epoll"},
	{"goroutines", false, 0, "goroutines"}, {"TLS on goroutines byte by byte", true, 1, "goroutines"},
}

var kernelRing = func() string {
	if uring.Probe() != nil {
		return "goroutines"
	}
	return "io_uring"
}()

// playBy starts a scripted server that a load reaches by the passage.
func playBy(t *testing.T, p passage, spec *Spec, script func(*scene)) *scriptedServer {
	t.Helper()
	var secure *tls.Config
	if p.secure {
		secure, spec.Scheme = certified(t), "https"
	}
	s := play(t, "127.0.0.1:0", secure, p.piece, script)
	spec.Address, spec.Wire = s.address, p.wire
	return s
}

func TestExchanges(t *testing.T) {
	for _, p := range passages {
		for _, e := range exchanges {
			if e.atOnce && p.piece > 0 {
				continue
			}
			t.Run(p.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				e.run(t, p)
			})
		}
	}
}

func (e *exchange) run(t *testing.T, p passage) {
	spec := Spec{Connections: 1, Reuse: true, Timeout: 20 * time.Second, Path: "/a?b", Rate: []RateStep{{300, 300, 10 * time.Millisecond}}}
	if e.change != nil {
		e.change(&spec)
	}
	server := playBy(t, p, &spec, e.script)
	s, ready := begin(t, spec)
	if e.ok > 0 && (ready.Problem != "" || ready.Verified != 1) {
		t.Errorf("ready: %+v", ready)
	}
	time.Sleep(10 * time.Millisecond)
	c := s.stop().Counts
	if c.Due != 3 || c.OK != e.ok || c.Generator != 0 || !equal(c.Errors, e.errors) || !equal(c.Non2xx, e.non2xx) {
		t.Errorf("outcomes: %s", s.outcomes())
	}
	servetest.Eventually(t, fmt.Sprint("the server accepts ", c.Opened), func() bool { return server.accepted.Load() >= c.Opened })
	if c.Opened != e.opened || server.accepted.Load() != e.opened || e.retried >= 0 && c.ReuseRetried != e.retried || c.Sent != c.Due+c.ReuseRetried {
		t.Errorf("opened %d (the server accepted %d), retried %d, sent %d", c.Opened, server.accepted.Load(), c.ReuseRetried, c.Sent)
	}
	if !strings.Contains(strings.Join(s.examples, "\n"), e.says) {
		t.Errorf("examples %q, want one with %q", s.examples, e.says)
	}
	j, err := newJob(spec)
	if err != nil {
		t.Fatal(err)
	}
	seen := server.requests()
	for _, r := range seen {
		if want := string(j.forms[0].whole); r != want {
			t.Errorf("the server saw %q, want %q", r, want)
		}
	}
	if len(seen) != e.asked {
		t.Errorf("the server saw %s, want %d", fmt.Sprint(len(seen), " requests"), e.asked)
	}
}
