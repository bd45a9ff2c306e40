package load

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/hdr"
)

// The origin of the known answers: request k, due at k/knownRate, is answered at a time that is known before. Answers have
// absolute times, so that no lateness of the origin adds to that of later ones.
const (
	knownRate = 200.0
	stallFrom = 800 * time.Millisecond
	stallTo   = 2000 * time.Millisecond
	catchUp   = time.Millisecond
)

func dueAt(k int) time.Duration { return time.Duration(float64(k) / knownRate * 1e9) }

// constant answers everything after 10 ms.
func constant(total int) []time.Duration {
	at := make([]time.Duration, total)
	for k := range at {
		at[k] = dueAt(k) + 10*time.Millisecond
	}
	return at
}

// bimodal answers a tenth of all after 120 ms and the rest after 5 ms.
func bimodal(total int) []time.Duration {
	at := make([]time.Duration, total)
	for k := range at {
		at[k] = dueAt(k) + 5*time.Millisecond
		if k%10 == 3 {
			at[k] = dueAt(k) + 120*time.Millisecond
		}
	}
	return at
}

// stalling spreads evenly between 2 and 22 ms, but nothing is answered during a stall, and afterwards what has queued up is
// answered in order, one a millisecond.
func stalling(total int) []time.Duration {
	at := make([]time.Duration, total)
	queue := stallTo
	for k := range at {
		at[k] = dueAt(k) + 2*time.Millisecond + time.Duration(k*37%100)*200*time.Microsecond
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

// misses tells at how many of the checked quantiles h is not between those of the exact bounds, but for the histogram's error
// (one in a thousand).
func misses(t *testing.T, h *hdr.Histogram, low, high []time.Duration) (n int) {
	t.Helper()
	for _, q := range []float64{0.05, 0.25, 0.5, 0.75, 0.9, 0.99, 1} {
		least, most := quantile(low, q), quantile(high, q)
		if got := time.Duration(h.Quantile(q)); got < least-least/1000 || got > most+most/1000 {
			t.Logf("p%v: %v, known to be between %v and %v", 100*q, got, least, most)
			n++
		}
	}
	return n
}

// TestKnownAnswers: over every protocol latencies from the due time are what the origin's script says. During a stall those
// from the send are not: the same check fails for them, because requests that could not be sent do not count its length.
func TestKnownAnswers(t *testing.T) {
	protocols := map[string]Spec{
		"h1":  {Connections: 20},
		"TLS": {Connections: 20, Scheme: "https"},
		"h2":  {Connections: 2, Streams: 10, Protocol: "h2", Scheme: "https"},
		"h2c": {Connections: 2, Streams: 10, Protocol: "h2c"},
	}
	for protocol, spec := range protocols {
		for _, tt := range []struct {
			name   string
			script func(total int) []time.Duration
			total  int
			stalls bool
		}{{"constant", constant, 200, false}, {"bimodal", bimodal, 200, false}, {"stalling", stalling, 600, true}} {
			t.Run(protocol+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				checkKnown(t, spec, tt.script(tt.total), tt.stalls)
			})
		}
	}
}

// checkKnown runs a load against an origin that answers request k, which asks for /k, at at[k] after the start.
func checkKnown(t *testing.T, spec Spec, at []time.Duration, stalls bool) {
	var mu sync.Mutex
	var start time.Time // or a little later
	started := make(chan struct{})
	answering, answered := make([]time.Duration, len(at)), make([]time.Duration, len(at))
	var verified atomic.Bool
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil || r.Method != "HEAD" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if !verified.Load() {
			return
		}
		<-started
		time.Sleep(time.Until(start.Add(at[k])))
		before := time.Since(start)
		_ = http.NewResponseController(w).Flush() // all of an answer to HEAD; with HTTP/2 an error says that it is all
		mu.Lock()
		defer mu.Unlock()
		if answered[k] != 0 {
			t.Errorf("request %d came twice", k)
		}
		answering[k], answered[k] = before, time.Since(start)
	}))
	if spec.Scheme == "https" {
		srv.EnableHTTP2 = true
		srv.StartTLS()
	} else {
		srv.Config.Protocols = new(http.Protocols)
		srv.Config.Protocols.SetHTTP1(true)
		srv.Config.Protocols.SetUnencryptedHTTP2(true)
		srv.Start()
	}
	defer srv.Close()
	spec.Address, spec.Method, spec.Reuse, spec.Timeout = srv.Listener.Addr().String(), "HEAD", true, 20*time.Second
	spec.SpreadPath = fmt.Sprintf("/{0..%d}", len(at)-1)
	spec.Rate = []RateStep{{knownRate, knownRate, dueAt(len(at))}}
	s := process(t)
	var ready Ready
	if err := s.client.Configure(t.Context(), spec, &ready); err != nil || ready.Verified != len(at) {
		t.Fatalf("%+v, %v", ready, err)
	}
	verified.Store(true)
	before := time.Now()
	if err := s.client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	start = time.Now()
	uncertain := start.Sub(before)
	close(started)
	time.Sleep(dueAt(len(at)))
	total := s.stop()
	if n := int64(len(at)); total.Counts.OK != n || total.Counts.Due != n {
		t.Fatalf("outcomes: %s", s.outcomes())
	}
	mu.Lock()
	defer mu.Unlock()
	// The generator may see an answer later than it was given. It records its stalls when it sends: add the distance of two
	// sends. The origin's server may write it later, which is no more than it is late otherwise.
	stalled, late := time.Duration(total.Counts.StalledLagNs), time.Duration(0)
	for k := range at {
		late = max(late, answered[k]-at[k])
	}
	lag := stalled + late + time.Duration(1e9/knownRate)
	low, high, script := make([]time.Duration, len(at)), make([]time.Duration, len(at)), make([]time.Duration, len(at))
	for k := range at {
		low[k], high[k], script[k] = answering[k]-dueAt(k), answered[k]-dueAt(k)+uncertain+lag, at[k]-dueAt(k)
	}
	slices.Sort(low)
	slices.Sort(high)
	slices.Sort(script)
	t.Logf("median %v, the script's %v; generator's lag %v, origin's %v, start within %v", time.Duration(total.Latency.Quantile(0.5)), quantile(script, 0.5), stalled, late, uncertain)
	if n := misses(t, total.Latency, low, high); n > 0 {
		t.Errorf("latencies from the due time differ from the known ones at %d quantiles", n)
	}
	if n := misses(t, total.Latency, script, slices.Repeat([]time.Duration{time.Hour}, len(at))); n > 0 {
		t.Errorf("latencies from the due time are less than the script's at %d quantiles", n)
	}
	if !stalls {
		return
	}
	if n := misses(t, total.Service, low, high); n < 2 && lag < 100*time.Millisecond {
		t.Errorf("times from the send agree with the known latencies but at %d quantiles: the check sees nothing", n)
	}
	// The recorded lag is what explains the difference: the longest wait is nearly that of the whole stall.
	if longest := time.Duration(total.Lag.Max()); longest < (stallTo-stallFrom)/2 {
		t.Errorf("the longest lag is %v", longest)
	}
}

// TestClosedLoopOmits: the same stall is one slow request for each connection of a closed loop, and its percentiles do
// not show that the target was away for half of the time.
func TestClosedLoopOmits(t *testing.T) {
	t.Parallel()
	const stall = 1500 * time.Millisecond
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
	if slow != 4 || total.Counts.OK < 500 {
		t.Errorf("%d slow requests, outcomes %s", slow, s.outcomes())
	}
	if p99 := time.Duration(total.Latency.Quantile(0.99)); p99 > stall/4 {
		t.Errorf("p99 is %v", p99)
	}
	if longest := time.Duration(total.Latency.Max()); longest < stall/2 {
		t.Errorf("the longest latency is %v", longest)
	}
}
