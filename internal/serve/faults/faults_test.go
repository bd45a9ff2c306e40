package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"

	"github.com/planrun/planrun/internal/serve/servetest"
	"github.com/planrun/planrun/internal/worker"
)

// start runs a relay of each name in front of the upstream.
func start(t *testing.T, upstream string, names ...string) *Server {
	t.Helper()
	var spec Spec
	for _, name := range names {
		spec.Relays = append(spec.Relays, Relay{name, "127.0.0.1:0", upstream})
	}
	s, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(servetest.Over()) })
	return s
}

func dial(t *testing.T, s *Server, name string) *net.TCPConn {
	t.Helper()
	return servetest.Dial(t, s.Addresses()[name])
}

// ask sends five bytes and waits for their echo.
func ask(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	began := time.Now()
	c.Write([]byte("hello"))
	if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// of is a control message that adds a toxic, of its kind's name, for an hour.
func of(kind string, attributes any) Control {
	body, _ := json.Marshal(attributes)
	return Control{Add: &Toxic{Type: kind, Attributes: body, TTL: time.Hour}}
}

func latencyOf(d time.Duration, stream string, ttl time.Duration) Control {
	c := of("latency", Latency{Latency: d})
	c.Add.Stream, c.Add.TTL = stream, ttl
	return c
}

func control(t *testing.T, s *Server, c Control) Reply {
	t.Helper()
	r, err := s.Control(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// remove takes a toxic away and returns what it did, on all relays.
func remove(t *testing.T, s *Server, name string) (sum Effect) {
	t.Helper()
	for _, e := range control(t, s, Control{Remove: name}).Effects {
		sum = sum.Plus(e)
	}
	return sum
}

// inForce are the names of the toxics in force at a relay.
func inForce(s *Server, name string) []string {
	return slices.Sorted(maps.Keys(s.Sample().Relays[name].Toxics))
}

func TestLatencyOnALiveConnection(t *testing.T) {
	for _, direction := range []string{Downstream, Upstream} {
		t.Run(direction, func(t *testing.T) {
			servetest.CheckLeaks(t)
			s := start(t, servetest.Upstream(t, servetest.Echo), "one", "two")
			one, two := dial(t, s, "one"), dial(t, s, "two")
			ask(t, one)
			const added = 30 * time.Millisecond
			c := latencyOf(added, direction, time.Hour)
			c.Relays = []string{"one"}
			if r := control(t, s, c); r.Relays != 1 {
				t.Errorf("reply %+v", r)
			}
			for range 3 {
				if took := ask(t, one); took < added {
					t.Errorf("took %v under a latency of %v", took, added)
				}
				ask(t, two)
			}
			if one, two := inForce(s, "one"), inForce(s, "two"); !slices.Equal(one, []string{"latency"}) || two != nil {
				t.Errorf("in force: %q and %q", one, two)
			}
			r := control(t, s, Control{Remove: "latency"})
			e := r.Effects["one"]
			if got, of := e.Measured(); r.Relays != 1 || e.Connections != 1 || e.Chunks != 3 || e.Bytes != 15 || of != 3 || got < 30 {
				t.Errorf("what it did: %+v", r)
			}
			ask(t, one)
			if now := inForce(s, "one"); now != nil {
				t.Errorf("after: %q", now)
			}
			// The client may have the bytes before the relay has counted them.
			servetest.Eventually(t, "the counters hold all that passed", func() bool {
				r := s.Sample().Relays["one"]
				return r.Opened == 1 && r.Live == 1 && r.BytesUp == 25 && r.BytesDown == 25 && r.Chunks == 10 && r.Acted["latency"] == 1
			})
		})
	}
}

func TestAFaultEndsByItself(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web")
	c := dial(t, s, "web")
	for ttl := 50 * time.Millisecond; ; ttl *= 2 {
		began := time.Now()
		control(t, s, latencyOf(10*time.Minute, Downstream, ttl))
		ask(t, c)
		took := time.Since(began) // it waits for the end of the fault
		e := remove(t, s, "latency")
		if e.Chunks == 0 && ttl < servetest.Patience {
			continue // this machine stood still: the fault was over before the chunk came
		}
		if !e.Over || e.Chunks != 1 || e.Of != 0 || took < ttl {
			t.Errorf("after its time to live of %v: took %v, %+v", ttl, took, e)
		}
		break
	}
	control(t, s, latencyOf(0, Downstream, 20*time.Millisecond))
	control(t, s, latencyOf(0, Downstream, time.Hour))
	time.Sleep(40 * time.Millisecond)
	if now := inForce(s, "web"); len(now) != 1 {
		t.Errorf("the second one of the name did not live on: %q", now)
	}
}

func TestRemovingReleases(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web")
	c := dial(t, s, "web")
	ask(t, c)
	control(t, s, latencyOf(10*time.Minute, Upstream, time.Hour))
	c.Write([]byte("x"))
	time.Sleep(20 * time.Millisecond) // so that the relay has most likely read it
	control(t, s, Control{Remove: "latency"})
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

func TestClientsThatLeaveUnderAFault(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, func(c *net.TCPConn) {
		for {
			if _, err := c.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}), "web")
	control(t, s, latencyOf(10*time.Minute, Downstream, time.Hour))
	for range 20 {
		c := dial(t, s, "web")
		servetest.Eventually(t, "linked", func() bool { return s.Sample().Relays["web"].Live > 0 })
		c.SetLinger(0)
		c.Close()
	}
	servetest.Eventually(t, "no connection left", func() bool { r := s.Sample().Relays["web"]; return r.Opened == 20 && r.Live == 0 })
}

func TestHalfCloseAndReset(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c)
		if string(all) == "reset" {
			c.SetLinger(0)
			return
		}
		c.Write(bytes.ToUpper(all))
	}), "web")
	for _, size := range []int{0, 1, 32 << 10, 3 << 20} {
		c := dial(t, s, "web")
		sent := bytes.Repeat([]byte("a"), size)
		go func() {
			c.Write(sent)
			c.CloseWrite()
		}()
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, bytes.ToUpper(sent)) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		c.Close()
	}
	c := dial(t, s, "web")
	io.WriteString(c, "reset")
	c.CloseWrite()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the upstream's reset came as %v", err)
	}
	servetest.Eventually(t, "all closed", func() bool { return s.Sample().Relays["web"].Live == 0 })
	if r := s.Sample().Relays["web"]; r.Opened != 5 || r.BytesDown != 1+32<<10+3<<20 || r.BytesUp != r.BytesDown+5 {
		t.Errorf("counted %+v", r)
	}
}

func TestFaultsComeAndGoUnderTraffic(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web")
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			sent, got := bytes.Repeat([]byte{byte(i)}, 20000), make([]byte, 20000)
			for ctx.Err() == nil {
				c, err := net.Dial("tcp", s.Addresses()["web"])
				if err != nil {
					t.Error(err)
					return
				}
				c.SetDeadline(time.Now().Add(20 * time.Second))
				for range 10 {
					c.Write(sent)
					if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(sent, got) {
						t.Errorf("not what was sent: %v", err)
						break
					}
				}
				c.Close()
			}
		})
	}
	for i := range 150 {
		direction := []string{Upstream, Downstream}[i%2]
		c := latencyOf(time.Duration(i%4)*time.Millisecond, direction, time.Duration(1+i%8)*time.Millisecond)
		c.Add.Name = fmt.Sprint("toxic", i%3)
		control(t, s, c)
		time.Sleep(2 * time.Millisecond)
		control(t, s, Control{Remove: fmt.Sprint("toxic", (i+1)%3)})
	}
	stop()
	wg.Wait()
	servetest.Eventually(t, "all closed", func() bool { return s.Sample().Relays["web"].Live == 0 })
	r := s.Sample().Relays["web"]
	if r.BytesUp != r.BytesDown || r.BytesUp%200000 != 0 || r.Acted["latency"] == 0 {
		t.Errorf("counted %+v", r)
	}
}

func TestUpstreamGone(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Refusing(t), "web")
	c, err := net.Dial("tcp", s.Addresses()["web"])
	if err == nil {
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	servetest.Eventually(t, "given up", func() bool { return s.Sample().Relays["web"].Live == 0 })
	if r := s.Sample().Relays["web"]; r.Opened != 1 || r.DialErrors != 1 {
		t.Errorf("counted %+v", r)
	}
}

func TestGracefulStop(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web")
	c := dial(t, s, "web")
	control(t, s, latencyOf(10*time.Minute, Downstream, time.Hour))
	c.Write([]byte("x"))
	servetest.Eventually(t, "passed on", func() bool { return s.Sample().Relays["web"].BytesUp == 1 })
	s.Stop(t.Context()) // it ends the fault, and what it held arrives
	if got, err := io.ReadAll(c); err != nil || string(got) != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		relays []Relay
		want   string
	}{
		{nil, "no relay is given"},
		{[]Relay{{Listen: "127.0.0.1:0", Upstream: "x:1"}}, "a name of its own"},
		{[]Relay{{"a", "127.0.0.1:0", "x:1"}, {"a", "127.0.0.1:0", "x:1"}}, "a name of its own"},
		{[]Relay{{"a", "127.0.0.1:0", ""}}, "needs an upstream"},
		{[]Relay{{"a", "nowhere", "x:1"}}, "listener a: "},
	} {
		_, err := Start(Spec{test.relays})
		if e, ok := errors.AsType[*worker.Error](err); !ok || e.Class != "spec" || !strings.Contains(e.Message, test.want) {
			t.Errorf("%+v: %v, want %q", test.relays, err, test.want)
		}
	}
	s := start(t, "127.0.0.1:1", "web")
	for _, test := range []struct{ control, want string }{
		{`{"relays": ["wbe"], "remove": "x"}`, `relay "wbe": there is web`},
		{`{}`, "exactly one of add and remove"},
		{`{"remove": "x", "add": {"type": "latency", "ttl": 1}}`, "exactly one of add and remove"},
		{`{"add": {"type": "bandwith", "ttl": 1}}`, `toxic type "bandwith": there are refuse, blackhole, stall, timeout, latency, bandwidth`},
		{`{"add": {"type": "bandwidth", "ttl": 1}}`, `at least a byte a second`},
		{`{"add": {"type": "slice", "ttl": 1}}`, `at least a byte`},
		{`{"add": {"type": "slice", "ttl": 1, "attributes": {"size": 1, "delay": -1}}}`, `from 0 to 10m`},
		{`{"add": {"type": "slow-close", "ttl": 1, "attributes": {"delay": -1}}}`, `from 0 to 10m`},
		{`{"add": {"type": "timeout", "ttl": 1, "attributes": {"timeout": -1}}}`, `from 0 to 24h`},
		{`{"add": {"type": "reset-after", "ttl": 1, "attributes": {"bytes": -1}}}`, `cannot be negative`},
		{`{"add": {"type": "limit-data", "ttl": 1, "attributes": {"bytes": -1}}}`, `cannot be negative`},
		{`{"add": {"type": "stall", "ttl": 1, "attributes": {"for": 1}}}`, `unknown field "for"`},
		{`{"add": {"type": "stall", "ttl": 1, "share": 1.5}}`, `a share of 1.5`},
		{`{"add": {"type": "latency"}}`, "needs a time to live"},
		{`{"add": {"type": "latency", "ttl": 1, "stream": "sideways"}}`, `stream "sideways": there are downstream, upstream and both`},
		{`{"add": {"type": "latency", "ttl": 1, "attributes": {"latncy": 1}}}`, `unknown field "latncy"`},
		{`{"add": {"type": "latency", "ttl": 1, "attributes": {"latency": -1}}}`, "neither can be negative"},
		{`{"add": {"type": "latency", "ttl": 1, "attributes": {"latency": 1, "jitter": 2}}}`, "jitter 2ns is more than the latency of 1ns (uniform): delays below zero would be cut off"},
		{`{"add": {"type": "latency", "ttl": 1, "attributes": {"latency": 3, "jitter": 2, "distribution": "normal"}}}`, "jitter 2ns is more than a third of the latency of 3ns (normal): delays below zero would be cut off"},
		{`{"add": {"type": "latency", "ttl": 1, "attributes": {"latency": 1, "jitter": 2, "distribution": "pareto"}}}`, "jitter 2ns is more than the latency of 1ns (pareto): a larger deviation would come from delays too rare"},
		{`{"add": {"type": "latency", "ttl": 1, "attributes": {"latency": 3, "distribution": "gauss"}}}`, `distribution "gauss": there are normal, pareto, uniform`},
		{`{"add": {"type": "latency", "ttl": 1, "attributes": {"latency": 700000000000}}}`, "at most 10m0s"},
	} {
		var c Control
		if err := json.Unmarshal([]byte(test.control), &c); err != nil {
			t.Fatal(err)
		}
		_, err := s.Control(c)
		if e, ok := errors.AsType[*worker.Error](err); !ok || e.Class != "spec" || !strings.Contains(e.Message, test.want) {
			t.Errorf("%s: %v, want %q", test.control, err, test.want)
		}
	}
	if inForce(s, "web") != nil {
		t.Error("a wrong control message changed something")
	}
}

// doubling and dropping stand for toxics that make more and less of a chunk.
type doubling struct{}

func (doubling) pass(c *stream.StreamChunk, next func(*stream.StreamChunk)) {
	next(c)
	next(c)
}

type dropping struct{ n int }

func (d *dropping) pass(c *stream.StreamChunk, next func(*stream.StreamChunk)) {
	if d.n++; d.n%3 != 0 {
		next(c)
	}
}

func TestEffectsInARow(t *testing.T) {
	for _, test := range []struct {
		effects []effect
		want    int
	}{
		{nil, 3}, {[]effect{doubling{}}, 6}, {[]effect{doubling{}, doubling{}}, 12},
		{[]effect{&dropping{}, doubling{}}, 4}, {[]effect{doubling{}, &dropping{}}, 4}, {[]effect{&dropping{}}, 2},
	} {
		got := 0
		var all []*working
		for _, e := range test.effects {
			all = append(all, &working{hold: unlinked(Toxic{}), effect: e})
		}
		for range 3 {
			through(all, &stream.StreamChunk{}, func(*stream.StreamChunk) { got++ })
		}
		if got != test.want {
			t.Errorf("%d effects passed %d of 3, want %d", len(test.effects), got, test.want)
		}
	}
}
