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

// Under a stall nothing passes, not even an end; afterwards all of it does.
func TestStallFromOutside(t *testing.T) {
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	c := dial(t, s, "web")
	ask(t, c)
	stall := of("stall", Stall{})
	stall.Add.Stream = Both
	control(t, s, stall)
	fresh := dial(t, s, "web")
	for _, c := range []*net.TCPConn{c, fresh} {
		io.WriteString(c, "hello")
		c.CloseWrite()
		silent(t, c)
	}
	if len(told) > 0 {
		t.Error("an end passed")
	}
	servetest.Eventually(t, "it holds what came", func() bool { return s.Sample().Relays["web"].Toxics["stall"].Held == 10 })
	e := remove(t, s, "stall")
	if e.Connections != 2 || e.Bytes != 10 || e.Held != 10 {
		t.Errorf("counted %+v", e)
	}
	for _, c := range []*net.TCPConn{c, fresh} {
		if got, err := io.ReadAll(c); string(got) != "hello" || err != nil {
			t.Errorf("afterwards %q, %v", got, err)
		}
		if s := ended(t, told); s.err != nil {
			t.Error(s.err)
		}
	}
}

// What a blackhole swallowed is gone: such connections are reset when it is over, the others go on.
func TestBlackholeFromOutside(t *testing.T) {
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	idle, asking := dial(t, s, "web"), dial(t, s, "web")
	ask(t, idle)
	ask(t, asking)
	c := of("blackhole", Blackhole{})
	c.Add.Stream = Both
	control(t, s, c)
	fresh := dial(t, s, "web")
	for _, c := range []*net.TCPConn{asking, fresh} {
		io.WriteString(c, "hello")
		silent(t, c)
	}
	servetest.Eventually(t, "it swallows what came", func() bool { return s.Sample().Relays["web"].Toxics["blackhole"].Held == 10 })
	if e := remove(t, s, "blackhole"); e.Connections != 2 || e.Resets != 2 || e.Held != 10 {
		t.Errorf("counted %+v", e)
	}
	for _, c := range []*net.TCPConn{asking, fresh} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("when it was over the client saw %v", err)
		}
	}
	if s := ended(t, told); string(s.data) != "hello" || !errors.Is(s.err, syscall.ECONNRESET) {
		t.Errorf("the upstream saw %q, %v", s.data, s.err)
	}
	ask(t, idle)
	if len(told) > 0 {
		t.Error("the upstream saw a connection that came under it")
	}
}

// Who connects is refused; who is connected goes on; afterwards the same port listens.
func TestRefuseFromOutside(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web", "other")
	at := s.Addresses()["web"]
	c := dial(t, s, "web")
	ask(t, c)
	add := of("refuse", Refuse{})
	add.Relays = []string{"web"}
	control(t, s, add)
	for range 5 {
		if _, err := net.Dial("tcp", at); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialled: %v", err)
		}
	}
	ask(t, c)
	ask(t, dial(t, s, "other"))
	e := remove(t, s, "refuse")
	if e.Refused < 5 || !e.Inexact && (e.Refused > 5 || e.Connections != 5) {
		t.Errorf("counted %+v", e)
	}
	if r := s.Sample().Relays["web"]; r.Refused != e.Refused || r.AcceptErrors != 0 {
		t.Errorf("the relay counted %+v", r)
	}
	if now := s.Addresses()["web"]; now != at {
		t.Errorf("it listens at %s, before at %s", now, at)
	}
	ask(t, dial(t, s, "web"))
}

// A connection that comes while its blackhole ends is reset like those that were there: nobody else would end it.
func TestBlackholeThatEndsMeanwhile(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web")
	control(t, s, of("blackhole", Blackhole{}))
	r := s.relays["web"]
	c := servetest.Dial(t, servetest.Upstream(t, servetest.Echo))
	p := &pair{number: 1, relay: r, began: time.Now(), client: c, done: make(chan struct{})}
	r.live.Add(1)
	r.mu.Lock()
	f, ended := r.named("blackhole"), make(chan struct{})
	go func() {
		r.swallow(p, f)
		close(ended)
	}()
	time.Sleep(10 * time.Millisecond) // it waits for the relay
	if err := r.end(f); err != nil {
		t.Error(err)
	}
	r.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(servetest.Patience):
		t.Error("it is still held")
		p.kill()
		<-ended
	}
	if n := r.live.Load(); n != 0 || f.resets.Load() != 1 {
		t.Errorf("%d live, %d resets", n, f.resets.Load())
	}
}
