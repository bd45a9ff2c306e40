package engine_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	server "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/record"
)

// toxiproxies starts a Toxiproxy server, with a proxy of somebody else's.
func toxiproxies(t *testing.T) (api *server.ApiServer, address string) {
	t.Helper()
	api = server.NewServer(server.NewMetricsContainer(nil), zerolog.Nop())
	listener := httptest.NewServer(api.Routes())
	t.Cleanup(func() {
		listener.Close()
		if err := api.Collection.Clear(); err != nil {
			t.Error(err)
		}
	})
	foreign := server.NewProxy(api, "foreign", "127.0.0.1:0", "127.0.0.1:1")
	if err := api.Collection.Add(foreign, true); err != nil {
		t.Fatal(err)
	}
	return api, listener.Listener.Addr().String()
}

// onlyForeign makes sure that a server has nothing that planrun made.
func onlyForeign(t *testing.T, api *server.ApiServer) {
	t.Helper()
	for name := range api.Collection.Proxies() {
		if name != "foreign" {
			t.Errorf("the server still has the proxy %s", name)
		}
	}
	if len(api.Collection.Proxies()) == 0 {
		t.Error("the proxy of somebody else is gone")
	}
}

// outside is a plan whose relay is a Toxiproxy server's.
func outside(server, toxic string) string {
	return fmt.Sprintf(`
plan: outside
params: {outside: .}
backends: {web: {replicas: 2}}
relays: {slow_web: {of: web, server: "%s"}}
targets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}
scenarios:
  s:
    relays: [slow_web]
    phases:
      - load: {name: before, for: 1s, do: [{load: {path: /small, rate: 50/s, connections: 4}, through: after}]}
      - fault: {for: 1s, do: [{toxic: {relay: slow_web, %s}}]}
      - measure: {name: after, for: 1s}
verdicts:
  - {verdict: nothing fails, pass: failed == 0}
  - {verdict: it is slow, pass: phase("fault").p50_ms > 350 && phase("before").p50_ms < 350}
  - {verdict: nothing is left, pass: relay_connections_left == 0}
`, server, toxic)
}

// A toxic on a server that runs already acts there, is counted by planrun's own relay in front of it, and nothing of it is left.
func TestToxiproxy(t *testing.T) {
	api, address := toxiproxies(t)
	out := run(t, compile(t, outside(address, "latency: 400ms")), engine.RunOptions{})
	r := ran(t, out)
	passed(t, out)
	onlyForeign(t, api)
	if len(r.Facts.Faults) != 1 {
		t.Fatalf("faults: %+v", r.Facts.Faults)
	}
	f := r.Facts.Faults[0]
	if !strings.Contains(f.Server, address) || f.Connections < 1 || f.Bytes == 0 || f.Of != 0 || f.Gone != "" || f.End <= f.Start {
		t.Errorf("the fault: %+v", f)
	}
	guard := ""
	for _, g := range r.Guards {
		if g.Name == "fault" && g.OK {
			guard += g.Message
		}
	}
	if !strings.Contains(reportOf(t, out), "A Toxiproxy server of others counts nothing") {
		t.Error("the report does not say who counted")
	}
	if !strings.Contains(guard, "does not count") {
		t.Errorf("the guard: %q", guard)
	}

	for toxic, why := range map[string]string{
		"bandwidth: 1MB/s, shared: true":                   "its own bandwidth",
		"latency: 20ms, jitter: 5ms, distribution: normal": "uniform jitter only",
		"reset-after: 1KiB":                                "resets after a time",
		"preset: stall":                                    "cannot hold what comes",
		"latency: 1500us":                                  "whole milliseconds",
	} {
		if _, list := check(write(t, outside(address, toxic)), engine.Options{}); !strings.Contains(list.Error(), why) {
			t.Errorf("%s: %v", toxic, list)
		}
	}
	for server, why := range map[string]string{"toxiproxy": "is no server of relays", "127.0.0.1:99999": "is no server of relays", "8.8.8.8:8474": "8.8.8.8 is a public address", "10.255.255.254:8474": "cannot reach the backend web"} {
		if _, list := check(write(t, outside(server, "latency: 1ms")), engine.Options{}); !strings.Contains(list.Error(), why) {
			t.Errorf("%s: %v", server, list)
		}
	}

	// A server that is not there is an install that failed.
	out = run(t, compile(t, outside("127.0.0.1:1", "latency: 1ms")), engine.RunOptions{})
	if r := only(t, out); r.Status != record.Failed || !strings.Contains(r.Reason, "the Toxiproxy server at 127.0.0.1:1") || out.Exit != 4 {
		t.Errorf("no server: %s (%s), exit %d", r.Status, r.Reason, out.Exit)
	}
}

// An engine that is killed while it has proxies on a server leaves none that clean does not delete.
func TestToxiproxyKilled(t *testing.T) {
	api, address := toxiproxies(t)
	dir := filepath.Join(t.TempDir(), "set")
	ctx, cancel := context.WithTimeout(t.Context(), runFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "victim", write(t, outside(address, "latency: 10ms")), dir, t.TempDir(), "-1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 100 * time.Millisecond
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inForce := func() bool {
		for name, p := range api.Collection.Proxies() {
			if name != "foreign" && len(p.Toxics.GetToxicArray()) > 0 {
				return true
			}
		}
		return false
	}
	for !inForce() && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if n := len(api.Collection.Proxies()); n != 3 {
		t.Fatalf("%d proxies when it was killed, want two of its own", n)
	}
	r, err := journal.Clean(t.Context(), dir, undos, 20*time.Second, nil)
	if err != nil || len(r.Failed) > 0 {
		t.Fatalf("%v, not undone: %v", err, r)
	}
	onlyForeign(t, api)
	if r, err := journal.Clean(t.Context(), dir, undos, 20*time.Second, nil); err != nil || len(r.Undone) > 0 {
		t.Errorf("cleaned again: %v, %v", r, err)
	}
}
