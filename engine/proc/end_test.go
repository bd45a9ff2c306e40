package proc

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
)

// Trees that are hard to end. Each says when it is complete.
func TestStopEndsTheWholeTree(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		grace        time.Duration
		least        int // processes when it is up
	}{
		{"children", "sleep 61 & sleep 62 & echo up; wait", 0, 3},
		{"deep", "sh -c 'sh -c \"sleep 61 & sleep 62 & wait\" & wait' & sleep 0.1; echo up; wait", 0, 5},
		{"ignores TERM", "trap '' TERM; sleep 61 & echo up; while :; do sleep 1; done", 300 * time.Millisecond, 2},
		{"a daemon in another session", "setsid sleep 61 & sleep 0.1; echo up; wait", 0, 2},
		{"an orphaned daemon without our environment", "setsid env -i sleep 61 & sleep 0.2; echo up; sleep 62", 0, 2},
		{"paused", "sleep 61 & echo up; kill -STOP $$; wait", 0, 2},
		{"respawns its children", "trap 'sleep 63 & sleep 64' TERM; echo up; while :; do sleep 0.05; done", 300 * time.Millisecond, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "x", Command: sh(tc.script), Ready: task.Ready{Log: "^up$"}, Grace: tc.grace})
			if err != nil {
				t.Fatal(err)
			}
			var tree []kernel.Stat
			eventually(t, "the whole tree is up", func() bool {
				tree, err = p.(*Process).tree()
				return err == nil && len(tree) >= tc.least
			})
			if err := h.g.Stop(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			for _, s := range tree {
				if kernel.StartTime(s.PID) == s.Start {
					t.Errorf("still there: %s", describe([]kernel.Stat{s}))
				}
			}
		})
	}
}

// A command that goes into the background is followed there.
func TestDaemon(t *testing.T) {
	h := newHarness(t)
	exits, over := make(chan string, 1), filepath.Join(h.dir, "over")
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "x", Command: sh("setsid sh -c 'while [ ! -e " + over + " ]; do sleep 0.02; done; exit 9' & exit 0"),
		OnExit: func(status string, expected bool) { exits <- fmt.Sprint(status, " ", expected) }})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process is the daemon", func() bool {
		s, ok := kernel.Read(p.PID())
		return ok && s.PPID == os.Getpid() && s.Session == p.PID()
	})
	if err := os.WriteFile(over, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := <-exits; got != "exit status 9 false" {
		t.Errorf("exit: %s", got)
	}
}

// nginx overwrites its environment, and as a daemon it also leaves its session.
func TestNginx(t *testing.T) {
	for _, daemon := range []string{"off", "on"} {
		t.Run("daemon "+daemon, func(t *testing.T) {
			h := newHarness(t)
			p := startNginx(t, h, daemon)
			resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", p.Ports()["http"]))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			var tree []kernel.Stat
			eventually(t, "a master and two workers", func() bool {
				tree, err = p.(*Process).tree()
				return err == nil && len(tree) == 3
			})
			if err := h.g.Signal(p, "HUP", false); err != nil {
				t.Error(err)
			}
			if err := h.g.Stop(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			for _, s := range tree {
				if kernel.StartTime(s.PID) == s.Start {
					t.Errorf("still there: %s", describe([]kernel.Stat{s}))
				}
			}
			if _, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", p.Ports()["http"])); err == nil {
				t.Error("it still answers")
			}
		})
	}
}

func startNginx(t *testing.T, h *harness, daemon string) task.Process {
	t.Helper()
	dir := filepath.Join(h.dir, "nginx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	port := h.port()
	conf := fmt.Sprintf(`daemon %s; worker_processes 2; error_log stderr; pid %s/nginx.pid; events {}
http { access_log off; server { listen 127.0.0.1:%d; return 204; } }`, daemon, dir, port)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "nginx", Command: []string{"nginx", "-p", dir, "-e", "stderr", "-c", dir + "/nginx.conf"},
		Dir: dir, Ports: map[string]int{"http": port}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHaproxy(t *testing.T) {
	h := newHarness(t)
	port := h.port()
	conf := filepath.Join(h.dir, "haproxy.cfg")
	if err := os.WriteFile(conf, fmt.Appendf(nil, "defaults\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\nfrontend f\n bind 127.0.0.1:%d\n http-request return status 200\n", port), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "haproxy", Command: []string{"haproxy", "-W", "-f", conf}, Ports: map[string]int{"http": port}, Ready: task.Ready{HTTP: "http/"}})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a master and a worker", func() bool {
		tree, err := p.(*Process).Tree()
		return err == nil && len(tree) >= 2
	})
	if err := h.g.Stop(context.Background(), p); err != nil {
		t.Fatal(err)
	}
}

func TestPause(t *testing.T) {
	h := newHarness(t)
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "x", Command: []string{"sleep", "60"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		signal string
		state  byte
	}{{"STOP", 'T'}, {"CONT", 'S'}} {
		if err := h.g.Signal(p, step.signal, true); err != nil {
			t.Fatal(err)
		}
		eventually(t, step.signal, func() bool { s, _ := kernel.Read(p.PID()); return s.State == step.state })
	}
}
