package proc

import (
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestPortsAreNeverGivenTwice(t *testing.T) {
	claims := make([]portClaim, 8)
	got := make([][]int, len(claims))
	var wg sync.WaitGroup
	for i := range claims {
		wg.Go(func() {
			var err error
			if got[i], err = claims[i].take(50); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	seen := map[int]bool{}
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(b))
	low, _ := strconv.Atoi(f[0])
	high, _ := strconv.Atoi(f[1])
	for _, ports := range got {
		for _, p := range ports {
			if seen[p] {
				t.Errorf("port %d was given twice", p)
			}
			seen[p] = true
			if p >= low && p <= high {
				t.Errorf("port %d may be the source of an outgoing connection", p)
			}
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d ports", len(seen))
	}
	for i := range claims {
		claims[i].releaseAll()
	}
	var again portClaim
	defer again.releaseAll()
	claimed := 0
	for p := range seen {
		ok, err := again.claim(p)
		if err != nil {
			t.Errorf("port %d cannot be claimed again: %v", p, err)
		}
		if ok {
			claimed++
		}
	}
	if claimed < len(seen)/2 { // others on this machine may have got some of them meanwhile
		t.Errorf("%d of %d ports can be claimed again", claimed, len(seen))
	}
}

func TestPortInUseIsNotGiven(t *testing.T) {
	var c portClaim
	defer c.releaseAll()
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0", "127.0.0.2:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := c.claim(l.Addr().(*net.TCPAddr).Port); ok || err != nil {
			t.Errorf("listening on %s: %v, %v", l.Addr(), ok, err)
		}
		l.Close()
	}
}

// What a group gives up others may have, while it goes on.
func TestReleasedPortsAreGivenAgain(t *testing.T) {
	var g Group
	ports, err := g.Ports(2)
	if err != nil {
		t.Fatal(err)
	}
	defer g.ports.releaseAll()
	var other portClaim
	defer other.releaseAll()
	if ok, err := other.claim(ports[0]); ok || err != nil {
		t.Fatalf("a port that is given already: %v, %v", ok, err)
	}
	g.Release(ports[0])
	if ok, err := other.claim(ports[0]); !ok || err != nil {
		t.Errorf("a port that was given up: %v, %v", ok, err)
	}
	if ok, err := other.claim(ports[1]); ok || err != nil {
		t.Errorf("a port that was not: %v, %v", ok, err)
	}
}
