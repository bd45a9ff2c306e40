package faults

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/planrun/planrun/internal/serve/servetest"
)

// Without a packet filter, which IPv6 has not and others may not have, resets of the whole system stand for who is refused.
func TestRefusedAreCountedWithoutFilter(t *testing.T) {
	servetest.CheckLeaks(t)
	s, err := Start(Spec{[]Relay{{"web", "[::1]:0", servetest.Upstream(t, servetest.Echo)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(servetest.Over()) })
	control(t, s, of("refuse", Refuse{}))
	for range 3 {
		if _, err := net.Dial("tcp", s.Addresses()["web"]); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialled: %v", err)
		}
	}
	if e := remove(t, s, "refuse"); e.Refused < 3 || !e.Inexact {
		t.Errorf("counted %+v", e)
	}
	ask(t, dial(t, s, "web"))
}

// The filter counts attempts to connect to its address and nothing else; without CAP_NET_RAW more may be counted.
func TestFilterCountsKnocks(t *testing.T) {
	servetest.CheckLeaks(t)
	open := servetest.Upstream(t, servetest.Echo)
	at, err := net.ResolveTCPAddr("tcp", servetest.Refusing(t))
	if err != nil {
		t.Fatal(err)
	}
	k := newKnocks(at)
	defer k.close()
	living := servetest.Dial(t, open)
	for range 4 {
		net.Dial("tcp", at.String())
		servetest.Dial(t, open)
		ask(t, living)
	}
	if n := k.more(); n < 4 || n > 4 && !k.inexact() {
		t.Errorf("counted %d of 4", n)
	}
	if n := k.more(); n != 0 && !k.inexact() {
		t.Errorf("counted %d again", n)
	}
}
