package faults

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
)

// A connection that lives and a new one both end after exactly so many bytes, however they came.
func TestEndsAfterBytes(t *testing.T) {
	for _, kind := range []string{"reset-after", "limit-data"} {
		for _, size := range []int64{1, 1000, 100_000} {
			t.Run(kind, func(t *testing.T) {
				servetest.CheckLeaks(t)
				address, told := telling(t)
				s := start(t, address, "web")
				living := dial(t, s, "web")
				ask(t, living)
				control(t, s, of(kind, ResetAfter{size}))
				for _, c := range []*net.TCPConn{living, dial(t, s, "web")} {
					io.WriteString(c, "flood")
					got, err := io.ReadAll(c)
					if kind == "limit-data" && err != nil || kind == "reset-after" && !errors.Is(err, syscall.ECONNRESET) || int64(len(got)) != size {
						t.Errorf("after %d: got %d, %v", size, len(got), err)
					}
					c.Close()
					if s := ended(t, told); kind == "reset-after" && !errors.Is(s.err, syscall.ECONNRESET) {
						t.Errorf("after %d: the upstream saw %v", size, s.err)
					}
				}
				e := remove(t, s, kind)
				if got, of := e.Measured(); got != float64(size) || of != 2 || e.Resets+e.Closed != 2 || e.Connections != 2 {
					t.Errorf("after %d: %+v", size, e)
				}
				if r := s.Sample().Relays["web"]; r.Resets != e.Resets || r.Closed != e.Closed || kind == "limit-data" && r.Closed != 2 {
					t.Errorf("the relay counted %+v", r)
				}
			})
		}
	}
}

func TestEndsAfterBytesThatAreSent(t *testing.T) {
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	c := of("reset-after", ResetAfter{7})
	c.Add.Stream = Upstream
	control(t, s, c)
	client := dial(t, s, "web")
	ask(t, client)
	io.WriteString(client, "hello")
	got := ended(t, told)
	if string(got.data) != "hellohe" || !errors.Is(got.err, syscall.ECONNRESET) {
		t.Errorf("the upstream saw %q, %v", got.data, got.err)
	}
	if _, err := io.ReadAll(client); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client saw %v", err)
	}
}

// With 0 idle connections are reset at once, and new ones do not reach the upstream.
func TestResetAtOnce(t *testing.T) {
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	idle := dial(t, s, "web")
	ask(t, idle)
	control(t, s, of("reset-after", ResetAfter{}))
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the idle client saw %v", err)
	}
	if s := ended(t, told); !errors.Is(s.err, syscall.ECONNRESET) {
		t.Errorf("its upstream saw %v", s.err)
	}
	for range 3 {
		if c, err := net.Dial("tcp", s.Addresses()["web"]); err == nil { // the reset may come while it still connects
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("a new client saw %v", err)
			}
			c.Close()
		}
	}
	servetest.Eventually(t, "all are counted", func() bool { return s.Sample().Relays["web"].Resets == 4 })
	if e := remove(t, s, "reset-after"); e.Resets != 4 || e.Connections != 4 || e.Of != 4 || e.Sum != 0 {
		t.Errorf("counted %+v", e)
	}
	ask(t, dial(t, s, "web"))
	if len(told) > 0 {
		t.Error("a connection that was reset when it came reached the upstream")
	}
}

// A timeout is of the connection: what comes does not delay it, and nothing passes until then.
func TestTimeoutFromOutside(t *testing.T) {
	const after = 60 * time.Millisecond
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	living := dial(t, s, "web")
	ask(t, living)
	began := time.Now()
	c := of("timeout", Timeout{after})
	c.Add.Stream = Both
	control(t, s, c)
	for i, c := range []*net.TCPConn{living, dial(t, s, "web")} {
		stop := make(chan struct{})
		chatted := make(chan struct{})
		go func() {
			defer close(chatted)
			for {
				select {
				case <-stop:
					return
				case <-time.After(after / 10):
					c.Write([]byte("x"))
				}
			}
		}()
		got, err := io.ReadAll(c)
		close(stop)
		<-chatted
		if len(got) > 0 || err != nil || time.Since(began) < after {
			t.Errorf("connection %d ended after %v with %q, %v", i, time.Since(began), got, err)
		}
		c.Close()
	}
	a, b := ended(t, told), ended(t, told)
	if a.err != nil || b.err != nil || string(a.data)+string(b.data) != "hello" {
		t.Errorf("the upstream saw %q, %v and %q, %v", a.data, a.err, b.data, b.err)
	}
	e := remove(t, s, "timeout")
	if got, of := e.Measured(); got < 60 || of != 2 || e.Closed != 2 || e.Connections != 2 {
		t.Errorf("measured %g of %d: %+v", got, of, e)
	}
}
