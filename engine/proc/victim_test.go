package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/task"
)

// victim is an engine that kills itself before or after a journal entry, or is killed from outside. Its arguments are its
// result set, its token, what it starts (all, small), and at which boundary it dies: 2k is before its entry number k, 2k+1
// after it; -1 is never.
func victim(args []string) {
	dir, token, what := args[0], args[1], args[2]
	at, err := strconv.Atoi(args[3])
	check(err)
	j, err := journal.Open(dir, journal.Options{Token: token, Boundary: func(after bool, e journal.Line) {
		n := 2 * (e.Seq - 1)
		if after {
			n++
		}
		if n == at {
			check(syscall.Kill(os.Getpid(), syscall.SIGKILL))
			select {}
		}
	}})
	check(err)
	m, err := New(Options{Token: token})
	check(err)
	g, err := m.Group(GroupOptions{Dir: filepath.Join(dir, "install"), Journal: j})
	check(err)
	if what == "small" {
		for i := range 4 {
			_, err := g.Start(context.Background(), task.ProcessSpec{Name: "tree", Replica: i, Command: sh("sleep 600 & setsid sleep 601 & sleep 602; wait"), Once: i%2 == 0})
			check(err)
		}
	} else {
		victimAll(g, dir)
	}
	fmt.Println("up")
	if at >= 0 {
		return
	}
	time.Sleep(time.Minute)
}

// victimAll starts nginx, three builtins, a daemon, something that ignores SIGTERM, a limited process; restarts one, stops one.
func victimAll(g *Group, dir string) {
	ctx := context.Background()
	start := func(s task.ProcessSpec) task.Process {
		p, err := g.Start(ctx, s)
		check(err)
		return p
	}
	ports, err := g.Ports(2)
	check(err)
	for i, daemon := range []string{"off", "on"} {
		conf := filepath.Join(dir, fmt.Sprintf("nginx-%s.conf", daemon))
		check(os.WriteFile(conf, fmt.Appendf(nil, `daemon %s; worker_processes 2; error_log stderr; pid %s/%s.pid; events {}
http { access_log off; server { listen 127.0.0.1:%d; return 204; } }`, daemon, dir, daemon, ports[i]), 0o644))
		start(task.ProcessSpec{Name: "nginx_" + daemon, Command: []string{"nginx", "-p", dir, "-e", "stderr", "-c", conf}, Dir: dir, Ports: map[string]int{"http": ports[i]}})
	}
	var builtins []task.Process
	for i := range 3 {
		builtins = append(builtins, start(task.ProcessSpec{Name: "web", Replica: i, Builtin: "echo", Config: i}))
	}
	start(task.ProcessSpec{Name: "stubborn", Command: sh("trap '' TERM HUP INT; sleep 600 & echo up; while :; do sleep 1; done"), Grace: 200 * time.Millisecond, Ready: task.Ready{Log: "^up$"}})
	limited := task.ProcessSpec{Name: "limited", Command: []string{"sleep", "600"}, Limits: task.Limits{Processes: 20, Files: 100}, Nice: 1}
	if _, err := g.Start(ctx, limited); errors.As(err, new(*Refusal)) { // no cgroups here
		limited.Limits.Processes = 0
		start(limited)
	} else {
		check(err)
	}
	_, err = g.Restart(ctx, builtins[0])
	check(err)
	check(g.Stop(ctx, builtins[1]))
	once := start(task.ProcessSpec{Name: "once", Command: sh("setsid sleep 600 & exit 0"), Once: true})
	<-once.Exited()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(3)
	}
}
