package load

import (
	"io"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/hdr"
)

// The scripted origin of the known answers: request k, due at k/knownRate, is answered after scripted(k), but nothing is
// answered while the origin stalls, and afterwards what has queued up is answered in order, one a millisecond. Answers
// have absolute times, so that no lateness of the origin adds to that of later ones.
const (
	knownRate  = 200.0
	knownTotal = 1000
	stallFrom  = 1500 * time.Millisecond
	stallTo    = 3500 * time.Millisecond
	catchUp    = time.Millisecond
)

func dueAt(k int) time.Duration { return time.Duration(float64(k) / knownRate * 1e9) }

// scripted spreads evenly between 2 and 22 ms.
func scripted(k int) time.Duration {
	return 2*time.Millisecond + time.Duration(k*37%100)*200*time.Microsecond
}

// answerTimes gives when each request is answered, since the start.
func answerTimes() []time.Duration {
	at := make([]time.Duration, knownTotal)
	queue := stallTo
	for k := range at {
		at[k] = dueAt(k) + scripted(k)
		if at[k] >= stallFrom && queue+catchUp > at[k] {
			queue += catchUp
			at[k] = queue
		}
	}
	return at
}

// quantile of exact values, by the same rank rule as the histogram's.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// misses tells at how many of the checked quantiles h differs from the exact values by more than the histogram's error
// (one in a thousand) and the lag.
func misses(t *testing.T, h *hdr.Histogram, sorted []time.Duration, lag time.Duration) (n int) {
	for _, q := range []float64{0.25, 0.5, 0.75, 0.9, 0.99, 1} {
		want := quantile(sorted, q)
		got := time.Duration(h.Quantile(q))
		tolerance := want/1000 + lag
		if off := (got - want).Abs(); off > tolerance {
			t.Logf("p%v: %v, analytically %v, tolerance %v", 100*q, got, want, tolerance)
			n++
		}
	}
	return n
}

// TestKnownAnswer: latencies from the due time are what the script says. Those from the send are not: the same check
// fails for them, because requests that could not be sent during the stall do not count its length.
func TestKnownAnswer(t *testing.T) {
	var mu sync.Mutex
	var start time.Time
	arrivals, late := -1, time.Duration(0) // the first request is the verification
	at := answerTimes()
	address, _ := raw(t, func(c *net.TCPConn, next func() bool) {
		for next() {
			mu.Lock()
			k := arrivals
			arrivals++
			if k == 0 {
				start = time.Now()
			}
			begin := start
			mu.Unlock()
			if k >= knownTotal {
				t.Errorf("request %d", k)
				return
			}
			if k >= 0 {
				time.Sleep(time.Until(begin.Add(at[k])))
			}
			io.WriteString(c, ok)
			if k >= 0 {
				mu.Lock()
				late = max(late, time.Since(begin)-at[k])
				mu.Unlock()
			}
		}
	})
	s, _ := begin(t, Spec{Address: address, Connections: 20, Reuse: true, Rate: []RateStep{{knownRate, knownRate, knownTotal / knownRate * time.Second}}})
	time.Sleep(knownTotal/knownRate*time.Second + 100*time.Millisecond)
	total := s.stop()
	if total.Counts.OK != knownTotal || total.Counts.Due != knownTotal {
		t.Fatalf("outcomes: %s", s.outcomes())
	}
	latencies := make([]time.Duration, knownTotal)
	for k := range latencies {
		latencies[k] = at[k] - dueAt(k)
	}
	slices.Sort(latencies)
	// Between two sends nothing records a stall of the generator: add their distance.
	lag := time.Duration(total.Counts.StalledLagNs) + late + time.Duration(1e9/knownRate)
	t.Logf("generator's lag %v, origin's %v", time.Duration(total.Counts.StalledLagNs), late)
	if n := misses(t, total.Latency, latencies, lag); n > 0 {
		t.Errorf("latencies from the due time differ from the analytic ones at %d quantiles", n)
	}
	if n := misses(t, total.Service, latencies, lag); n < 2 {
		t.Errorf("times from the send agree with the analytic latencies but at %d quantiles: the check sees nothing", n)
	}
	// The recorded lag is what explains the difference: the longest wait is nearly that of the whole stall.
	if longest := time.Duration(total.Lag.Max()); longest < (stallTo-stallFrom)/2 {
		t.Errorf("the longest lag is %v", longest)
	}
}

// TestClosedLoopOmits: the same stall is one slow request for each connection of a closed loop, and its percentiles do
// not show that the target was away for half of the time.
func TestClosedLoopOmits(t *testing.T) {
	const stall = 2 * time.Second
	var mu sync.Mutex
	var start time.Time
	address, _ := raw(t, func(c *net.TCPConn, next func() bool) {
		for next() {
			mu.Lock()
			if start.IsZero() {
				start = time.Now()
			}
			begin := start
			mu.Unlock()
			time.Sleep(2 * time.Millisecond)
			if d := time.Since(begin); d > time.Second && d < time.Second+stall {
				time.Sleep(time.Second + stall - d)
			}
			io.WriteString(c, ok)
		}
	})
	s, _ := begin(t, Spec{Address: address, Connections: 4, Reuse: true})
	time.Sleep(2 * stall)
	total := s.stop()
	slow := total.Counts.SlowOver1s
	if slow != 4 || total.Counts.OK < 800 {
		t.Errorf("%d slow requests, outcomes %s", slow, s.outcomes())
	}
	if p99 := time.Duration(total.Latency.Quantile(0.99)); p99 > stall/4 {
		t.Errorf("p99 is %v", p99)
	}
	if longest := time.Duration(total.Latency.Max()); longest < stall/2 {
		t.Errorf("the longest latency is %v", longest)
	}
}
