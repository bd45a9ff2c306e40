package actions

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
)

func get(t *testing.T, url string) string {
	t.Helper()
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := c.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.Status + " " + string(b)
}

func TestStartBuiltins(t *testing.T) {
	s := newStage(t)
	s.must("start: {name: web, as: backends, builtin: origin, listen: [http], replicas: 2}")
	s.must("start: {name: front, builtin: proxy, listen: [http, https], upstreams: web, cpus: 0, with: {timeout: 2s}}")
	s.must("start: {name: plain, builtin: relay, listen: [http], upstreams: [web]}")
	s.data.Routes = []task.Route{{Host: "a.local", Paths: []task.RoutePath{{Path: "/", Backend: "web"}}}}
	addr, _ := s.Address("web")
	for _, a := range addr {
		s.data.Backends = map[string][]task.Address{"web": append(s.data.Backends["web"], task.Address{Address: a})}
	}
	s.must("start: {name: routed, builtin: proxy, listen: [http], routes: true}")
	want := get(t, "http://"+addr[0]+"/small")
	if !strings.HasPrefix(want, "200 OK ") {
		t.Fatal(want)
	}
	for _, name := range []string{"front", "plain"} {
		p, err := s.Processes.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for listen, port := range p[0].Ports() {
			if got := get(t, fmt.Sprintf("%s://127.0.0.1:%d/small", listen, port)); got != want {
				t.Errorf("%s %s: %q", name, listen, got)
			}
		}
	}
	routed, _ := s.Processes.Find("routed")
	if got := get(t, fmt.Sprintf("http://127.0.0.1:%d/small", routed[0].Ports()["http"])); !strings.HasPrefix(got, "404 ") {
		t.Errorf("a host without a route: %q", got)
	}
	front, _ := s.Processes.Find("front")
	if got := front[0].CPUs(); !slices.Equal(got, []int{0}) {
		t.Errorf("CPUs: %v", got)
	}
	web, _ := s.Processes.Find("web")
	if web[0].Role() != "backends" || len(web) != 2 {
		t.Errorf("web: %d of role %s", len(web), web[0].Role())
	}
	s.fails("start: {name: lost, builtin: relay, listen: [http], upstreams: nothing}", "upstreams: no process nothing runs; these do: front, plain, routed, web")
}

func TestStartCommand(t *testing.T) {
	s := newStage(t)
	s.must(`start: {name: a, command: [sh, -c, "echo $FOO $PWD; exec sleep 600"], replicas: 2, env: {FOO: bar}, ready: {log: bar}}`)
	for i := range 2 {
		log := s.read(filepath.Join(s.Dir, "logs", fmt.Sprintf("a-%d.log", i)))
		if want := fmt.Sprintf("bar %s/a-%d\n", s.Dir, i); log != want {
			t.Errorf("log %q, want %q", log, want)
		}
	}
	err := s.do("start: {name: b, command: [no-such-program-2]}")
	if m, ok := errors.AsType[*proc.MissingProgram](err); !ok || m.Program != "no-such-program-2" {
		t.Errorf("missing program: %v", err)
	}
	s.Limits = func(string) task.Limits { return task.Limits{Memory: 1 << 30} }
	s.fails("start: {name: c, command: [sleep, 600], limits: {memory: 64MiB}}", "the role sut has limits already")
}

func TestProcessActions(t *testing.T) {
	s := newStage(t)
	s.must(`start: {name: a, command: [sh, -c, "trap 'echo got HUP' HUP; echo up; while :; do sleep 0.02; done"], ready: {log: up}}`)
	before, _ := s.Processes.Find("a")
	s.inRun()
	s.must("signal: {process: a, send: HUP}")
	s.must("wait: {log: {process: a, line: got HUP, since: start}, within: 10s}")
	s.must("restart: a")
	after, _ := s.Processes.Find("a")
	if after[0].PID() == before[0].PID() {
		t.Error("restart: the same process")
	}
	s.fails("signal: {process: b, send: HUP}", "no process b runs; these do: a")
	s.fails("stop: {process: a, replica: 3}", "no replica 3 of process a runs")

	// A pause lasts until its phase ends, and would be taken back by the journal alone.
	ctx, over := context.WithCancelCause(t.Context())
	paused := make(chan error, 1)
	a := s.action("pause: a")
	go func() { paused <- a.Spec.(task.Action).Run(ctx, s.Env) }()
	state := func(want byte) bool {
		for range 500 {
			if p, _ := kernel.Read(after[0].PID()); p.State == want || want == 'S' && p.State == 'R' {
				return true
			}
			time.Sleep(10 * time.Millisecond)
		}
		return false
	}
	if !state('T') {
		t.Error("it is not stopped")
	}
	over(task.ErrPhaseOver)
	if err := <-paused; err != nil {
		t.Errorf("pause: %v", err)
	}
	if !state('S') {
		t.Error("it does not go on")
	}
	begun := time.Now()
	s.must("pause: {process: a, for: 60ms}")
	if time.Since(begun) < 60*time.Millisecond {
		t.Error("the pause was too short")
	}
	s.must("stop: a")
	s.fails("stop: a", "none does")
	if got := strings.Join(s.events, ", "); got != "change: a/0 got SIGHUP, restart: a/0 was restarted, fault: a/0 is paused, fault: a/0 is paused, change: a/0 stopped" {
		t.Errorf("events: %s", got)
	}
}

func TestWrite(t *testing.T) {
	s := newStage(t)
	s.data = task.TemplateData{Port: map[string]int{"http": 8080}, With: map[string]any{"size": "64k"}}
	tmpl := "port {{ .Port.http }}\nsize {{ .With.size }}\n"
	s.ReadFile = func(path string) ([]byte, error) {
		if filepath.Base(path) == "x.tmpl" {
			return []byte(tmpl), nil
		}
		return nil, os.ErrNotExist
	}
	conf := filepath.Join(s.Dir, "conf.d", "x.conf")
	s.must("write: {file: conf.d/x.conf, template: x.tmpl}")
	if got := s.read(conf); got != "port 8080\nsize 64k\n" {
		t.Errorf("wrote %q", got)
	}
	s.fails("write: {file: y, template: z.tmpl}", "reading the template: ")
	tmpl = "\n\n  {{ .Port.https }}"
	s.fails("write: {file: y, template: x.tmpl}", `x.tmpl:3:10: executing "x.tmpl" at <.Port.https>: map has no entry for key "https"`)
	tmpl = "\n{{ .Prot.http }}"
	s.fails("write: {file: y, template: x.tmpl}", "x.tmpl:2:8: ")
	tmpl = "a\n{{ if }}"
	s.fails("write: {file: y, template: x.tmpl}", "x.tmpl:2: missing value for if")
	s.unwind()
	if got := s.read(conf); got != "port 8080\nsize 64k\n" {
		t.Errorf("a file of the installation must be kept, have %q", got)
	}

	// In a run the old content comes back, and what was written is kept with the run.
	s.inRun()
	s.must("write: {file: conf.d/x.conf, content: 'second hunter2', executable: true}")
	s.must("write: {file: new/deep/y, content: y}")
	if i, err := os.Stat(conf); err != nil || i.Mode().Perm() != 0o755 || s.read(conf) != "second hunter2" {
		t.Errorf("second: %v, %v", i, err)
	}
	if got := s.read(filepath.Join(s.RunDir, "files", "x.conf")); got != "second ***" {
		t.Errorf("kept: %q", got)
	}
	s.unwind()
	if i, err := os.Stat(conf); err != nil || i.Mode().Perm() != 0o644 || s.read(conf) != "port 8080\nsize 64k\n" {
		t.Errorf("restored: %v, %v", i, err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was not there is still there: %v", err)
	}
	outside := filepath.Join(t.TempDir(), "etc", "z")
	s.RunDir = ""
	s.must("write: {file: " + outside + ", content: z}")
	s.read(outside)
	s.unwind()
	if _, err := os.Stat(filepath.Dir(outside)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("outside the result set: %v", err)
	}
}

func TestExec(t *testing.T) {
	s := newStage(t)
	s.must(`exec: {command: [sh, -c, 'echo "{\"v\": \"1.2\", \"a\": [{\"n\": 7}], \"yes\": true}"; echo noise >&2'], set: {version: v, n: "a[0].n", yes: .yes}}`)
	if s.values["version"] != "1.2" || s.values["n"] != 7.0 || s.values["yes"] != true {
		t.Errorf("values: %v", s.values)
	}
	s.must("exec: {command: [sh, -c, exit 3], expect-exit: 3}")
	s.fails("exec: {command: [sh, -c, 'echo why >&2; exit 4']}", "running sh: exit status 4; the last lines of its log")
	s.fails("exec: {command: [sh, -c, 'echo why >&2; exit 4']}", "| why")
	s.fails("exec: {command: [sleep, 600], timeout: 100ms}", "it did not end within 100ms")
	s.fails("exec: {command: [echo, text], set: {x: a}}", "the output is not JSON")
	s.fails(`exec: {command: [echo, '{"b": 1}'], set: {x: a}}`, `set: x: . has no "a"`)
	s.fails(`exec: {command: [echo, '{"a": null}'], set: {x: a}}`, "which is no value")
	if err := s.do("exec: [no-such-program-3]"); err == nil {
		t.Error("a missing program")
	} else if _, ok := errors.AsType[*proc.MissingProgram](err); !ok {
		t.Errorf("a missing program: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("interrupted")) })
	if err := s.doIn(ctx, "exec: [sleep, 600]"); err == nil || !strings.Contains(err.Error(), "it was ended: interrupted") {
		t.Errorf("interrupted: %v", err)
	}

	// What it leaves running lives until the installation ends.
	pidFile := filepath.Join(s.Dir, "pid")
	s.must("exec: {command: [sh, -c, 'setsid sleep 600 >/dev/null 2>&1 & echo $! >" + pidFile + "']}")
	var pid int
	if _, err := fmt.Sscan(s.read(pidFile), &pid); err != nil || kernel.StartTime(pid) == 0 {
		t.Errorf("the daemon %d does not live: %v", pid, err)
	}
	s.unwind()
	if kernel.StartTime(pid) != 0 {
		t.Error("the daemon still lives")
	}
}

// Undo lists are journalled before the change, in an order in which the first of the list is done first, and are done by
// the journal's data alone.
func TestUndoLists(t *testing.T) {
	s := newStage(t)
	var got []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-A")+" "+string(b))
	}))
	defer api.Close()
	log := filepath.Join(s.Dir, "order")
	s.must(`start: {name: a, command: [sh, -c, "trap 'echo usr1 >>` + log + `' USR1; echo up; while :; do sleep 0.02; done"], ready: {log: up}}`)
	s.must(`{exec: [touch, ` + filepath.Join(s.Dir, "changed") + `], undo: [{exec: [sh, -c, "echo first >>` + log + `"]}, {exec: {command: [sh, -c, "echo second >>` + log + `"], env: {A: b}}}]}`)
	s.must(`{http: {url: ` + api.URL + `/on, method: PUT}, undo: [http: {url: ` + api.URL + `/off, method: POST, headers: {X-A: b}, body: now}]}`)
	s.must(`{signal: {process: a, send: HUP, tree: false}, undo: [signal: {process: a, send: USR1}]}`)
	s.fails(`{exec: [true], undo: [stop: a]}`, "undo: stop cannot undo anything")
	s.fails(`{exec: [true], undo: [exec: [no-such-program-4]]}`, "no-such-program-4")
	s.unwind()
	if want := []string{"PUT /on  ", "POST /off b now"}; !slices.Equal(got, want) {
		t.Errorf("requests: %q", got)
	}
	if order := s.read(log); !strings.HasSuffix(order, "first\nsecond\n") {
		t.Errorf("order: %q", order)
	}
}

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

	s.must(`start: {name: a, command: [sh, -c, "echo one; sleep 0.3; echo two; sleep 0.3; exit 5"], ready: {log: one}}`)
	s.inRun()
	s.fails("wait: {log: {process: a, line: one}, within: 50ms}", "there is no such line") // it was printed before
	s.must("wait: {log: {process: a, line: ^two}}")
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

func (r *relays) Fault(_ context.Context, relay, toxic string, a map[string]any, _ time.Duration) (func(context.Context) error, error) {
	if relay == "gone" {
		return nil, errors.New("not in the path")
	}
	r.log = append(r.log, fmt.Sprintf("%s %s %v %v %v", relay, toxic, a["latency"], a["jitter"], a["direction"]))
	return func(ctx context.Context) error {
		r.log = append(r.log, fmt.Sprint("removed ", ctx.Err()))
		return nil
	}, nil
}

func TestToxic(t *testing.T) {
	s := newStage(t)
	r := &relays{}
	s.Relays = r
	for _, text := range []string{"toxic: {relay: slow_web, latency: 20ms, jitter: 500us, direction: both}", "toxic: {relay: slow_web, latency: 0s}", "toxic: {relay: slow_web, preset: latency}"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(task.ErrPhaseOver)
		if err := s.doIn(ctx, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if err := s.doIn(ctx, "toxic: {relay: slow_web, latency: 1ms}"); err == nil || err.Error() != "interrupted" {
		t.Errorf("interrupted: %v", err)
	}
	want := []string{"slow_web latency 20 0.5 both", "removed <nil>", "slow_web latency 0 0 down", "removed <nil>", "slow_web latency 100 10 down", "removed <nil>", "slow_web latency 1 0 down", "removed <nil>"}
	if !slices.Equal(r.log, want) {
		t.Errorf("%q", r.log)
	}
}

func FuzzJSONPath(f *testing.F) {
	for _, s := range []string{".", "a.b[0].c", "$.a", "[1][2]", "a..b", "a["} {
		f.Add(s)
	}
	doc := map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": 1.0}}}}
	f.Fuzz(func(t *testing.T, s string) {
		path, err := parsePath(s)
		if err != nil {
			return
		}
		if v, err := lookUp(doc, path); err == nil && v == nil {
			t.Errorf("%q finds nothing", s)
		}
	})
}
