package load

import (
	"sync"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
)

// A gate lets requests through in groups, and keeps the largest number of them that was there at once.
type gate struct {
	mu                sync.Mutex
	group             int // 0 lets everything through
	waiting, in, most int
	next              chan struct{} // closed when the group is there
}

func newGate(group int) *gate { return &gate{group: group, next: make(chan struct{})} }

func (g *gate) pass() {
	g.mu.Lock()
	next := g.next
	g.waiting++
	g.in++
	g.most = max(g.most, g.in)
	if g.waiting >= g.group {
		g.open()
	}
	g.mu.Unlock()
	<-next
	g.mu.Lock()
	g.in--
	g.mu.Unlock()
}

func (g *gate) open() {
	close(g.next)
	g.next, g.waiting = make(chan struct{}), 0
}

// keeper answers requests once they are through the gate, but for the first one, which is the verification.
func (g *gate) keeper() func(*scene) {
	var verification sync.Once
	return func(x *scene) {
		for x.request() {
			load := true
			verification.Do(func() { load = false })
			if load {
				g.pass()
			}
			x.say(ok)
		}
	}
}

// remove lets everything through from now on.
func (g *gate) remove() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.group = 0
	g.open()
}

// TestPools: which connections the requests of an open loop find. The server answers only when as many requests are there as
// the pool is to let through at once: fewer would wait for ever, and more would be seen.
func TestPools(t *testing.T) {
	for _, tt := range []struct {
		name     string
		change   func(*Spec)
		together int   // at the server
		opened   int64 // connections
	}{
		{"fixed", func(s *Spec) { s.Connections = 4 }, 4, 4},
		{"distinct", func(s *Spec) { s.Connections, s.Pool = 4, "distinct" }, 4, 4},
		{"dial", func(s *Spec) { s.Pool, s.InFlight = "dial", 12 }, 12, 12},
		{"dial, in flight what its connections take", func(s *Spec) { s.Connections, s.Pool = 4, "dial" }, 4, 4},
		{"dial, bounded", func(s *Spec) { s.Pool, s.InFlight = "dial", 3 }, 3, 3},
		{"fixed, bounded", func(s *Spec) { s.Connections, s.InFlight = 6, 3 }, 3, 6},
		{"dial without reuse", func(s *Spec) { s.Pool, s.InFlight, s.Reuse = "dial", 3, false }, 3, 13},
		{"closed loop, bounded", func(s *Spec) { s.Connections, s.InFlight, s.Rate = 6, 3, nil }, 3, 6},
		{"closed loop that dials", func(s *Spec) { s.Pool, s.InFlight, s.Rate = "dial", 3, nil }, 3, 3},
	} {
		for _, wire := range wires(t) {
			t.Run(tt.name+"/"+wire, func(t *testing.T) {
				t.Parallel()
				g := newGate(tt.together)
				server := play(t, "127.0.0.1:0", nil, 0, g.keeper())
				spec := Spec{Address: server.address, Connections: 1, Reuse: true, Wire: wire, Timeout: 20 * time.Second, Rate: []RateStep{{1200, 1200, 10 * time.Millisecond}}}
				tt.change(&spec)
				s, ready := begin(t, spec)
				if ready.Verified != 1 {
					t.Errorf("ready: %+v", ready)
				}
				time.Sleep(20 * time.Millisecond)
				if spec.Rate == nil { // its last requests are fewer
					servetest.Eventually(t, "a group", func() bool { return len(server.requests()) > tt.together })
					g.remove()
				}
				c := s.stop().Counts
				if c.OK != c.Due || spec.Rate != nil && c.Due != 12 || c.Due < int64(tt.together) {
					t.Errorf("outcomes %s", s.outcomes())
				}
				if c.Opened != tt.opened {
					t.Errorf("opened %d", c.Opened)
				}
				servetest.Eventually(t, "as many connections at the server", func() bool { return server.accepted.Load() == tt.opened })
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.most != tt.together {
					t.Errorf("%d requests were there at once, not %d", g.most, tt.together)
				}
			})
		}
	}
}
