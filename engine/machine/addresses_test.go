package machine

import (
	"net"
	"net/netip"
	"testing"
)

func TestOwns(t *testing.T) {
	for at, want := range map[string]bool{"127.0.0.1": true, "127.7.7.7": true, "::1": true, "::ffff:127.0.0.1": true, "192.0.2.1": false, "2001:db8::1": false} {
		if got := Owns(netip.MustParseAddr(at)); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			t.Fatal(err)
		}
		if mapped := netip.AddrFrom16(p.Addr().As16()); !Owns(p.Addr()) || !Owns(mapped) {
			t.Errorf("%s of an interface is not this machine's", a)
		}
	}
}
