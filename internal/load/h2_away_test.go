package load

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// three is a load of three requests that may all be in flight on one connection.
func three(address string) Spec {
	return Spec{Protocol: "h2c", Address: address, Connections: 1, Streams: 4, Reuse: true, Timeout: 20 * time.Second, Rate: []RateStep{{3000, 3000, time.Millisecond}}}
}

// TestGoAway: what a GOAWAY leaves out is sent elsewhere and counted, what it does not goes on, and the connection is closed
// when it is empty.
func TestGoAway(t *testing.T) {
	for _, tt := range []struct {
		name    string
		first   func(p *peer, ids []uint32) // on the first connection, after three requests
		goaways int64
		retried int64
		kept    int // requests that are answered on it
	}{
		{"none is left out", func(p *peer, ids []uint32) { p.WriteGoAway(ids[2], http2.ErrCodeNo, nil) }, 1, 0, 3},
		{"two are", func(p *peer, ids []uint32) { p.WriteGoAway(ids[0], http2.ErrCodeNo, nil) }, 1, 2, 1},
		{"all are", func(p *peer, ids []uint32) { p.WriteGoAway(ids[0]-2, http2.ErrCodeEnhanceYourCalm, []byte("later")) }, 1, 3, 0},
		{"first a warning", func(p *peer, ids []uint32) {
			p.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
			p.WriteGoAway(ids[1], http2.ErrCodeNo, nil)
			p.WriteGoAway(ids[2], http2.ErrCodeNo, nil) // which is wrong, and changes nothing
		}, 3, 1, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, book := playH2(t, nil, 0, func(p *peer) {
				p.WriteSettings()
				if p.number == 0 {
					p.ok(p.ask().id) // the verification
					var ids []uint32
					for range 3 {
						a := p.ask()
						if a == nil {
							return
						}
						ids = append(ids, a.id)
					}
					tt.first(p, ids)
					for _, id := range ids[:tt.kept] {
						p.ok(id)
					}
				}
				for a := p.ask(); a != nil; a = p.ask() {
					p.book.note("elsewhere")
					p.ok(a.id)
				}
				p.book.note("closed")
			})
			s, _ := begin(t, three(server.address))
			// The first connection is closed while the load is still there.
			eventually(t, func() bool { return book.count("closed") >= 1 })
			c := s.stop().Counts
			if c.OK != 3 || c.Due != 3 || c.Goaways != tt.goaways || c.Retried != tt.retried || c.Sent != 3+tt.retried {
				t.Errorf("goaways %d, retried %d, sent %d, outcomes %s", c.Goaways, c.Retried, c.Sent, s.outcomes())
			}
			if n := book.count("elsewhere"); n != int(tt.retried) || book.count("MALFORMED") > 0 {
				t.Errorf("%d requests elsewhere: %s", n, book.all())
			}
		})
	}
}

func eventually(t *testing.T, what func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come")
		}
	}
}

// TestGoAwayAlways: a server that turns every request away is not asked for ever.
func TestGoAwayAlways(t *testing.T) {
	server, _ := playH2(t, nil, 0, func(p *peer) {
		p.WriteSettings()
		for a := p.ask(); a != nil; a = p.ask() {
			p.WriteGoAway(0, http2.ErrCodeNo, nil)
		}
	})
	s, _ := begin(t, three(server.address))
	time.Sleep(10 * time.Millisecond)
	c := s.stop().Counts
	if c.Errors[Reset] != 3 || c.Due != 3 || !strings.Contains(strings.Join(s.examples, "\n"), "sent 21 times, and left out by GOAWAY the last time") {
		t.Errorf("outcomes %s", s.outcomes())
	}
}

// TestGoAwayIdle: a connection that is left alone is closed by a GOAWAY, and its successor is dialled when it is needed.
func TestGoAwayIdle(t *testing.T) {
	server, book := playH2(t, nil, 0, func(p *peer) {
		p.WriteSettings()
		for a := p.ask(); a != nil; a = p.ask() {
			p.ok(a.id)
			p.WriteGoAway(a.id, http2.ErrCodeNo, nil)
		}
		p.book.note("closed")
	})
	spec := three(server.address)
	spec.Connections, spec.Rate = 2, []RateStep{{100, 100, 60 * time.Millisecond}}
	s, _ := begin(t, spec)
	eventually(t, func() bool { return book.count("closed") == 7 })
	c := s.stop().Counts
	// The verification's was before the start, but is counted too.
	if c.OK != 6 || c.Goaways != 7 || c.Retried+c.ReuseRetried != 0 || c.Opened < 7 || c.Opened > 8 {
		t.Errorf("goaways %d, opened %d, outcomes %s", c.Goaways, c.Opened, s.outcomes())
	}
}

// TestRefusedStreams: a stream that is refused is tried again and counted, up to a bound.
func TestRefusedStreams(t *testing.T) {
	for _, tt := range []struct { // the verification of the three paths is treated like the load
		name    string
		refuse  func(nth int) bool
		timeout time.Duration
		ok      int64
		refused int64
		errors  map[string]int64
		says    string
	}{
		{name: "each once", refuse: func(nth int) bool { return nth%2 == 0 }, ok: 3, refused: 6},
		{name: "always", refuse: func(int) bool { return true }, refused: 6 * maxTries, errors: failing(Reset), says: "sent 21 times, and refused the last time"},
		{name: "too long", refuse: func(int) bool { return true }, timeout: 40 * time.Millisecond, refused: -1, errors: failing(Timeout)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, book := playH2(t, nil, 0, func(p *peer) {
				p.WriteSettings()
				nth := map[string]int{}
				for a := p.ask(); a != nil; a = p.ask() {
					path := a.fields[":path"]
					if nth[path]++; !tt.refuse(nth[path] - 1) {
						p.ok(a.id)
					} else {
						p.WriteRSTStream(a.id, http2.ErrCodeRefusedStream)
					}
				}
			})
			spec := three(server.address)
			spec.SpreadPath, spec.Timeout = "/{1..3}", 20*time.Second
			if tt.timeout > 0 {
				spec.Timeout = tt.timeout
			}
			s, _ := begin(t, spec)
			time.Sleep(10 * time.Millisecond)
			c := s.stop().Counts
			if tt.refused >= 0 && c.Refused != tt.refused || c.OK != tt.ok || c.Due != 3 || !equal(c.Errors, tt.errors) {
				t.Errorf("refused %d, outcomes %s; %s", c.Refused, s.outcomes(), book.all())
			}
			if !strings.Contains(strings.Join(s.examples, "\n"), tt.says) {
				t.Errorf("examples %q", s.examples)
			}
		})
	}
}

// TestLateAnswer: the answer to a request that has timed out disturbs nothing.
func TestLateAnswer(t *testing.T) {
	server, book := playH2(t, nil, 0, func(p *peer) {
		p.WriteSettings()
		p.ok(p.ask().id)
		first := p.ask()
		if first == nil {
			return
		}
		p.head(first.id, false, ":status", "200", "a", "b")
		for f := p.hear(); f != nil && f.Header().Type != http2.FrameRSTStream; f = p.hear() {
		}
		p.WriteData(first.id, false, []byte("late"))
		p.head(first.id, true, "c", "d")
		for a := p.ask(); a != nil; a = p.ask() {
			p.head(a.id, true, ":status", "200", "a", "b", "c", "d") // from the table, which the late header went into
		}
	})
	spec := three(server.address)
	spec.Timeout, spec.Rate, spec.By = 300*time.Millisecond, []RateStep{{2, 2, time.Second}}, "C"
	s, _ := begin(t, spec)
	eventually(t, func() bool { return book.count("request") == 3 })
	c := s.stop().Counts
	if c.OK != 1 || c.Errors[Timeout] != 1 || c.By["d"] != 1 || c.Opened != 1 || book.count("MALFORMED") > 0 {
		t.Errorf("by %v, opened %d, outcomes %s; %s", c.By, c.Opened, s.outcomes(), book.all())
	}
}

// TestSilentServer: a connection on which nothing arrives any more is given up, although TCP knows nothing of it.
func TestSilentServer(t *testing.T) {
	server, book := playH2(t, nil, 0, func(p *peer) {
		p.WriteSettings()
		if p.number > 0 {
			for a := p.ask(); a != nil; a = p.ask() {
				p.ok(a.id)
			}
			return
		}
		p.ok(p.ask().id)
		for f, err := p.ReadFrame(); err == nil; f, err = p.ReadFrame() { // PING is not answered
			if f.Header().Type == http2.FramePing {
				p.book.note("asked")
			}
		}
		p.book.note("given up")
	})
	spec := three(server.address)
	spec.Timeout, spec.Rate = 200*time.Millisecond, []RateStep{{To: 50}}
	s, _ := begin(t, spec)
	eventually(t, func() bool { return book.count("given up") == 1 && book.count("request") > 10 })
	c := s.stop().Counts
	if c.OK == 0 || c.Errors[Timeout] == 0 || c.Opened != 2 || book.count("asked") != 1 {
		t.Errorf("opened %d, outcomes %s; %s", c.Opened, s.outcomes(), book.all())
	}
}
