package faults

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// unlinked is a fault on a connection that is none, for what needs no network.
func unlinked(t Toxic) *hold {
	r := &relay{pairs: map[*pair]struct{}{}}
	r.acted = make([]atomic.Int64, len(kinds))
	return &hold{fault: &fault{relay: r, share: t.Share, seed: t.Seed, over: make(chan struct{})}, stream: Downstream,
		pair: &pair{relay: r, number: 1, began: time.Now(), done: make(chan struct{})}, flush: func() {}}
}

func draws(l Latency, seed, number uint64, stream string) (all []time.Duration) {
	h := unlinked(Toxic{Seed: seed})
	h.pair.number, h.stream = number, stream
	e := l.effect(h).(*latency)
	for range 100000 {
		all = append(all, e.draw(e.random))
	}
	return all
}

// Whatever the distribution, the mean is the latency, the deviation is what it says, and no delay is below zero.
func TestDistributions(t *testing.T) {
	for _, test := range []struct {
		Latency
		least, most, deviates time.Duration
	}{
		{Latency{Latency: 10 * time.Millisecond}, 10 * time.Millisecond, 10 * time.Millisecond, 0},
		{Latency{10 * time.Millisecond, 4 * time.Millisecond, ""}, 6 * time.Millisecond, 14 * time.Millisecond, 2309 * time.Microsecond},
		{Latency{10 * time.Millisecond, 10 * time.Millisecond, "uniform"}, 0, 20 * time.Millisecond, 5774 * time.Microsecond},
		{Latency{10 * time.Millisecond, 3 * time.Millisecond, "normal"}, time.Millisecond, 19 * time.Millisecond, 3 * time.Millisecond},
		{Latency{10 * time.Millisecond, 3 * time.Millisecond, "pareto"}, 7767 * time.Microsecond, MaxLatency, 3 * time.Millisecond},
	} {
		if err := test.check(); err != nil {
			t.Fatal(err)
		}
		if d := test.Deviation() - test.deviates; d.Abs() > 10*time.Microsecond {
			t.Errorf("%+v: asks for a deviation of %v", test.Latency, test.Deviation())
		}
		all := draws(test.Latency, 1, 1, Downstream)
		sum, squares := 0.0, 0.0
		for _, d := range all {
			sum += float64(d)
			squares += float64(d) * float64(d)
		}
		mean := sum / float64(len(all))
		deviates := math.Sqrt(max(0, squares/float64(len(all))-mean*mean))
		if math.Abs(mean/float64(test.Latency.Latency)-1) > 0.01 || math.Abs(deviates-float64(test.deviates)) > 0.1*float64(test.deviates)+1 {
			t.Errorf("%+v: mean %v, deviation %v", test.Latency, time.Duration(mean), time.Duration(deviates))
		}
		if low, high := slices.Min(all), slices.Max(all); low < test.least || high > test.most {
			t.Errorf("%+v: drew from %v to %v", test.Latency, low, high)
		}
	}
}

func TestDrawsRepeat(t *testing.T) {
	l := Latency{Latency: 10 * time.Millisecond, Jitter: 4 * time.Millisecond}
	first := draws(l, 7, 1, Downstream)
	if !slices.Equal(first, draws(l, 7, 1, Downstream)) {
		t.Error("the same seed and connection drew otherwise")
	}
	for _, other := range [][]time.Duration{draws(l, 7, 2, Downstream), draws(l, 8, 1, Downstream), draws(l, 7, 1, Upstream)} {
		if slices.Equal(first, other) {
			t.Error("another connection, seed or direction drew the same")
		}
	}
}

func TestShare(t *testing.T) {
	hit := func(share float64, seed uint64) (n int, all []bool) {
		h := unlinked(Toxic{Share: share, Seed: seed})
		for i := range 10000 {
			h.pair.number = uint64(i)
			all = append(all, h.hits(h.pair))
			if all[i] {
				n++
			}
			if h.hits(h.pair) != all[i] {
				t.Fatal("rolled again")
			}
		}
		return n, all
	}
	for share, want := range map[float64]int{0: 10000, 1: 10000, 0.5: 5000, 0.01: 100} {
		if n, _ := hit(share, 3); math.Abs(float64(n-want)) > 200 {
			t.Errorf("a share of %g hit %d of 10000", share, n)
		}
	}
	_, a := hit(0.5, 3)
	_, b := hit(0.5, 3)
	_, c := hit(0.5, 4)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("the seed does not say who is hit")
	}
}

func TestLatencyKeepsWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := unlinked(Toxic{})
		e := Latency{Latency: time.Second}.effect(h).(*latency)
		for i := range 3 { // read at the same time, and so due at the same time
			e.pass(&stream.StreamChunk{Timestamp: began}, func(c *stream.StreamChunk) {
				if got := time.Since(began); got != time.Second || c.Timestamp != began.Add(time.Second) {
					t.Errorf("chunk %d after %v, at %v", i, got, c.Timestamp)
				}
			})
		}
		if due := e.end(began.Add(time.Second)); due != began.Add(2*time.Second) || time.Since(began) != 2*time.Second {
			t.Errorf("the end of the stream was passed on after %v, due at %v", time.Since(began), due)
		}
		// What waits when the toxic ends does not count: it did not wait for as long as was asked.
		time.AfterFunc(time.Minute, func() { close(h.over) })
		began = time.Now()
		e.Latency.Latency = time.Hour
		e.end(began)
		if got := time.Since(began); got != time.Minute {
			t.Errorf("waited %v, want until the fault is over", got)
		}
		if s := h.sample(); s.Of != 4 || time.Duration(s.Sum) != 4*time.Second {
			t.Errorf("measured %+v", s)
		}
	})
}

// A line keeps its rate: whoever is late catches up, and time in which it could have sent and nobody took anything is lost.
func TestPace(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	p := &pace{}
	for i, step := range []struct {
		takes, came, now, due int // ms
		first                 bool
	}{
		{10, 0, 0, 10, true},
		{10, 0, 12, 20, false},  // 2 ms late
		{10, 21, 22, 31, true},  // it was free for 1 ms
		{10, 25, 75, 41, false}, // late, but not beyond what is caught up
		{10, 30, 400, 360, true},
	} {
		due, _, first := p.reserve(time.Duration(step.takes)*time.Millisecond, at(step.came), at(step.now))
		if due != at(step.due) || first != step.first {
			t.Errorf("step %d: due %v, first %v", i, due.Sub(at(0)), first)
		}
	}
	b := &burst{at(10)}
	for i, step := range []struct{ now, took int }{{20, 10}, {50, 30}, {40, 0}, {51, 1}} {
		if took := p.passed(b, at(step.now)); took != time.Duration(step.took)*time.Millisecond {
			t.Errorf("step %d: busy for %v", i, took)
		}
	}
}

func TestBandwidthCutsAndPaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := unlinked(Toxic{})
		e := Bandwidth{Rate: 10000}.effect(h).(*bandwidth)
		began, sum := time.Now(), 0
		e.pass(&stream.StreamChunk{Data: make([]byte, 1050), Timestamp: began}, func(c *stream.StreamChunk) {
			sum += len(c.Data)
			if want := time.Duration(sum) * 100 * time.Microsecond; time.Since(began) != want || len(c.Data) > 100 {
				t.Errorf("%d bytes came until %v, want %v", sum, time.Since(began), want)
			}
		})
		s := h.sample()
		s.Type = "bandwidth"
		if rate, of := s.Measured(); sum != 1050 || rate < 9999 || rate > 10001 || of != 950 {
			t.Errorf("passed %d, measured %g of %d", sum, rate, of)
		}
	})
}
