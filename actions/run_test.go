package actions

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	s.data.Routes = append(s.data.Routes, task.Route{Host: "127.0.0.1", Paths: []task.RoutePath{{Path: "/small", Backend: "web"}}})
	for _, update := range s.follow {
		if err := update(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got := get(t, fmt.Sprintf("http://127.0.0.1:%d/small", routed[0].Ports()["http"])); got != want || len(s.follow) != 3 {
		t.Errorf("a route that came, with %d that follow: %q", len(s.follow), got)
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
	// It starts no children: a shell whose child is stopped between vfork and exec waits for it and cannot stop itself.
	s.must(`start: {name: a, command: [sh, -c, "trap 'echo got HUP' HUP; echo up; while :; do :; done"], ready: {log: up}}`)
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
		for range 3000 {
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
	if got := strings.Join(s.events, ", "); got != "change: a/0 got SIGHUP, restart: a/0 was restarted, fault: pause of a/0 begins, fault: pause of a/0 ends, fault: pause of a/0 begins, fault: pause of a/0 ends, change: a/0 stopped" {
		t.Errorf("events: %s", got)
	}
}

// A broken is what runs processes, and calls a function when one was signalled.
type broken struct {
	task.Processes
	signalled func()
}

func (b broken) Signal(p task.Process, send string, tree bool) error {
	err := b.Processes.Signal(p, send, tree)
	b.signalled()
	return err
}

// A pause whose phase ends between two replicas is known as what it was: a pause of the first.
func TestPauseWhosePhaseEnds(t *testing.T) {
	s := newStage(t)
	s.must(`start: {name: a, command: [sleep, 600], replicas: 2}`)
	s.inRun()
	ctx, over := context.WithCancelCause(t.Context())
	s.Processes = broken{s.Processes, func() {
		for found, _ := s.Processes.Find("a"); ; time.Sleep(time.Millisecond) { // until the kernel has stopped it
			if alive, halted := proc.Halted([]int{found[0].PID()}); ctx.Err() != nil || alive == 0 || halted {
				break
			}
		}
		over(task.ErrPhaseOver)
	}}
	if err := s.action("pause: a").Spec.(task.Action).Run(ctx, s.Env); err != nil {
		t.Error(err)
	}
	if got := strings.Join(s.events, ", "); got != "fault: pause of a/0 begins, fault: pause of a/0 ends" {
		t.Errorf("events: %s", got)
	}
	if len(s.effects) != 1 || s.effects[0].Unfelt != "it ended before a/1 was paused too" {
		t.Errorf("%+v", s.effects)
	}
	// Of one whose phase is over already there is nothing to tell.
	if err := s.action("pause: a").Spec.(task.Action).Run(ctx, s.Env); err != nil || len(s.effects) != 1 {
		t.Errorf("%v, %+v", err, s.effects)
	}
}
