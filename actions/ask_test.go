package actions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/task"
)

func TestHTTP(t *testing.T) {
	s := newStage(t)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			time.Sleep(500 * time.Millisecond)
		case "/no":
			w.WriteHeader(503)
			fmt.Fprint(w, "not today")
		case "/host":
			fmt.Fprintf(w, `{"host": %q}`, r.Host)
		}
	}))
	defer api.Close()
	s.must("http: " + api.URL + "/")
	s.must("http: {url: " + api.URL + "/no, expect: 503}")
	s.must("http: {url: " + api.URL + "/host, headers: {Host: a.local}, set: {h: host}}")
	if s.values["h"] != "a.local" {
		t.Errorf("values: %v", s.values)
	}
	s.fails("http: "+api.URL+"/no", "/no: the answer is 503 Service Unavailable, not 2xx: not today")
	s.fails("http: {url: "+api.URL+"/slow, timeout: 20ms}", "no answer within 20ms")
	s.fails("http: admin/x", "no endpoint admin")
}

func TestWait(t *testing.T) {
	s := newStage(t)
	s.must("start: {name: web, builtin: origin, listen: [http]}")
	s.must("wait: {tcp: http, record: up_ms}")
	if v, ok := s.values["up_ms"].(float64); !ok || v <= 0 || v > 30000 {
		t.Errorf("up_ms: %v", s.values)
	}
	s.must("wait: {http: http/small}")
	s.must("wait: {http: http/status/404, status: 404}")
	s.fails("wait: {http: http/status/500, within: 50ms}", "not within 50ms: ")
	s.fails("wait: {tcp: '127.0.0.1:1', within: 50ms}", "waiting for TCP 127.0.0.1:1: not within 50ms")
	n := 0
	s.cond = func() (any, error) {
		if n++; n == 1 {
			return nil, errors.New("no data yet")
		}
		return n > 2, nil
	}
	s.must("wait: {until: failed == 0}")
	s.cond = func() (any, error) { return false, nil }
	s.fails("wait: {until: failed == 0, within: 80ms}", "waiting for failed == 0: not within 80ms: it is false")

	over := filepath.Join(t.TempDir(), "over")
	s.must(`start: {name: a, command: [sh, -c, "echo one; while [ ! -e ` + over + ` ]; do echo two; sleep 0.02; done; exit 5"], ready: {log: one}}`)
	s.inRun()
	s.fails("wait: {log: {process: a, line: one}, within: 50ms}", "there is no such line") // it was printed before
	s.must("wait: {log: {process: a, line: ^two}}")
	if err := os.WriteFile(over, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.fails("wait: {log: {process: a, line: three}}", "the process has ended: exit status 5")
}

func TestRepeat(t *testing.T) {
	s := newStage(t)
	n := 0
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { n++ }))
	defer api.Close()
	s.must("repeat: {times: 3, do: [{http: " + api.URL + "/}, {http: " + api.URL + "/}]}")
	if n != 6 {
		t.Errorf("%d requests", n)
	}
	s.must("repeat: {for: 60ms, pause: 20ms, do: [{http: " + api.URL + "/}]}")
	if n < 7 || n > 10 {
		t.Errorf("%d requests in 60 ms", n-6)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(task.ErrPhaseOver) })
	if err := s.doIn(ctx, "repeat: {do: [{http: "+api.URL+"/}]}"); err != nil {
		t.Errorf("the end of the phase: %v", err)
	}
	s.fails("repeat: {times: 3, do: [{http: "+api.URL+"/}, {http: nothing/}]}", "no endpoint nothing")
}

func TestSnapshot(t *testing.T) {
	s := newStage(t)
	s.fails("snapshot: host", "belongs to a run")
	s.inRun()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a": "hunter2"}`) }))
	defer api.Close()
	s.must("snapshot: host")
	s.must("snapshot: host")
	s.must("snapshot: {url: " + api.URL + "/}")
	for name, want := range map[string]string{"host.json": `"busy": 0.5`, "host-2.json": `"busy": 0.5`, "it.json": `{"a": "***"}`} {
		if got := s.read(filepath.Join(s.RunDir, "snapshots", name)); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// relays notes the faults that it is asked for.
type relays struct{ log []string }

func (r *relays) Fault(_ context.Context, relay string, t task.Toxic, _ time.Duration) (func(context.Context) error, error) {
	if relay == "gone" {
		return nil, errors.New("not in the path")
	}
	r.log = append(r.log, fmt.Sprintf("%s %s %s: %s: %+v %.4g %v %.4g%s", relay, t.Kind, t.Direction, t.Says, t.Attributes, t.Share, t.Seed, t.Asked, t.Unit))
	return func(ctx context.Context) error {
		r.log = append(r.log, fmt.Sprint("removed ", ctx.Err()))
		return nil
	}, nil
}

func TestToxic(t *testing.T) {
	s := newStage(t)
	r := &relays{}
	s.Relays = r
	for _, tc := range []struct{ text, want string }{
		{"latency: 20ms, jitter: 500us, direction: both", "latency both: latency of 20ms ± 500µs: {Latency:20ms Jitter:500µs Distribution:uniform} 0 0 20ms"},
		{"latency: 0s", "latency down: latency of 0s: {Latency:0s Jitter:0s Distribution:uniform} 0 0 0ms"},
		{"latency: 30ms, jitter: 10ms, distribution: normal, seed: 7", "latency down: latency of 30ms, normal with a deviation of 10ms: {Latency:30ms Jitter:10ms Distribution:normal} 0 7 30ms"},
		{"preset: latency", "latency down: latency of 100ms ± 10ms: {Latency:100ms Jitter:10ms Distribution:} 0 0 100ms"},
		{"preset: bandwidth, direction: up", "bandwidth up: bandwidth of 64KiB/s: {Rate:65536 Shared:false} 0 0 6.554e+04B/s"},
		{"bandwidth: 1500B/s, shared: true", "bandwidth down: bandwidth of 1500B/s, shared: {Rate:1500 Shared:true} 0 0 1500B/s"},
		{"preset: reset", "reset-after down: reset after 1KiB: {Bytes:1024} 0 0 1024B"},
		{"reset-after: 0B, share: 12.5%, seed: 3", "reset-after down: reset after 0B, 12.5 % of connections: {Bytes:0} 0.125 3 0B"},
		{"limit-data: 2MB", "limit-data down: end after 2MB: {Bytes:2000000} 0 0 2e+06B"},
		{"slice: 10B, slice-delay: 1ms", "slice down: slices of 10B: {Size:10 Delay:1ms} 0 0 10B"},
		{"slow-close: 1s", "slow-close down: slow-close of 1s: {Delay:1s} 0 0 1000ms"},
		{"timeout: 2s", "timeout both: timeout of 2s: {Timeout:2s} 0 0 2000ms"},
		{"preset: stall", "stall down: stall: {} 0 0 0"},
		{"stall: true, direction: up", "stall up: stall: {} 0 0 0"},
		{"preset: blackhole", "blackhole both: blackhole: {} 0 0 0"},
		{"refuse: true", "refuse both: refuse: {} 0 0 0"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(task.ErrPhaseOver)
		r.log = nil
		if err := s.doIn(ctx, "toxic: {relay: slow_web, "+tc.text+"}"); err != nil {
			t.Errorf("%s: %v", tc.text, err)
		}
		if want := []string{"slow_web " + tc.want, "removed <nil>"}; !slices.Equal(r.log, want) {
			t.Errorf("%s: %q\nwant %q", tc.text, r.log, want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if err := s.doIn(ctx, "toxic: {relay: slow_web, latency: 1ms}"); err == nil || err.Error() != "interrupted" {
		t.Errorf("interrupted: %v", err)
	}
}
