package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/faults"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/process"
	"github.com/planrun/planrun/internal/serve/proxy"
	"github.com/planrun/planrun/internal/serve/relay"
	"github.com/planrun/planrun/internal/serve/servetest"
	"github.com/planrun/planrun/internal/worker"
)

// TestMain makes the test's own binary the worker process, where the environment says so.
func TestMain(m *testing.M) {
	name := os.Getenv("PLANRUN_TEST_KIND")
	if name == "" {
		os.Exit(m.Run())
	}
	var files uint64
	if fmt.Sscan(os.Getenv("PLANRUN_TEST_FILES"), &files); files > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: files}); err != nil {
			panic(err)
		}
	}
	for _, k := range Kinds {
		if k.Name == name {
			if err := k.Main(os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
}

// A side is a process and the engine's end of its session.
type side struct {
	*worker.Client
	listen map[string]string
	exited chan error

	mu   sync.Mutex
	last json.RawMessage // sample
	n    int             // samples
}

// launch starts a process of the kind, configured and started. files bounds its descriptors; 0 does not.
func launch(t testing.TB, kind string, files int, spec any) *side {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PLANRUN_TEST_KIND="+kind, fmt.Sprint("PLANRUN_TEST_FILES=", files))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &side{exited: make(chan error, 1)}
	s.Client, err = worker.Dial(in, out, worker.Options{Kind: kind, OnSample: func(b json.RawMessage) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = slices.Clone(b)
		s.n++
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		select {
		case <-s.exited:
		case <-time.After(servetest.Patience):
			t.Errorf("the %s process outlives its input", kind)
			cmd.Process.Kill()
		}
	})
	go func() {
		<-s.Done()
		err := cmd.Wait()
		s.exited <- err
		close(s.exited)
	}()
	var ready process.Ready
	if err := s.Configure(t.Context(), spec, &ready); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.listen = ready.Listen
	return s
}

// stop ends the process gracefully and reads its last sample.
func (s *side) stop(t testing.TB, sample any) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-s.exited; err != nil {
		t.Errorf("exited with %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := json.Unmarshal(s.last, sample); err != nil {
		t.Fatal(err)
	}
}

var anywhere = map[string]string{"http": "127.0.0.1:0"}

// TestChain: a request goes through all four processes, and each of them counts it.
func TestChain(t *testing.T) {
	web := launch(t, "origin", 0, origin.Spec{Name: "web", ServedBy: true, Listen: anywhere})
	slow := launch(t, "faults", 0, faults.Spec{Relays: []faults.Relay{{Name: "slow_web", Listen: "127.0.0.1:0", Upstream: web.listen["http"]}}})
	front := launch(t, "proxy", 0, proxy.Spec{Listen: anywhere, Upstreams: []string{slow.listen["slow_web"]}})
	outer := launch(t, "relay", 0, relay.Spec{Listen: anywhere, Upstreams: []string{front.listen["http"]}})
	client := servetest.NewClient(t, "h1")
	get := func(path string) time.Duration {
		t.Helper()
		began := time.Now()
		answer, err := client.Get("http://" + outer.listen["http"] + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if body, err := io.ReadAll(answer.Body); err != nil || string(body) != origin.Small || answer.Header.Get("x-served-by") != "web" {
			t.Errorf("%s: %q by %q, %v", path, body, answer.Header.Get("x-served-by"), err)
		}
		return time.Since(began)
	}
	get("/small")
	attributes, _ := json.Marshal(faults.Latency{Latency: 25 * time.Millisecond})
	var reply faults.Reply
	err := slow.Control(t.Context(), faults.Control{Add: &faults.Toxic{Type: "latency", Attributes: attributes, TTL: time.Hour}}, &reply)
	if err != nil || reply.Relays != 1 {
		t.Fatal(reply, err)
	}
	if took := get("/small"); took < 25*time.Millisecond {
		t.Errorf("took %v through a latency of 25 ms", took)
	}
	var now faults.Sample
	if err := slow.Sample(t.Context(), &now); err != nil || len(now.Relays["slow_web"].Toxics) != 1 {
		t.Errorf("%+v, %v", now, err)
	} else if ms, of := now.Relays["slow_web"].Toxics["latency"].Measured(); ms < 25 || of != 1 {
		t.Errorf("measured %g ms of %d", ms, of)
	}
	if err := front.Control(t.Context(), proxy.Control{Routes: &[]proxy.Route{{Path: "/delay", Upstreams: []string{web.listen["http"]}}}}, nil); err != nil {
		t.Fatal(err)
	}
	get("/delay/1ms")
	client.CloseIdleConnections()

	var atRelay relay.Sample
	outer.stop(t, &atRelay)
	if l := atRelay.Listeners["http"]; l.Opened != client.Dialled.Load() || l.Live != 0 || l.BytesUp == 0 || l.BytesDown == 0 {
		t.Errorf("relay: %+v", atRelay)
	}
	var atProxy proxy.Sample
	front.stop(t, &atProxy)
	if atProxy.Received != 3 || atProxy.Answered != 3 || atProxy.Status[200] != 3 || atProxy.Upstreams[web.listen["http"]].Requests != 1 {
		t.Errorf("proxy: %+v", atProxy)
	}
	var atFaults faults.Sample
	slow.stop(t, &atFaults)
	if r := atFaults.Relays["slow_web"]; r.Opened != atProxy.Upstreams[slow.listen["slow_web"]].Opened || r.Live != 0 || r.Acted["latency"] != 1 || r.Toxics != nil {
		t.Errorf("faults: %+v", r)
	}
	var atOrigin origin.Sample
	web.stop(t, &atOrigin)
	if received, answered := atOrigin.Total(); received != 3 || answered != 3 || atOrigin.Listeners["http"].Classes["delay"] != (origin.Class{Received: 1, Answered: 1}) {
		t.Errorf("origin: %+v", atOrigin)
	}
}

func TestSamplesComeByThemselves(t *testing.T) {
	for _, test := range []struct {
		kind string
		spec any
	}{
		{"origin", origin.Spec{Listen: anywhere}}, {"proxy", proxy.Spec{Listen: anywhere}},
		{"relay", relay.Spec{Listen: anywhere, Upstreams: []string{"127.0.0.1:1"}}},
		{"faults", faults.Spec{Relays: []faults.Relay{{Name: "a", Listen: "127.0.0.1:0", Upstream: "127.0.0.1:1"}}}},
	} {
		s := launch(t, test.kind, 0, test.spec)
		servetest.Eventually(t, "two samples", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.n >= 2
		})
		if err := s.Configure(t.Context(), test.spec, nil); err == nil {
			t.Errorf("%s: configured twice", test.kind)
		}
		err := s.Control(t.Context(), "a string", nil)
		if e, ok := errors.AsType[*worker.Error](err); !ok || e.Class != "spec" {
			t.Errorf("%s: a wrong control message: %v", test.kind, err)
		}
	}
}

// TestDescriptorsRunOut: with fewer descriptors than clients the listener goes on once there are some again.
func TestDescriptorsRunOut(t *testing.T) {
	backend := launch(t, "origin", 0, origin.Spec{Listen: anywhere})
	up := backend.listen["http"]
	for _, test := range []struct {
		kind, listener string
		spec           any
	}{
		{"origin", "http", origin.Spec{Listen: anywhere}},
		{"origin", "https", origin.Spec{Listen: map[string]string{"https": "127.0.0.1:0"}}},
		{"proxy", "http", proxy.Spec{Listen: anywhere, Upstreams: []string{up}}},
		{"relay", "http", relay.Spec{Listen: anywhere, Upstreams: []string{up}}},
		{"faults", "http", faults.Spec{Relays: []faults.Relay{{Name: "http", Listen: "127.0.0.1:0", Upstream: up}}}},
	} {
		t.Run(test.kind+" "+test.listener, func(t *testing.T) {
			s := launch(t, test.kind, 40, test.spec)
			var clients []net.Conn
			come := func() {
				c, err := net.DialTimeout("tcp", s.listen[test.listener], servetest.Patience)
				if errors.Is(err, syscall.ECONNRESET) {
					return // a relay took it, had no descriptor to go on with, and reset it before Dial looked
				}
				if err != nil {
					t.Fatal(err)
				}
				clients = append(clients, c)
			}
			for range 60 {
				come()
			}
			servetest.Eventually(t, "an error of accept", func() bool {
				var sample struct {
					Listeners, Relays map[string]struct {
						AcceptErrors int64 `json:"accept_errors"`
					}
				}
				if err := s.Sample(t.Context(), &sample); err != nil {
					t.Fatal(err)
				}
				if sample.Listeners[test.listener].AcceptErrors+sample.Relays[test.listener].AcceptErrors > 0 {
					return true
				}
				come() // a relay that resets whom it cannot serve has a descriptor again; accept fails in between
				return false
			})
			for _, c := range clients {
				c.Close()
			}
			if test.listener == "https" {
				return // that it goes on is the same code; the client below speaks plain HTTP
			}
			servetest.Eventually(t, "answers again", func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				request, _ := http.NewRequestWithContext(ctx, "GET", "http://"+s.listen[test.listener]+"/small", nil)
				request.Close = true
				answer, err := http.DefaultTransport.RoundTrip(request)
				if err != nil {
					return false
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				return err == nil && string(body) == origin.Small
			})
		})
	}
}

func TestEngineGone(t *testing.T) {
	s := launch(t, "origin", 0, origin.Spec{Listen: anywhere})
	s.Close()
	if err := <-s.exited; err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("ended with %v", err)
	}
	if _, err := net.DialTimeout("tcp", s.listen["http"], time.Second); err == nil {
		t.Error("still listens")
	}
}
