package load

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
	"github.com/planrun/planrun/internal/worker"
)

// addresses counts the addresses that connections came from.
type addresses struct {
	mu   sync.Mutex
	seen map[netip.Addr]int
	at   []time.Time // of the connections
}

func (a *addresses) note(x *scene) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[netip.Addr]int{}
	}
	a.seen[x.tcp.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()]++
	a.at = append(a.at, time.Now())
}

// wait waits until the server has seen a number of connections, which the load may have opened before it did.
func (a *addresses) wait(t *testing.T, n int) {
	t.Helper()
	servetest.Eventually(t, fmt.Sprint(n, " connections"), func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.at) >= n
	})
}

// TestSources: connections come from the sources in turn, over all workers and dials.
func TestSources(t *testing.T) {
	for _, tt := range []struct {
		name        string
		sources     []string
		listen      string
		connections int
		reuse       bool
		seen        int // addresses
		most        int // connections from one of them
	}{
		{"network", []string{"127.0.1.0/24"}, "127.0.0.1:0", 20, true, 20, 1},
		{"two addresses", []string{"127.0.1.1", "127.0.1.2"}, "127.0.0.1:0", 6, true, 2, 3},
		{"address and network", []string{"127.0.1.9", "127.0.2.0/30"}, "127.0.0.1:0", 6, true, 3, 2},
		{"a new connection for each request", []string{"127.0.1.0/24"}, "127.0.0.1:0", 1, false, 6, 1},
		{"IPv6", []string{"::1"}, "[::1]:0", 2, true, 1, 2},
		{"IPv6 without sources", nil, "[::1]:0", 2, true, 1, 2},
	} {
		for _, wire := range wires(t) {
			t.Run(tt.name+"/"+wire, func(t *testing.T) {
				t.Parallel()
				var from addresses
				server := play(t, tt.listen, nil, 0, func(x *scene) {
					from.note(x)
					every(ok)(x)
				})
				s, ready := begin(t, Spec{Address: server.address, Sources: tt.sources, Connections: tt.connections, Reuse: tt.reuse, Wire: wire,
					Timeout: 20 * time.Second, Rate: []RateStep{{500, 500, 10 * time.Millisecond}}})
				time.Sleep(10 * time.Millisecond)
				c := s.stop().Counts
				if c.OK != 5 || c.Due != 5 || ready.Verified != 1 {
					t.Errorf("%+v, outcomes %s", ready, s.outcomes())
				}
				from.wait(t, int(c.Opened))
				from.mu.Lock()
				defer from.mu.Unlock()
				if len(from.seen) != tt.seen {
					t.Errorf("connections came from %v", from.seen)
				}
				for _, n := range from.seen {
					if n > tt.most {
						t.Errorf("connections came from %v", from.seen)
						break
					}
				}
				if host := "\r\nHost: " + server.address + "\r\n"; !strings.Contains(server.requests()[0], host) {
					t.Errorf("the server saw %q", server.requests()[0])
				}
			})
		}
	}
}

// TestWrongSources: sources that this machine does not have are the generator's own failure; those that cannot be are refused.
func TestWrongSources(t *testing.T) {
	t.Parallel()
	server := play(t, "127.0.0.1:0", nil, 0, every(ok))
	for _, wire := range wires(t) {
		s, ready := begin(t, Spec{Address: server.address, Sources: []string{"192.0.2.1"}, Connections: 2, Reuse: true, Wire: wire, Rate: []RateStep{{300, 300, 10 * time.Millisecond}}})
		if !strings.HasPrefix(ready.Shortage, "2 of 2 connections were not opened: generator: ") || !strings.Contains(ready.Shortage, "cannot assign requested address") {
			t.Errorf("%s: ready: %+v", wire, ready)
		}
		time.Sleep(10 * time.Millisecond)
		if c := s.stop().Counts; c.Due != 3 || c.Generator != 3 {
			t.Errorf("%s: outcomes %s", wire, s.outcomes())
		}
	}
	for source, want := range map[string]string{
		"::1": "no source address is of the family of 127.0.0.1", "127.0.1": "neither an address nor a network", "127.0.0.0/8": "more than 4096 source addresses",
	} {
		s := dial(t)
		err := s.client.Configure(t.Context(), Spec{Address: server.address, Sources: []string{source}, Connections: 1}, nil)
		if e, ok := errors.AsType[*worker.Error](err); !ok || e.Class != "spec" || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestConnectRate: no connection is opened before it is its turn, whatever the number of workers.
func TestConnectRate(t *testing.T) {
	const n, rate = 30, 200.0
	for _, workers := range []int{1, 3} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			t.Parallel()
			var from addresses
			server := play(t, "127.0.0.1:0", nil, 0, func(x *scene) {
				from.note(x)
				every(ok)(x)
			})
			began := time.Now()
			var all sync.WaitGroup
			for i := range workers {
				s := dial(t)
				all.Go(func() {
					var ready Ready
					spec := Spec{Address: server.address, Connections: n, Workers: workers, Worker: i, Reuse: true, ConnectRate: rate}
					if err := s.client.Configure(t.Context(), spec, &ready); err != nil || ready.Connections != n/workers || ready.Verified != 1 {
						t.Errorf("%+v, %v", ready, err)
					}
				})
			}
			all.Wait()
			from.wait(t, n)
			from.mu.Lock()
			defer from.mu.Unlock()
			if len(from.at) != n {
				t.Fatalf("%d connections", len(from.at))
			}
			for k, at := range from.at {
				if turn := time.Duration(float64(k/workers*workers) / rate * 1e9); at.Sub(began) < turn {
					t.Errorf("connection %d came after %v, before its turn at %v", k, at.Sub(began), turn)
				}
			}
		})
	}
}

// TestReadRate: a server cannot write faster than the load reads.
func TestReadRate(t *testing.T) {
	const body, rate, buffers = 600 << 10, 400 << 10, 300 << 10
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secure), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var fastest time.Duration
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", body)
			spec := Spec{Connections: 1, Reuse: true, ReadRate: rate, Rate: []RateStep{{100, 100, 10 * time.Millisecond}}, Expect: Expect{Bytes: size(body)}}
			playBy(t, passage{secure: secure}, &spec, func(x *scene) {
				x.tcp.SetWriteBuffer(16 << 10)
				for x.request() {
					began := time.Now()
					x.say(head + strings.Repeat("x", body))
					mu.Lock()
					if took := time.Since(began); fastest == 0 || took < fastest {
						fastest = took
					}
					mu.Unlock()
				}
			})
			s, ready := begin(t, spec)
			time.Sleep(10 * time.Millisecond)
			total := s.stop()
			if c := total.Counts; c.OK != 1 || c.Due != 1 || ready.Verified != 1 {
				t.Errorf("%+v, outcomes %s", ready, s.outcomes())
			}
			if took, least := time.Duration(total.Service.Max()), time.Duration(1e9*(body-64<<10)/rate); took < least {
				t.Errorf("%d bytes were read in %v, which takes at least %v", body, took, least)
			}
			mu.Lock()
			defer mu.Unlock()
			if least := time.Duration(1e9 * (body - buffers) / rate); fastest < least {
				t.Errorf("the server wrote %d bytes in %v, which takes at least %v", body, fastest, least)
			}
		})
	}
}
