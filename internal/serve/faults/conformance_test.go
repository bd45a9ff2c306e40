package faults

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
)

// What each toxic does, as its peers see it: a client, and an upstream that tells what it saw. Delays have lower bounds
// only; what must come has servetest.Patience.

// A seen is what an upstream saw of a connection until its end.
type seen struct {
	data []byte
	err  error // nil: the stream ended in order
}

// telling is an upstream that answers "hello" with itself, "flood" with many bytes, ends at "bye", and tells what it saw.
func telling(t *testing.T) (address string, told chan seen) {
	told = make(chan seen, 1000)
	address = servetest.Upstream(t, func(c *net.TCPConn) {
		var s seen
		defer func() { told <- s }()
		b := make([]byte, 5)
		for {
			n, err := c.Read(b)
			s.data = append(s.data, b[:n]...)
			if err != nil {
				if err != io.EOF {
					s.err = err
				}
				return
			}
			switch string(b[:n]) {
			case "flood":
				_, err = c.Write(make([]byte, flooded))
			case "bye":
				err = c.CloseWrite()
			default:
				_, err = c.Write(b[:n])
			}
			if err != nil { // a reset is said once only
				s.err = err
				return
			}
		}
	})
	return address, told
}

const flooded = 300_000

// ended waits for what an upstream saw of the next connection that ends.
func ended(t *testing.T, told chan seen) seen {
	t.Helper()
	select {
	case s := <-told:
		return s
	case <-time.After(servetest.Patience):
		t.Fatal("the upstream's connection did not end")
		return seen{}
	}
}

// silent fails if anything comes within a moment.
func silent(t *testing.T, c *net.TCPConn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	defer c.SetReadDeadline(time.Now().Add(servetest.Patience))
	var timeout net.Error
	if n, err := c.Read(make([]byte, 100)); n > 0 || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("read %d bytes, %v, where nothing should come", n, err)
	}
}

// every is one of each kind, as an engine would ask for it.
var every = map[string]any{"refuse": Refuse{}, "blackhole": Blackhole{}, "stall": Stall{}, "timeout": Timeout{time.Hour}, "latency": Latency{Latency: time.Minute},
	"bandwidth": Bandwidth{Rate: 1, Shared: true}, "slice": Slice{Size: 1, Delay: time.Minute}, "limit-data": LimitData{}, "reset-after": ResetAfter{}, "slow-close": SlowClose{time.Minute}}

// An engine that died takes no toxic away. Each ends by itself, and a new connection is as good as ever.
func TestEveryKindEndsByItself(t *testing.T) {
	for _, kind := range Types() {
		t.Run(kind, func(t *testing.T) {
			servetest.CheckLeaks(t)
			s := start(t, servetest.Upstream(t, servetest.Echo), "web")
			c := of(kind, every[kind])
			c.Add.TTL, c.Add.Stream = 20*time.Millisecond, Both
			began := time.Now()
			control(t, s, c)
			met := servetest.Refuses(s.Addresses()["web"])
			if kind == "refuse" && !met && time.Since(began) < 10*time.Millisecond {
				t.Error("it was not refused")
			}
			servetest.Eventually(t, "it ends", func() bool { return inForce(s, "web") == nil })
			ask(t, dial(t, s, "web"))
			if e := remove(t, s, kind); !e.Over || e.Type != kind {
				t.Errorf("it says %+v", e)
			}
			if r := control(t, s, Control{Remove: kind}); r.Relays != 0 {
				t.Error("it was removed twice")
			}
		})
	}
}

// Several act in the order of their kinds, whoever came first.
func TestTogether(t *testing.T) {
	servetest.CheckLeaks(t)
	address, _ := telling(t)
	s := start(t, address, "web")
	for _, kind := range []string{"limit-data", "slice", "latency", "bandwidth"} {
		control(t, s, of(kind, map[string]any{"limit-data": LimitData{2500}, "slice": Slice{Size: 1000}, "latency": Latency{Latency: 30 * time.Millisecond},
			"bandwidth": Bandwidth{Rate: 50_000}}[kind]))
	}
	var order []string
	for _, f := range s.relays["web"].down.current.Load().faults {
		order = append(order, f.kind)
	}
	if want := []string{"latency", "bandwidth", "slice", "limit-data"}; !slices.Equal(order, want) {
		t.Errorf("they act in the order %q", order)
	}
	c := dial(t, s, "web")
	began := time.Now()
	io.WriteString(c, "flood")
	got, err := io.ReadAll(c)
	if took := time.Since(began); len(got) != 2500 || err != nil || took < 80*time.Millisecond {
		t.Errorf("got %d, %v, after %v; want 2500 after 30 ms of latency and 50 ms of bandwidth", len(got), err, took)
	}
}

// Another toxic that comes and goes leaves alone what one has begun.
func TestOthersDoNotDisturb(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web")
	control(t, s, of("limit-data", LimitData{12}))
	c := dial(t, s, "web")
	for range 2 {
		ask(t, c)
		control(t, s, of("slice", Slice{Size: 1}))
		control(t, s, Control{Remove: "slice"})
	}
	held := of("stall", Stall{})
	held.Add.Stream = Upstream
	control(t, s, held)
	io.WriteString(c, "hello")
	control(t, s, of("slow-close", SlowClose{}))
	silent(t, c)
	remove(t, s, "stall")
	if got, err := io.ReadAll(c); string(got) != "he" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Each connection is hit or spared as a whole, and the seed says which.
func TestShareOfConnections(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web")
	hit := func(seed uint64) (all []bool) {
		c := of("limit-data", LimitData{3})
		c.Add.Share, c.Add.Seed = 0.5, seed
		control(t, s, c)
		for range 40 {
			c := dial(t, s, "web")
			io.WriteString(c, "hello")
			n, err := io.ReadFull(c, make([]byte, 5))
			all = append(all, err != nil)
			if err != nil && n != 3 {
				t.Errorf("got %d bytes, %v", n, err)
			}
			for range 10 {
				if err == nil {
					ask(t, c)
				}
			}
			c.Close()
		}
		n := int64(0)
		for _, h := range all {
			if h {
				n++
			}
		}
		if e := remove(t, s, "limit-data"); e.Closed != n || e.Connections != n || n < 5 || n > 35 {
			t.Errorf("%d of 40 were hit, counted %+v", n, e)
		}
		return all
	}
	first := hit(1)
	if !slices.Equal(first, hit(1)) {
		t.Error("the same seed hit others")
	}
	if slices.Equal(first, hit(2)) {
		t.Error("another seed hit the same")
	}
}

// A half-closed connection stays half-closed under what delays.
func TestHalfCloseUnderToxics(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c)
		c.Write(bytes.ToUpper(all))
	}), "web")
	for kind, attributes := range map[string]any{"latency": Latency{Latency: time.Millisecond}, "bandwidth": Bandwidth{Rate: 1e7}, "slice": Slice{Size: 100}, "slow-close": SlowClose{time.Millisecond}} {
		add := of(kind, attributes)
		add.Add.Stream = Both
		control(t, s, add)
		c := dial(t, s, "web")
		sent := bytes.Repeat([]byte("a"), 50_000)
		go func() {
			c.Write(sent)
			c.CloseWrite()
		}()
		if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, bytes.ToUpper(sent)) {
			t.Errorf("%s: got %d, %v", kind, len(got), err)
		}
		remove(t, s, kind)
	}
}
