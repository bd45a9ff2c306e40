package load

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// A limited server is Go's, with a limit of 8 streams.
type limited struct {
	mu      sync.Mutex
	now     map[net.Conn]int // requests in progress
	most    int              // that ever were on one connection
	open    int              // connections that were accepted
	allOpen int              // requests in progress on all
	allMost int
}

const goLimit = 8

// serveLimited serves h2c; every answer takes as long as wait says.
func serveLimited(t *testing.T, wait func()) (*limited, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &limited{now: map[net.Conn]int{}}
	type key struct{}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Protocols: protocols, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: goLimit},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			s.mu.Lock()
			s.open++
			s.mu.Unlock()
			return context.WithValue(ctx, key{}, c)
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := r.Context().Value(key{}).(net.Conn)
			s.mu.Lock()
			s.now[c]++
			s.allOpen++
			s.most, s.allMost = max(s.most, s.now[c]), max(s.allMost, s.allOpen)
			s.mu.Unlock()
			wait()
			io.WriteString(w, "ok")
			s.mu.Lock()
			s.now[c]--
			s.allOpen--
			s.mu.Unlock()
		}),
	}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return s, l.Addr().String()
}

func (s *limited) seen() (open, most, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open, s.most, s.allMost
}

// TestStreamLimit: a fixed pool waits at the server's limit, and the wait is part of the latency; one that dials opens other
// connections. The server never has to refuse a stream.
func TestStreamLimit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spec  Spec
		conns int
		all   int // requests in flight
	}{
		{"fixed", Spec{Connections: 2, Streams: 16}, 2, 2 * goLimit},
		{"fixed, without a limit of the load's", Spec{Connections: 2, Streams: MaxStreams, InFlight: 32}, 2, 2 * goLimit},
		{"dial", Spec{Connections: 1, Streams: MaxStreams, InFlight: 32, Pool: "dial"}, 4, 32},
		{"dial at fewer streams", Spec{Connections: 1, Streams: 4, InFlight: 32, Pool: "dial"}, 8, 32},
		{"distinct", Spec{Connections: 2, Streams: 4, Pool: "distinct"}, 8, 8},
		{"no reuse", Spec{Connections: 2, Streams: 4}, -1, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, address := serveLimited(t, func() { time.Sleep(5 * time.Millisecond) })
			spec := tt.spec
			spec.Address, spec.Protocol, spec.Reuse = address, "h2c", tt.conns >= 0
			s, ready := begin(t, spec)
			if ready.StreamLimit != goLimit || ready.Verified != 1 {
				t.Errorf("ready: %+v", ready)
			}
			eventually(t, func() bool { _, _, all := server.seen(); return all == tt.all })
			time.Sleep(200 * time.Millisecond)
			total := s.stop()
			c := total.Counts
			open, most, all := server.seen()
			if tt.conns >= 0 && (open != tt.conns || c.Opened != int64(tt.conns)) || most > goLimit || all != tt.all {
				t.Errorf("the server saw %d connections, up to %d requests on one and %d in all; opened %d", open, most, all, c.Opened)
			}
			if c.OK != c.Due || c.OK < 32 || c.Refused != 0 || c.Sent != c.OK {
				t.Errorf("refused %d, sent %d, outcomes %s", c.Refused, c.Sent, s.outcomes())
			}
			// Of 32 users half wait, so the time from the due time is twice that on the connection: Little's law.
			latency, service := total.Latency.Mean(), total.Service.Mean()
			if strings.HasPrefix(tt.name, "fixed") && latency < 1.5*service {
				t.Errorf("latency %v, service time %v on average", time.Duration(latency), time.Duration(service))
			}
		})
	}
}

// TestLimitChanges: the limit may rise and fall at any time, also below what is in flight and to nothing.
func TestLimitChanges(t *testing.T) {
	done := make(chan struct{})
	server, book := playH2(t, nil, 0, func(p *peer) {
		p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
		p.ok(p.ask().id)
		var open []uint32
		// settled reads until the load has heard all that was written, and has sent what it sends then.
		settled := func(what string, want int) bool {
			p.WritePing(false, [8]byte([]byte("settled?")))
			for {
				switch f := p.hear().(type) {
				case nil:
					return false
				case *http2.MetaHeadersFrame:
					open = append(open, f.StreamID)
				case *http2.PingFrame:
					if len(open) != want {
						t.Errorf("%s: %d open, want %d", what, len(open), want)
					}
					return true
				}
			}
		}
		limit := func(n uint32) { p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: n}) }
		answer := func(n int) {
			for range n {
				p.ok(open[0])
				open = open[1:]
			}
		}
		for len(open) < 2 {
			f := p.hear()
			if f == nil {
				return
			}
			if h, ok := f.(*http2.MetaHeadersFrame); ok {
				open = append(open, h.StreamID)
			}
		}
		steps := []struct {
			what string
			do   func()
			want int
		}{
			{"limit 2", func() {}, 2},
			{"limit 5", func() { limit(5) }, 5},
			{"limit 1 below what is in flight", func() { limit(1) }, 5},
			{"three answers", func() { answer(3) }, 2},
			{"another one", func() { answer(1) }, 1},
			{"and another one", func() { answer(1) }, 1},
			{"limit 0", func() { limit(0); answer(1) }, 0},
			{"limit 100", func() { limit(100) }, 6},
		}
		for _, step := range steps {
			step.do()
			if !settled(step.what, step.want) {
				t.Errorf("%s: the connection ended", step.what)
				return
			}
		}
		close(done)
		answer(len(open))
		for a := p.ask(); a != nil; a = p.ask() {
			p.ok(a.id)
		}
	})
	s, ready := begin(t, Spec{Protocol: "h2c", Address: server.address, Connections: 1, Streams: 6, Reuse: true, Timeout: 20 * time.Second})
	if ready.StreamLimit != 2 {
		t.Errorf("ready: %+v", ready)
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("the script did not come to its end")
	}
	c := s.stop().Counts
	if c.OK != c.Due || c.Opened != 1 || book.count("MALFORMED") > 0 {
		t.Errorf("opened %d, outcomes %s; %s", c.Opened, s.outcomes(), book.all())
	}
}

// TestNoStreamAllowed: a server that allows no stream is waited for up to the timeout, and its fault is told.
func TestNoStreamAllowed(t *testing.T) {
	server, _ := playH2(t, nil, 0, func(p *peer) {
		p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		p.ask()
	})
	spec := three(server.address)
	spec.Timeout = 50 * time.Millisecond
	s, ready := begin(t, spec)
	if !strings.Contains(ready.Problem, "the server's limit on streams left no room within 50ms") {
		t.Errorf("ready: %+v", ready)
	}
	time.Sleep(10 * time.Millisecond)
	c := s.stop().Counts
	if c.Errors[Timeout] != 3 || c.Sent != 0 {
		t.Errorf("sent %d, outcomes %s", c.Sent, s.outcomes())
	}
}
