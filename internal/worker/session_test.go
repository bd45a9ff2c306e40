package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// An echo handler answers what it was given and records the calls.
type echo struct {
	mu      sync.Mutex
	calls   []string
	samples int
	drain   bool // Stop waits for its context
}

func (e *echo) called(s string) {
	e.mu.Lock()
	e.calls = append(e.calls, s)
	e.mu.Unlock()
}

func (e *echo) list() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.calls, " ")
}

func (e *echo) Configure(ctx context.Context, spec json.RawMessage) (any, error) {
	e.called("configure")
	switch string(spec) {
	case `"refuse"`:
		return nil, &Error{"generator", "no ports"}
	case `"hang"`:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return spec, nil
}
func (e *echo) Start() error { e.called("start"); return nil }
func (e *echo) Control(ctx context.Context, body json.RawMessage) (any, error) {
	e.called("control")
	return body, nil
}
func (e *echo) Sample() any { e.samples++; return e.samples }
func (e *echo) Stop(ctx context.Context) error {
	if e.drain {
		<-ctx.Done()
	}
	e.called("stop")
	return nil
}

// A side is a worker that runs over pipes in this process.
type side struct {
	in   io.WriteCloser
	out  io.Reader
	done chan error
}

func start(t *testing.T, h Handler, real bool) *side {
	t.Helper()
	s := &side{done: make(chan error, 1)}
	var in io.Reader
	var out io.WriteCloser
	if real {
		r1, w1, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r2, w2, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		in, s.in, s.out, out = r1, w1, r2, w2
	} else {
		in, s.in = io.Pipe()
		s.out, out = io.Pipe()
	}
	go func() {
		s.done <- Serve(in, out, "echo", h)
		out.Close()
	}()
	return s
}

func TestSession(t *testing.T) {
	h := &echo{}
	s := start(t, h, true)
	var mu sync.Mutex
	var samples []string
	c, err := Dial(s.in, s.out, Options{Kind: "echo", OnSample: func(b json.RawMessage) {
		mu.Lock()
		samples = append(samples, string(b))
		mu.Unlock()
	}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Hello.PID != os.Getpid() || c.Hello.Protocol != Version {
		t.Errorf("hello = %+v", c.Hello)
	}
	ctx := t.Context()
	if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), "start needs") {
		t.Errorf("start before configure: %v", err)
	}
	err = c.Configure(ctx, "refuse", nil)
	if e, ok := errors.AsType[*Error](err); !ok || e.Class != "generator" || err.Error() != "echo: no ports" {
		t.Errorf("configure that is refused: %v", err)
	}
	var ready map[string]int
	if err := c.Configure(ctx, map[string]int{"a": 1}, &ready); err != nil || ready["a"] != 1 {
		t.Errorf("configure: %v, %v", ready, err)
	}
	if err := c.Start(ctx); err != nil {
		t.Error(err)
	}
	if err := c.Configure(ctx, nil, nil); err == nil {
		t.Error("configure after start succeeded")
	}
	var reply string
	if err := c.Control(ctx, "phase", &reply); err != nil || reply != "phase" {
		t.Errorf("control: %q, %v", reply, err)
	}
	var n int
	if err := c.Sample(ctx, &n); err != nil || n < 1 {
		t.Errorf("sample: %d, %v", n, err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			var got int
			if err := c.Control(ctx, i, &got); err != nil || got != i {
				t.Errorf("control %d: %d, %v", i, got, err)
			}
		})
	}
	wg.Wait()
	if err := c.Stop(ctx); err != nil {
		t.Error(err)
	}
	<-c.Done()
	if err := <-s.done; err != nil {
		t.Errorf("serve: %v", err)
	}
	if err := c.Stop(ctx); err != nil {
		t.Errorf("a stop after the end: %v", err)
	}
	if err := c.Control(ctx, 1, nil); err == nil {
		t.Error("control after the end succeeded")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(samples) < 2 || len(samples) != h.samples {
		t.Errorf("%d samples arrived of %d", len(samples), h.samples)
	}
}

func TestSampleEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &echo{}
		s := start(t, h, false)
		n := 0
		c, err := Dial(s.in, s.out, Options{OnSample: func(json.RawMessage) { n++ }})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Configure(t.Context(), 1, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Pings keep the session far beyond a lease.
		time.Sleep(10*Lease + time.Second/2)
		synctest.Wait()
		if want := 150; n != want {
			t.Errorf("%d samples in %d s", n, want)
		}
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-s.done; err != nil {
			t.Error(err)
		}
		s.in.Close()
	})
}

func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &echo{drain: true}
		s := start(t, h, false)
		l := newLineReader(s.out)
		if _, err := l.next(); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for range 3 { // each message renews it
			time.Sleep(Lease - 1)
			if _, err := io.WriteString(s.in, `{"type":"ping"}`+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		err := <-s.done
		if !errors.Is(err, ErrGone) {
			t.Errorf("serve: %v", err)
		}
		if got, want := time.Since(begin), 3*(Lease-1)+Lease; got != want {
			t.Errorf("ended after %v, want %v", got, want)
		}
		if h.list() != "stop" {
			t.Errorf("calls: %s", h.list())
		}
		s.in.Close()
	})
}

func TestEndOfInput(t *testing.T) {
	for _, busy := range []bool{false, true} {
		h := &echo{drain: true}
		s := start(t, h, true)
		if busy {
			if _, err := io.WriteString(s.in, `{"type":"configure","id":1,"body":"hang"}`+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		s.in.Close()
		if err := <-s.done; !errors.Is(err, ErrGone) {
			t.Errorf("serve: %v", err)
		}
		if !strings.HasSuffix(h.list(), "stop") {
			t.Errorf("calls: %s", h.list())
		}
	}
}

func TestSecondStopDoesNotWait(t *testing.T) {
	h := &echo{drain: true}
	s := start(t, h, true)
	c, err := Dial(s.in, s.out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Configure(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the first stop: %v", err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Errorf("the second stop: %v", err)
	}
	if err := <-s.done; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestStopDuringConfigure(t *testing.T) {
	s := start(t, &echo{}, true)
	c, err := Dial(s.in, s.out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	configured := make(chan error)
	go func() { configured <- c.Configure(t.Context(), "hang", nil) }()
	if err := c.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := <-configured; err == nil {
		t.Error("configure succeeded")
	}
}
