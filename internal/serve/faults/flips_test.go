package faults

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
)

var flips = flag.Int("flips", 60, "how many toxics come and go in TestFlipsUnderLoad")

// A tally is what clients came to.
type tally struct{ asked, refused, broken, other atomic.Int64 }

// clients ask over short connections, as fast as they can, until stop; a wrong byte fails the test.
func clients(t *testing.T, address string, n int) (sum *tally, stop func()) {
	sum = &tally{}
	over := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			sent, got := bytes.Repeat([]byte{byte('a' + i)}, 20_000), make([]byte, 20_000)
			for {
				select {
				case <-over:
					return
				default:
				}
				c, err := net.Dial("tcp", address)
				if err != nil {
					sum.count(t, err)
					time.Sleep(100 * time.Microsecond)
					continue
				}
				c.SetDeadline(time.Now().Add(servetest.Patience))
				for range 10 {
					if _, err = c.Write(sent); err == nil {
						_, err = io.ReadFull(c, got)
					}
					if err != nil {
						sum.count(t, err)
						break
					}
					sum.asked.Add(1)
					if !bytes.Equal(sent, got) {
						t.Error("what came is not what was sent")
					}
				}
				c.Close()
			}
		})
	}
	return sum, func() {
		close(over)
		wg.Wait()
	}
}

func (s *tally) count(t *testing.T, err error) {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		s.refused.Add(1)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		s.broken.Add(1)
	default:
		s.other.Add(1)
		t.Errorf("a client saw %v", err)
	}
}

// drawn is a toxic for a few milliseconds.
func drawn(r *rand.Rand) Control {
	kind := Types()[r.IntN(len(kinds))]
	c := of(kind, map[string]any{
		"refuse": Refuse{}, "blackhole": Blackhole{}, "stall": Stall{}, "timeout": Timeout{time.Duration(r.IntN(4)) * time.Millisecond},
		"latency": Latency{3 * time.Millisecond, time.Millisecond, Distributions()[r.IntN(3)]}, "bandwidth": Bandwidth{float64(1 + r.IntN(20_000_000)), r.IntN(2) == 0},
		"slice": Slice{1 + r.IntN(8000), 0}, "limit-data": LimitData{r.Int64N(40_000)}, "reset-after": ResetAfter{r.Int64N(3) * r.Int64N(20_000)},
		"slow-close": SlowClose{3 * time.Millisecond},
	}[kind])
	c.Add.Stream, c.Add.Seed = []string{Upstream, Downstream, Both}[r.IntN(3)], r.Uint64()
	if kind == "blackhole" {
		c.Add.Stream = Both
	}
	if kind != "refuse" && r.IntN(2) == 0 {
		c.Add.Share = 0.1 + 0.9*r.Float64()
	}
	return c
}

// Toxics of all kinds come and go under load, up to three at a time. Whatever goes wrong for a client is in the relay's
// books, nothing is left, and the same load without them has no error at all.
func TestFlipsUnderLoad(t *testing.T) {
	for _, n := range []int{0, *flips} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			servetest.CheckLeaks(t)
			s := start(t, servetest.Upstream(t, servetest.Echo), "web")
			sum, stop := clients(t, s.Addresses()["web"], 8)
			asked := func(more int64) {
				t.Helper()
				from := sum.asked.Load()
				servetest.Eventually(t, "the load goes on", func() bool { return sum.asked.Load() >= from+more })
			}
			asked(100)
			r := rand.New(rand.NewPCG(1, uint64(n)))
			did := map[string]Effect{}
			take := func(name string) {
				e := remove(t, s, name)
				if e.Type != "" {
					did[e.Type] = did[e.Type].Plus(e)
				}
			}
			for i := range n {
				c := drawn(r)
				c.Add.Name = fmt.Sprint("toxic", i)
				if i%7 == 0 {
					c.Add.TTL = 3 * time.Millisecond
				}
				control(t, s, c)
				time.Sleep(time.Duration(1+r.IntN(3)) * time.Millisecond)
				take(fmt.Sprint("toxic", i-r.IntN(3)))
				if i%3 == 2 {
					for j := i - 5; j <= i; j++ {
						take(fmt.Sprint("toxic", j))
					}
				}
				if i%21 == 20 {
					asked(50)
				}
			}
			for i := range n {
				take(fmt.Sprint("toxic", i))
			}
			asked(100)
			stop()
			servetest.Eventually(t, "all closed", func() bool { return s.Sample().Relays["web"].Live == 0 })
			books := s.Sample().Relays["web"]
			if books.Toxics != nil || books.DialErrors > 0 || books.AcceptErrors > 0 {
				t.Errorf("afterwards %+v", books)
			}
			refused, broken := sum.refused.Load(), sum.broken.Load()
			if explained := books.Resets + books.Closed + books.Refused; refused > books.Refused || refused+broken > explained {
				t.Errorf("clients were refused %d times and broken off %d times; the relay counted %+v", refused, broken, books)
			}
			if n == 0 && refused+broken+books.Resets+books.Closed+books.Refused > 0 {
				t.Errorf("without toxics clients were refused %d times and broken off %d times; %+v", refused, broken, books)
			}
			for _, kind := range Types() {
				if e := did[kind]; n >= 60 && e.Type == "" {
					t.Errorf("no %s among %d", kind, n)
				}
			}
			t.Logf("%d flips: %d requests, %d refused, %d broken off; %d resets, %d closed, %d refused in the books; acted %v", n, sum.asked.Load(), refused, broken,
				books.Resets, books.Closed, books.Refused, sorted(books.Acted))
		})
	}
}

// What only delays breaks nothing, however often it comes and goes under load.
func TestDelaysBreakNothing(t *testing.T) {
	for kind, attributes := range map[string]any{"latency": Latency{2 * time.Millisecond, time.Millisecond, "pareto"}, "bandwidth": Bandwidth{5e6, true},
		"slice": Slice{Size: 500}, "slow-close": SlowClose{3 * time.Millisecond}, "stall": Stall{}} {
		t.Run(kind, func(t *testing.T) {
			servetest.CheckLeaks(t)
			s := start(t, servetest.Upstream(t, servetest.Echo), "web")
			sum, stop := clients(t, s.Addresses()["web"], 4)
			for range 10 {
				c := of(kind, attributes)
				c.Add.Stream, c.Add.Share, c.Add.Seed = Both, 0.7, 1
				control(t, s, c)
				servetest.Eventually(t, "it acts on several", func() bool { return s.Sample().Relays["web"].Toxics[kind].Connections > 1 })
				remove(t, s, kind)
			}
			stop()
			servetest.Eventually(t, "all closed", func() bool { return s.Sample().Relays["web"].Live == 0 })
			r := s.Sample().Relays["web"]
			if broken := sum.refused.Load() + sum.broken.Load(); broken+r.Resets+r.Closed+r.Refused+r.DialErrors > 0 || r.BytesUp != r.BytesDown {
				t.Errorf("%d clients were broken off; %+v", broken, r)
			}
		})
	}
}

func sorted(m map[string]int64) (out []string) {
	for k, v := range m {
		out = append(out, fmt.Sprint(k, " ", v))
	}
	slices.Sort(out)
	return out
}
