package load

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inOneSecond is a rate of n requests in one second.
func inOneSecond(n float64) []RateStep { return []RateStep{{n, n, time.Second}} }

func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, rate := range [][]RateStep{nil, inOneSecond(100)} {
		s, ready := begin(t, Spec{Address: l.Addr().String(), Connections: 3, Reuse: true, Rate: rate})
		if ready.Connections != 0 || ready.Verified != 0 || !strings.Contains(ready.Problem, "connect: connection refused") ||
			ready.Shortage != "" || !strings.Contains(ready.Refused, "3 of 3 connections were not opened") {
			t.Errorf("ready: %+v", ready)
		}
		time.Sleep(1100 * time.Millisecond)
		c := s.stop().Counts
		if c.Errors[Connect] != c.Due || c.Due == 0 || c.Sent != 0 || rate != nil && c.Due != 100 {
			t.Errorf("outcomes: %s", s.outcomes())
		}
		// A closed loop that cannot connect pauses: 3 connections, 10 ms.
		if rate == nil && c.Due > 3*(1100/10+10)*2 {
			t.Errorf("a closed loop tried to connect %d times in 1.1 s", c.Due)
		}
	}
}

// TestReuseRetried: a request whose idle connection turns out to be closed is repeated once if it may be.
func TestReuseRetried(t *testing.T) {
	for method, want := range map[string]struct{ ok, reset, retried int64 }{
		"GET":  {ok: 5, retried: 5},
		"POST": {ok: 2, reset: 3}, // the request after a reset one has a new connection
	} {
		address, _ := raw(t, once(func(c *net.TCPConn, next func() bool) { next() }))
		s, _ := begin(t, Spec{Address: address, Method: method, Connections: 1, Reuse: true, Rate: []RateStep{{50, 50, 100 * time.Millisecond}}})
		time.Sleep(150 * time.Millisecond)
		c := s.stop().Counts
		if c.OK != want.ok || c.Errors[Reset] != want.reset || c.ReuseRetried != want.retried || c.Due != 5 || c.Sent != c.Due+c.ReuseRetried {
			t.Errorf("%s: retried %d, sent %d, outcomes %s", method, c.ReuseRetried, c.Sent, s.outcomes())
		}
	}
}

// TestIdleClose: connections that the server closed while they were idle are dialled again, and nothing fails.
func TestIdleClose(t *testing.T) {
	t.Parallel()
	for _, wire := range wires(t) {
		var closing atomic.Bool
		closed := make(chan bool, 8)
		server := play(t, "127.0.0.1:0", nil, 0, func(x *scene) {
			first := x.number < 3
			go func() {
				for first && !closing.Load() {
					time.Sleep(time.Millisecond)
				}
				if first {
					x.tcp.CloseWrite()
				}
			}()
			for x.request() {
				x.say(ok)
			}
			closed <- true // by the load
		})
		s := dial(t)
		if err := s.client.Configure(t.Context(), Spec{Address: server.address, Method: "POST", Connections: 3, Reuse: true, Wire: wire,
			Rate: []RateStep{{300, 300, 10 * time.Millisecond}}}, nil); err != nil {
			t.Fatal(err)
		}
		closing.Store(true)
		for range 3 {
			<-closed
		}
		if err := s.client.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		if c := s.stop().Counts; c.OK != 3 || c.Due != 3 || c.Opened != 6 || server.accepted.Load() != 6 {
			t.Errorf("%s: opened %d, accepted %d, outcomes %s", wire, c.Opened, server.accepted.Load(), s.outcomes())
		}
	}
}

func TestDropped(t *testing.T) {
	address, _ := raw(t, once(func(c *net.TCPConn, next func() bool) {
		for next() {
		}
	}))
	s, _ := begin(t, Spec{Address: address, Connections: 2, Reuse: true, MaxWaiting: 3, Timeout: 400 * time.Millisecond, Rate: []RateStep{{200, 200, 100 * time.Millisecond}}})
	time.Sleep(150 * time.Millisecond)
	// Every connection answers once, one of them already has. Of the 20 that are due 1 is answered, 2 are in flight and 3 wait;
	// so 14 are dropped. When those in flight have timed out two that waited are answered on new connections, and the third
	// finds no answer on one of them.
	c := s.stop().Counts
	if c.Due != 20 || c.Errors[Dropped] != 14 || c.OK != 3 || c.Errors[Timeout] != 3 {
		t.Errorf("outcomes %s", s.outcomes())
	}
}

// TestDrain: what is in flight at the end is answered within its timeout or has timed out.
func TestDrain(t *testing.T) {
	var slow = make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PUT" {
			<-slow
		}
		time.Sleep(200 * time.Millisecond)
	}))
	defer srv.Close()
	defer close(slow)
	s, _ := begin(t, Spec{Address: srv.Listener.Addr().String(), Connections: 10, Reuse: true, Timeout: 5 * time.Second, Rate: []RateStep{{100, 100, 100 * time.Millisecond}}})
	time.Sleep(120 * time.Millisecond)
	if c := s.stop().Counts; c.OK != 10 || c.Due != 10 {
		t.Errorf("slow: outcomes %s", s.outcomes())
	}
	s, _ = begin(t, Spec{Address: srv.Listener.Addr().String(), Method: "PUT", Connections: 5, Reuse: true, Timeout: 300 * time.Millisecond, Rate: []RateStep{{100, 100, 100 * time.Millisecond}}})
	time.Sleep(120 * time.Millisecond)
	begin := time.Now()
	if c := s.stop().Counts; c.Errors[Timeout] != 10 || c.Due != 10 {
		t.Errorf("stalled: outcomes %s", s.outcomes())
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("the drain took %v", took)
	}
}

// TestTargetDies: whatever happens to the target, every request that was due has one outcome, and the load goes on when
// the target is back.
func TestTargetDies(t *testing.T) {
	serve := func(address string) (*http.Server, string) {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * time.Millisecond)
			io.WriteString(w, "ok")
		})}
		go srv.Serve(l)
		return srv, l.Addr().String()
	}
	srv, address := serve("127.0.0.1:0")
	s, _ := begin(t, Spec{Address: address, Connections: 20, Reuse: true, Rate: inOneSecond(1000)})
	time.Sleep(300 * time.Millisecond)
	srv.Close()
	time.Sleep(300 * time.Millisecond)
	if err := s.client.Control(t.Context(), Control{"back", 0}, nil); err != nil {
		t.Error(err)
	}
	srv, _ = serve(address)
	defer srv.Close()
	time.Sleep(600 * time.Millisecond)
	c := s.stop().Counts
	if c.Due != 1000 || c.Errors[Connect] == 0 || c.OK == 0 || c.Errors[Timeout] != 0 {
		t.Errorf("outcomes %s", s.outcomes())
	}
	for _, sec := range s.seconds {
		if sec.Phase == "back" && sec.Counts.Due > 0 && sec.Counts.OK == 0 {
			t.Errorf("second %d, after the target came back: %+v", sec.Second, sec.Counts)
		}
	}
}

// TestDescriptors: a generator without descriptors does not blame the target.
func TestDescriptors(t *testing.T) {
	srv, _ := counting(t, false)
	s, _ := begin(t, Spec{Address: srv.Listener.Addr().String(), Connections: 4, Rate: inOneSecond(200)})
	time.Sleep(200 * time.Millisecond)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	time.Sleep(600 * time.Millisecond)
	c := s.stop().Counts
	if c.Due != 200 || c.Generator < 20 || c.OK < 20 || c.OK+c.Generator != c.Due {
		t.Errorf("outcomes %s", s.outcomes())
	}
	if !strings.Contains(strings.Join(s.examples, "\n"), "generator: too many open files") {
		t.Errorf("examples: %q", s.examples)
	}
}

func TestSecondStop(t *testing.T) {
	address, _ := raw(t, once(func(c *net.TCPConn, next func() bool) {
		for next() {
		}
	}))
	s, _ := begin(t, Spec{Address: address, Connections: 1, Reuse: true, Timeout: time.Hour})
	go s.client.Stop(t.Context())
	time.Sleep(50 * time.Millisecond)
	c := s.stop().Counts
	if c.Due != 1 || c.Errors[Timeout] != 1 {
		t.Errorf("outcomes %s", s.outcomes())
	}
}

func TestUpload(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if n != 5<<20 || err != nil || r.Host != "example.org" || r.Header.Get("X-Test") != "a" {
			w.WriteHeader(400)
		}
	}))
	defer srv.Close()
	s, ready := begin(t, Spec{Address: srv.Listener.Addr().String(), Host: "example.org", Headers: []Header{{"X-Test", "a"}}, Method: "POST",
		Body: make([]byte, 5<<20), Connections: 2, Reuse: true})
	time.Sleep(300 * time.Millisecond)
	c := s.stop().Counts
	if ready.Verified != 1 || c.OK != c.Due || c.OK == 0 || c.Opened != 2 {
		t.Errorf("%+v, opened %d, outcomes %s", ready, c.Opened, s.outcomes())
	}
}
