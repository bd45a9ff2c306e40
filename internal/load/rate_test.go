package load

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

// shapes are rates with the number of requests that they are, worked out by hand.
var shapes = []struct {
	name  string
	steps []RateStep
	total int64
}{
	{"constant", []RateStep{{100, 100, time.Second}}, 100},
	{"slow", []RateStep{{0.5, 0.5, 30 * time.Second}}, 15},
	{"fraction", []RateStep{{33.3, 33.3, 10 * time.Second}}, 333},
	{"fraction of a request left", []RateStep{{33.3, 33.3, time.Second}}, 34}, // the last is due at 33/33.3 s
	{"many tenths", []RateStep{{0.1, 0.1, 30 * time.Second}, {0.7, 0.7, 10 * time.Second}, {0.3, 0.3, 10 * time.Second}}, 13},
	{"ramp up", []RateStep{{0, 200, 3 * time.Second}}, 300},
	{"ramp down", []RateStep{{200, 0, 3 * time.Second}}, 300},
	{"ramp between", []RateStep{{50, 150, 2 * time.Second}}, 200},
	{"steps", []RateStep{{100, 100, time.Second}, {1000, 1000, time.Second}, {10, 10, time.Second}}, 1110},
	{"a pause", []RateStep{{100, 100, time.Second}, {0, 0, 10 * time.Second}, {100, 100, time.Second}}, 200},
	{"up, hold, down", []RateStep{{0, 90, time.Second}, {90, 90, time.Second}, {90, 0, time.Second}}, 180},
	{"a tooth", []RateStep{{0, 100, time.Second}, {0, 100, time.Second}}, 100},
	{"a long time", []RateStep{{1000.1, 1000.1, 1000 * time.Second}}, 1_000_100},
}

// integral is how many requests are due until a time, added up step by step.
func integral(steps []RateStep, until float64) (n float64) {
	for _, s := range steps {
		over := s.Over.Seconds()
		x := max(0, min(until, over))
		n += x * (s.From + (s.From + (s.To-s.From)*x/over)) / 2
		until -= over
	}
	return n
}

// TestShapes: of each shape as many requests are due as its integral says, in all and up to any time.
func TestShapes(t *testing.T) {
	for _, tt := range shapes {
		s, err := newSchedule(tt.steps)
		if err != nil {
			t.Fatal(err)
		}
		var k int64
		for ; ; k++ {
			at, ok := s.due(k)
			if !ok {
				break
			}
			// The nanosecond to which a due time is cut is worth a part of a request.
			if got := integral(tt.steps, at.Seconds()); math.Abs(got-float64(k)) > 1e-4 {
				t.Fatalf("%s: request %d is due at %v, when %v requests are", tt.name, k, at, got)
			}
		}
		if k != tt.total {
			t.Errorf("%s: %d requests, want %d", tt.name, k, tt.total)
		}
	}
}

// TestShapesSent: what is sent is what is due, over all workers together: each request k by one of them.
func TestShapesSent(t *testing.T) {
	for _, tt := range []struct {
		name    string
		steps   []RateStep
		pacing  string
		workers int
		total   int64
	}{
		{"constant", []RateStep{{300, 300, 200 * time.Millisecond}}, "precise", 1, 60},
		{"constant of three", []RateStep{{300, 300, 200 * time.Millisecond}}, "precise", 3, 60},
		{"economical", []RateStep{{300, 300, 200 * time.Millisecond}}, "economical", 1, 60},
		{"busy", []RateStep{{300, 300, 200 * time.Millisecond}}, "busy", 1, 60},
		{"fraction", []RateStep{{33.3, 33.3, 300 * time.Millisecond}}, "", 2, 10},
		{"ramp of two", []RateStep{{0, 400, 300 * time.Millisecond}}, "", 2, 60},
		{"steps of seven", []RateStep{{100, 100, 100 * time.Millisecond}, {500, 500, 100 * time.Millisecond}}, "economical", 7, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := play(t, "127.0.0.1:0", nil, 0, every(ok))
			var all sync.WaitGroup
			var mu sync.Mutex
			var due, sent int64
			sessions := make([]*session, tt.workers)
			for i := range sessions {
				sessions[i], _ = begin(t, Spec{Address: server.address, Workers: tt.workers, Worker: i, Connections: 4 * tt.workers, Reuse: true, Pacing: tt.pacing,
					SpreadPath: fmt.Sprintf("/{0..%d}", tt.total-1), Timeout: 20 * time.Second, Rate: tt.steps})
			}
			time.Sleep(350 * time.Millisecond)
			for _, s := range sessions {
				all.Go(func() {
					c := s.stop().Counts
					if c.OK != c.Due {
						t.Errorf("outcomes %s", s.outcomes())
					}
					mu.Lock()
					defer mu.Unlock()
					due, sent = due+c.Due, sent+c.Sent
				})
			}
			all.Wait()
			if due != tt.total || sent != tt.total {
				t.Errorf("due %d, sent %d, want %d", due, sent, tt.total)
			}
			seen := map[string]int{}
			for _, r := range server.requests() {
				seen[strings.Fields(r)[1]]++
			}
			for k := range tt.total { // each worker has verified each of them
				if path := fmt.Sprintf("/%d", k); seen[path] != tt.workers+1 {
					t.Errorf("request %d was sent %d times", k, seen[path]-tt.workers)
				}
			}
		})
	}
}

// TestWaiting: requests beyond those that may wait are dropped, with the reason, and in whatever order they came to be due
// those before them are sent.
func TestWaiting(t *testing.T) {
	t.Parallel()
	g := newGate(math.MaxInt)
	server := play(t, "127.0.0.1:0", nil, 0, g.keeper())
	s, _ := begin(t, Spec{Address: server.address, SpreadPath: "/{0..0}", Connections: 2, Reuse: true, MaxWaiting: 5, Timeout: 20 * time.Second, Rate: []RateStep{{2000, 2000, 10 * time.Millisecond}}})
	time.Sleep(10 * time.Millisecond)
	var reply ControlReply
	if err := s.client.Control(t.Context(), Control{Phase: "after", At: time.Hour}, &reply); err != nil {
		t.Fatal(err)
	}
	g.remove()
	c := s.stop().Counts
	if !maps.Equal(reply.Due, map[string]int64{"load": 20}) {
		t.Errorf("due %v", reply.Due)
	}
	if c.Due != 20 || c.OK != 7 || c.Errors[Dropped] != 13 || c.Sent != 7 {
		t.Errorf("outcomes %s", s.outcomes())
	}
	if !strings.Contains(strings.Join(s.examples, "\n"), "dropped: 5 requests wait already") {
		t.Errorf("examples %q", s.examples)
	}
}

// TestWholeTotals: a product that is a whole number is that many requests, however its factors are rounded.
func TestWholeTotals(t *testing.T) {
	for tenths := int64(1); tenths <= 1000; tenths++ {
		for _, milliseconds := range []int64{100, 700, 1000, 1900, 3000, 10_000, 33_000} {
			if tenths*milliseconds%10_000 != 0 {
				continue
			}
			want := tenths * milliseconds / 10_000
			rate, over := float64(tenths)/10, time.Duration(milliseconds)*time.Millisecond
			for name, steps := range map[string][]RateStep{
				"constant": {{rate, rate, over}}, "up": {{0, 2 * rate, over}}, "down": {{2 * rate, 0, over}},
				"in parts": {{rate, rate, over / 4}, {rate, rate, over / 2}, {rate, rate, over / 4}},
			} {
				s, err := newSchedule(steps)
				if err != nil {
					t.Fatal(err)
				}
				_, last := s.due(want - 1)
				if _, more := s.due(want); more || !last {
					t.Errorf("%s: %v/s over %v: the last of %d requests is due: %v, one more: %v", name, rate, over, want, last, more)
				}
			}
		}
	}
}
