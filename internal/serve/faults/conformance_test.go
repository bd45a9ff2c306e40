package faults

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
				c.Write(make([]byte, flooded))
			case "bye":
				c.CloseWrite()
			default:
				c.Write(b[:n])
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

func TestEndOfStreamIsDelayed(t *testing.T) {
	for kind, attributes := range map[string]any{"latency": Latency{Latency: 40 * time.Millisecond}, "slow-close": SlowClose{40 * time.Millisecond}} {
		t.Run(kind, func(t *testing.T) {
			servetest.CheckLeaks(t)
			address, told := telling(t)
			s := start(t, address, "web")
			c := dial(t, s, "web")
			ask(t, c)
			control(t, s, of(kind, attributes))
			began := time.Now()
			io.WriteString(c, "bye")
			if got, err := io.ReadAll(c); len(got) > 0 || err != nil || time.Since(began) < 40*time.Millisecond {
				t.Errorf("the end came after %v with %q, %v", time.Since(began), got, err)
			}
			c.Close()
			if s := ended(t, told); string(s.data) != "hellobye" || s.err != nil {
				t.Errorf("the upstream saw %q, %v", s.data, s.err)
			}
			if got, of := remove(t, s, kind).Measured(); of != 1 || got < 40 {
				t.Errorf("measured %g of %d", got, of)
			}
		})
	}
}

func TestBandwidthFromOutside(t *testing.T) {
	const rate, connections = 2e6, 2
	for _, shared := range []bool{false, true} {
		servetest.CheckLeaks(t)
		address, _ := telling(t)
		s := start(t, address, "web")
		control(t, s, of("bandwidth", Bandwidth{rate, shared}))
		least := time.Duration(flooded / rate * float64(time.Second))
		if shared {
			least *= connections
		}
		least -= catchUp // which a line may be ahead of itself
		began := time.Now()
		var all []*net.TCPConn
		for range connections {
			c := dial(t, s, "web")
			io.WriteString(c, "flood")
			all = append(all, c)
		}
		done := make(chan error, connections)
		for _, c := range all {
			go func() {
				_, err := io.ReadFull(c, make([]byte, flooded))
				done <- err
			}()
		}
		for range all {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took < least {
			t.Errorf("shared %v: took %v, want %v at least", shared, took, least)
		}
		e := remove(t, s, "bandwidth")
		if got, of := e.Measured(); got > 1.1*rate || of < flooded*connections*8/10 || e.Connections != connections {
			t.Errorf("shared %v: measured %g B/s of %d: %+v", shared, got, of, e)
		}
		for _, c := range all {
			ask(t, c)
		}
	}
}

func TestSlicesFromOutside(t *testing.T) {
	servetest.CheckLeaks(t)
	address, _ := telling(t)
	s := start(t, address, "web")
	control(t, s, of("slice", Slice{Size: 1000, Delay: 200 * time.Microsecond}))
	c := dial(t, s, "web")
	io.WriteString(c, "flood")
	if _, err := io.ReadFull(c, make([]byte, flooded)); err != nil {
		t.Fatal(err)
	}
	segments := uint32(0)
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			segments = info.Data_segs_in
		}
	})
	// Loopback takes 64 KiB in one; the system may put some pieces together that were written while it was busy.
	if segments < flooded/1000/4 {
		t.Errorf("came in %d segments", segments)
	}
	if got, of := remove(t, s, "slice").Measured(); got > 1000 || got <= 500 || of < flooded/1000 {
		t.Errorf("measured %g of %d", got, of)
	}
}

// A connection that lives and a new one both end after exactly so many bytes, however they came.
func TestEndsAfterBytes(t *testing.T) {
	for _, kind := range []string{"reset-after", "limit-data"} {
		for _, size := range []int64{1, 1000, 100_000} {
			t.Run(kind, func(t *testing.T) {
				servetest.CheckLeaks(t)
				address, told := telling(t)
				s := start(t, address, "web")
				living := dial(t, s, "web")
				ask(t, living)
				control(t, s, of(kind, ResetAfter{size}))
				for _, c := range []*net.TCPConn{living, dial(t, s, "web")} {
					io.WriteString(c, "flood")
					got, err := io.ReadAll(c)
					if kind == "limit-data" && err != nil || kind == "reset-after" && !errors.Is(err, syscall.ECONNRESET) || int64(len(got)) != size {
						t.Errorf("after %d: got %d, %v", size, len(got), err)
					}
					c.Close()
					if s := ended(t, told); kind == "reset-after" && !errors.Is(s.err, syscall.ECONNRESET) {
						t.Errorf("after %d: the upstream saw %v", size, s.err)
					}
				}
				e := remove(t, s, kind)
				if got, of := e.Measured(); got != float64(size) || of != 2 || e.Resets+e.Closed != 2 || e.Connections != 2 {
					t.Errorf("after %d: %+v", size, e)
				}
				if r := s.Sample().Relays["web"]; r.Resets != e.Resets || r.Closed != e.Closed || kind == "limit-data" && r.Closed != 2 {
					t.Errorf("the relay counted %+v", r)
				}
			})
		}
	}
}

func TestEndsAfterBytesThatAreSent(t *testing.T) {
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	c := of("reset-after", ResetAfter{7})
	c.Add.Stream = Upstream
	control(t, s, c)
	client := dial(t, s, "web")
	ask(t, client)
	io.WriteString(client, "hello")
	got := ended(t, told)
	if string(got.data) != "hellohe" || !errors.Is(got.err, syscall.ECONNRESET) {
		t.Errorf("the upstream saw %q, %v", got.data, got.err)
	}
	if _, err := io.ReadAll(client); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client saw %v", err)
	}
}

// With 0 idle connections are reset at once, and new ones do not reach the upstream.
func TestResetAtOnce(t *testing.T) {
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	idle := dial(t, s, "web")
	ask(t, idle)
	control(t, s, of("reset-after", ResetAfter{}))
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the idle client saw %v", err)
	}
	if s := ended(t, told); !errors.Is(s.err, syscall.ECONNRESET) {
		t.Errorf("its upstream saw %v", s.err)
	}
	for range 3 {
		if c, err := net.Dial("tcp", s.Addresses()["web"]); err == nil { // the reset may come while it still connects
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("a new client saw %v", err)
			}
			c.Close()
		}
	}
	servetest.Eventually(t, "all are counted", func() bool { return s.Sample().Relays["web"].Resets == 4 })
	if e := remove(t, s, "reset-after"); e.Resets != 4 || e.Connections != 4 || e.Of != 4 || e.Sum != 0 {
		t.Errorf("counted %+v", e)
	}
	ask(t, dial(t, s, "web"))
	if len(told) > 0 {
		t.Error("a connection that was reset when it came reached the upstream")
	}
}

// A timeout is of the connection: what comes does not delay it, and nothing passes until then.
func TestTimeoutFromOutside(t *testing.T) {
	const after = 60 * time.Millisecond
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	living := dial(t, s, "web")
	ask(t, living)
	began := time.Now()
	c := of("timeout", Timeout{after})
	c.Add.Stream = Both
	control(t, s, c)
	for i, c := range []*net.TCPConn{living, dial(t, s, "web")} {
		stop := make(chan struct{})
		chatted := make(chan struct{})
		go func() {
			defer close(chatted)
			for {
				select {
				case <-stop:
					return
				case <-time.After(after / 10):
					c.Write([]byte("x"))
				}
			}
		}()
		got, err := io.ReadAll(c)
		close(stop)
		<-chatted
		if len(got) > 0 || err != nil || time.Since(began) < after {
			t.Errorf("connection %d ended after %v with %q, %v", i, time.Since(began), got, err)
		}
		c.Close()
	}
	a, b := ended(t, told), ended(t, told)
	if a.err != nil || b.err != nil || string(a.data)+string(b.data) != "hello" {
		t.Errorf("the upstream saw %q, %v and %q, %v", a.data, a.err, b.data, b.err)
	}
	e := remove(t, s, "timeout")
	if got, of := e.Measured(); got < 60 || of != 2 || e.Closed != 2 || e.Connections != 2 {
		t.Errorf("measured %g of %d: %+v", got, of, e)
	}
}

// Under a stall nothing passes, not even an end; afterwards all of it does.
func TestStallFromOutside(t *testing.T) {
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	c := dial(t, s, "web")
	ask(t, c)
	stall := of("stall", Stall{})
	stall.Add.Stream = Both
	control(t, s, stall)
	fresh := dial(t, s, "web")
	for _, c := range []*net.TCPConn{c, fresh} {
		io.WriteString(c, "hello")
		c.CloseWrite()
		silent(t, c)
	}
	if len(told) > 0 {
		t.Error("an end passed")
	}
	servetest.Eventually(t, "it holds what came", func() bool { return s.Sample().Relays["web"].Toxics["stall"].Held == 10 })
	e := remove(t, s, "stall")
	if e.Connections != 2 || e.Bytes != 10 || e.Held != 10 {
		t.Errorf("counted %+v", e)
	}
	for _, c := range []*net.TCPConn{c, fresh} {
		if got, err := io.ReadAll(c); string(got) != "hello" || err != nil {
			t.Errorf("afterwards %q, %v", got, err)
		}
		if s := ended(t, told); s.err != nil {
			t.Error(s.err)
		}
	}
}

// What a blackhole swallowed is gone: such connections are reset when it is over, the others go on.
func TestBlackholeFromOutside(t *testing.T) {
	servetest.CheckLeaks(t)
	address, told := telling(t)
	s := start(t, address, "web")
	idle, asking := dial(t, s, "web"), dial(t, s, "web")
	ask(t, idle)
	ask(t, asking)
	c := of("blackhole", Blackhole{})
	c.Add.Stream = Both
	control(t, s, c)
	fresh := dial(t, s, "web")
	for _, c := range []*net.TCPConn{asking, fresh} {
		io.WriteString(c, "hello")
		silent(t, c)
	}
	servetest.Eventually(t, "it swallows what came", func() bool { return s.Sample().Relays["web"].Toxics["blackhole"].Held == 10 })
	if e := remove(t, s, "blackhole"); e.Connections != 2 || e.Resets != 2 || e.Held != 10 {
		t.Errorf("counted %+v", e)
	}
	for _, c := range []*net.TCPConn{asking, fresh} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("when it was over the client saw %v", err)
		}
	}
	if s := ended(t, told); string(s.data) != "hello" || !errors.Is(s.err, syscall.ECONNRESET) {
		t.Errorf("the upstream saw %q, %v", s.data, s.err)
	}
	ask(t, idle)
	if len(told) > 0 {
		t.Error("the upstream saw a connection that came under it")
	}
}

// Who connects is refused; who is connected goes on; afterwards the same port listens.
func TestRefuseFromOutside(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo), "web", "other")
	at := s.Addresses()["web"]
	c := dial(t, s, "web")
	ask(t, c)
	add := of("refuse", Refuse{})
	add.Relays = []string{"web"}
	control(t, s, add)
	for range 5 {
		if _, err := net.Dial("tcp", at); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialled: %v", err)
		}
	}
	ask(t, c)
	ask(t, dial(t, s, "other"))
	e := remove(t, s, "refuse")
	if e.Refused < 5 || !e.Inexact && (e.Refused > 5 || e.Connections != 5) {
		t.Errorf("counted %+v", e)
	}
	if r := s.Sample().Relays["web"]; r.Refused != e.Refused || r.AcceptErrors != 0 {
		t.Errorf("the relay counted %+v", r)
	}
	if now := s.Addresses()["web"]; now != at {
		t.Errorf("it listens at %s, before at %s", now, at)
	}
	ask(t, dial(t, s, "web"))
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
			control(t, s, c)
			began, met := time.Now(), servetest.Refuses(s.Addresses()["web"])
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
