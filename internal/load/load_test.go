package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load/uring"
	"github.com/planrun/planrun/internal/worker"
)

// A session is a load worker that runs in this process, spoken to over the protocol.
type session struct {
	t      *testing.T
	client *worker.Client

	mu       sync.Mutex
	seconds  []Second
	samples  []Sample
	examples []string
}

// dial starts a worker.
func dial(t *testing.T) *session {
	t.Helper()
	served := make(chan error, 1)
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	go func() {
		served <- Main(in, out)
		out.Close()
	}()
	return speak(t, stdin, stdout, func() { <-served })
}

// speak begins to speak with a worker; wait is called when it was left, and returns when it has ended.
func speak(t *testing.T, stdin io.WriteCloser, stdout io.Reader, wait func()) *session {
	t.Helper()
	s := &session{t: t}
	var err error
	s.client, err = worker.Dial(stdin, stdout, worker.Options{Kind: "load", OnSample: func(b json.RawMessage) {
		var sample Sample
		if err := json.Unmarshal(b, &sample); err != nil {
			t.Errorf("sample: %v", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.samples = append(s.samples, sample)
		s.seconds = append(s.seconds, sample.Seconds...)
		s.examples = append(s.examples, sample.Examples...)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.client.Close()
		wait()
	})
	return s
}

// begin configures and starts a load in the phase "load".
func begin(t *testing.T, spec Spec) (*session, Ready) {
	t.Helper()
	s := dial(t)
	var ready Ready
	s.start(spec, &ready)
	return s, ready
}

// start configures and starts a load in the phase "load".
func (s *session) start(spec Spec, ready *Ready) {
	s.t.Helper()
	if err := s.client.Configure(s.t.Context(), spec, ready); err != nil {
		s.t.Fatal(err)
	}
	if err := s.client.Control(s.t.Context(), Control{Phase: "load"}, nil); err != nil {
		s.t.Fatal(err)
	}
	if err := s.client.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// stop ends the load and gives the sum of all its seconds, each of which it checks.
func (s *session) stop() Second {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	if err := s.client.Stop(ctx); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.samples); n == 0 || !s.samples[n-1].Final {
		s.t.Error("there is no final sample")
	}
	for _, sec := range s.seconds {
		reconcile(s.t, sec)
	}
	total := sum(s.t, s.seconds)
	reconcile(s.t, total)
	return total
}

// reconcile checks that every request has one outcome.
func reconcile(t *testing.T, s Second) {
	t.Helper()
	c := s.Counts
	got := c.OK + c.Generator
	for _, n := range c.Non2xx {
		got += n
	}
	for _, n := range c.Errors {
		got += n
	}
	if got != c.Due {
		t.Errorf("second %d of %q: due %d, outcomes %d: %+v", s.Second, s.Phase, c.Due, got, c)
	}
	if n := s.Latency.Count(); n != c.OK {
		t.Errorf("second %d of %q: %d latencies of %d successes", s.Second, s.Phase, n, c.OK)
	}
	if n := s.Service.Count(); n != c.OK {
		t.Errorf("second %d of %q: %d service times of %d successes", s.Second, s.Phase, n, c.OK)
	}
}

func sum(t *testing.T, seconds []Second) Second {
	var total Second
	c := &total.Counts
	c.Non2xx, c.Errors, c.By, c.Sessions = map[int]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, s := range seconds {
		o := s.Counts
		c.Due += o.Due
		c.OK += o.OK
		c.Generator += o.Generator
		c.Sent += o.Sent
		c.SlowOver1s += o.SlowOver1s
		c.Opened += o.Opened
		c.Handshakes += o.Handshakes
		c.Resumed += o.Resumed
		c.FullIn += o.FullIn
		c.FullOut += o.FullOut
		c.ResumedIn += o.ResumedIn
		c.ResumedOut += o.ResumedOut
		c.BytesIn += o.BytesIn
		c.BytesOut += o.BytesOut
		c.ReuseRetried += o.ReuseRetried
		c.Goaways += o.Goaways
		c.Retried += o.Retried
		c.Refused += o.Refused
		c.MaxElapsed = max(c.MaxElapsed, o.MaxElapsed)
		c.StalledLagNs = max(c.StalledLagNs, o.StalledLagNs)
		for code, n := range o.Non2xx {
			c.Non2xx[code] += n
		}
		for class, n := range o.Errors {
			c.Errors[class] += n
		}
		for by, n := range o.By {
			c.By[by] += n
		}
		for session, n := range o.Sessions {
			c.Sessions[session] += n
		}
		for _, h := range []struct{ to, from **hdr.Histogram }{
			{&total.Latency, &s.Latency}, {&total.Service, &s.Service}, {&total.Lag, &s.Lag}, {&total.Connect, &s.Connect}, {&total.TLS, &s.TLS},
		} {
			if *h.to == nil {
				*h.to = &hdr.Histogram{}
			}
			if err := (*h.to).Merge(*h.from); err != nil {
				t.Error(err)
			}
		}
	}
	return total
}

func (s *session) outcomes() string {
	total := sum(s.t, s.seconds)
	return fmt.Sprint(total.Counts.OK, total.Counts.Non2xx, total.Counts.Errors, total.Counts.Generator, s.examples)
}

// phases gives the requests due of each phase.
func (s *session) phases() map[string]int64 {
	m := map[string]int64{}
	for _, sec := range s.seconds {
		if sec.Counts.Due > 0 {
			m[sec.Phase] += sec.Counts.Due
		}
	}
	return m
}

// A counting server answers and counts.
func counting(t *testing.T, tls bool) (srv *httptest.Server, count func() int64) {
	var mu sync.Mutex
	var n int64
	srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		mu.Unlock()
		io.WriteString(w, "Hello, World!")
	}))
	if tls {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	return srv, func() int64 {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

func size(n int64) *int64 { return &n }

// wires are what can move the bytes here. Where io_uring is not allowed the log says so.
func wires(t *testing.T) []string {
	all := Wires
	if err := uring.Probe(); err != nil {
		t.Logf("without io_uring: %v", err)
		all = all[1:]
	}
	return all
}

// TestLoad: over each wire the books agree with the server's.
func TestLoad(t *testing.T) {
	for _, wire := range wires(t) {
		t.Run(wire, func(t *testing.T) { testLoad(t, wire) })
	}
}

func testLoad(t *testing.T, wire string) {
	for _, tt := range []struct {
		name        string
		tls, reuse  bool
		rate        []RateStep
		connections int
		headers     []Header
	}{
		{name: "closed", reuse: true, connections: 8},
		{name: "open", reuse: true, connections: 8, rate: []RateStep{{To: 500}}},
		{name: "closed TLS", tls: true, reuse: true, connections: 8},
		{name: "open TLS", tls: true, reuse: true, connections: 8, rate: []RateStep{{From: 100, To: 500, Over: time.Second}, {To: 500}}},
		{name: "closed, new connections", connections: 4},
		{name: "open, new connections", connections: 40, rate: []RateStep{{To: 200}}},
		{name: "open TLS, new connections", connections: 40, tls: true, rate: []RateStep{{To: 50}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, count := counting(t, tt.tls)
			spec := Spec{
				Name: "main", Wire: wire, Address: srv.Listener.Addr().String(), Connections: tt.connections, Reuse: tt.reuse, Rate: tt.rate,
				Expect: Expect{Status: 200, Bytes: size(13), SHA256: "dffd6021bb2bd5b0af676290809ec3a53191dd81c7f70a4b28688a362182986f"},
			}
			if tt.tls {
				spec.Scheme = "https"
			}
			s, ready := begin(t, spec)
			if ready.Connections != tt.connections || ready.Verified != 1 || ready.Problem != "" || ready.Shortage != "" || ready.Wire != wire {
				t.Errorf("ready: %+v", ready)
			}
			time.Sleep(200 * time.Millisecond)
			if err := s.client.Control(t.Context(), Control{"measure", 0}, nil); err != nil {
				t.Error(err)
			}
			time.Sleep(200 * time.Millisecond)
			total := s.stop()
			c := total.Counts
			if c.OK != c.Due || c.OK < 10 {
				t.Errorf("outcomes: %s", s.outcomes())
			}
			if got := count(); got != c.Sent+1 || c.Sent != c.Due {
				t.Errorf("the server counted %d requests, sent were %d + 1", got, c.Sent)
			}
			phases := s.phases()
			if phases["load"] == 0 || phases["measure"] == 0 || len(phases) != 2 {
				t.Errorf("phases: %v", phases)
			}
			if tt.reuse && c.Opened != int64(tt.connections) || !tt.reuse && c.Opened != c.OK+1 {
				t.Errorf("%d connections were opened for %d requests", c.Opened, c.OK)
			}
			if tt.tls && c.Handshakes != c.Opened || total.Connect.Count() != c.Opened || total.TLS.Count() != c.Handshakes {
				t.Errorf("%d connections, %d handshakes, %d and %d recorded", c.Opened, c.Handshakes, total.Connect.Count(), total.TLS.Count())
			}
			if total.Lag.Count() != c.Sent {
				t.Errorf("%d lags of %d sent", total.Lag.Count(), c.Sent)
			}
		})
	}
}

// TestPhasesByDueTime: a switch that is announced splits a constant rate to the request.
func TestPhasesByDueTime(t *testing.T) {
	srv, _ := counting(t, false)
	s := dial(t)
	ctx := t.Context()
	if err := s.client.Configure(ctx, Spec{Address: srv.Listener.Addr().String(), Phase: "warm-up", Connections: 4, Reuse: true, Rate: []RateStep{{200, 200, time.Second}}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Control{{"measure", 250 * time.Millisecond}, {"after", 700 * time.Millisecond}} {
		if err := s.client.Control(ctx, c, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.client.Start(ctx); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1300 * time.Millisecond)
	var reply ControlReply
	if err := s.client.Control(ctx, Control{Phase: "end"}, &reply); err != nil {
		t.Fatal(err)
	}
	s.stop()
	want := map[string]int64{"warm-up": 50, "measure": 90, "after": 60}
	if got := s.phases(); !maps.Equal(got, want) {
		t.Errorf("phases %v, want %v", got, want)
	}
	delete(reply.Due, "end")
	if !maps.Equal(reply.Due, want) {
		t.Errorf("due so far: %v, want %v", reply.Due, want)
	}
	health := s.samples[len(s.samples)-1].Health
	if health.RunWaitNs == nil || health.CPUSeconds <= 0 || health.Descriptors < 3 || health.DescriptorLimit < health.Descriptors {
		t.Errorf("health: %+v", health)
	}
}
