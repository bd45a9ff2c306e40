package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/load"
)

var errNoRun = errors.New("it needs a run: it can stand in a scenario's phases only")

// env is what actions get while a target is installed; a run adds to it.
func (in *installation) env(a *dsl.Part[dsl.Action]) *task.Env {
	return &task.Env{
		Here: here(a),
		Log:  slog.Default(), Dir: in.dir, Journal: in.scope, Processes: in.group, Loads: noLoads{}, Relays: noRelays{}, Backends: noBackends{}, Name: actionName(a),
		Token: in.session.env.Token, Event: in.event, Fault: in.fault, Value: in.setValue, Nice: in.p.Host.Nice,
		Eval:     func(context.Context, dsl.Expr) (any, error) { return nil, errNoRun },
		Snapshot: func(string) (map[string]float64, error) { return nil, errNoRun },
		Template: in.template, Endpoint: in.endpoint, Address: in.address,
		Origins: func(backend string) ([]string, error) { return in.origins(backend), nil }, CPUs: in.cpus, Limits: in.limits, Redact: in.redact, Allowed: in.allowed,
		Ports: func(process string, replica int) map[string]int {
			if all := in.ports[process]; replica < len(all) {
				return all[replica]
			}
			return nil
		},
		Started: in.started, OnExit: in.onExit, Follow: in.follow, ReadFile: in.p.readFile,
	}
}

// started notes a process. One that was started again has its first backends and routes: it learns of those there are now.
func (in *installation) started(p task.Process, want []int) {
	in.note(p, want)
	ctx, cancel := context.WithTimeout(context.Background(), undoBudget)
	defer cancel()
	in.restarted(ctx, p)
	in.mu.Lock()
	is, follow := in.moved.is, in.moved.follow
	in.mu.Unlock()
	if !is {
		return
	}
	for _, update := range follow {
		if err := update(ctx); err != nil {
			in.event("note", fmt.Sprintf("%s was not told of its backends: %v", p.Name(), err), nil)
		}
	}
}

type noLoads struct{}

func (noLoads) Prepare(context.Context, load.Spec, task.LoadOptions) (task.PreparedLoad, error) {
	return nil, errNoRun
}

func (in *installation) cpus(role string) []int {
	c, _ := in.p.Host.CPUs.Get(role)
	return c
}

// limits of a role: its processes share them.
func (in *installation) limits(role string) task.Limits {
	l, _ := in.cell.Limits.Get(role)
	return limits(l, role)
}

func limits(l dsl.Limits, group string) task.Limits {
	if l == (dsl.Limits{}) || l == (dsl.Limits{CountSocketBuffers: true}) {
		return task.Limits{}
	}
	return task.Limits{Memory: int64(l.Memory), CPU: l.CPU, Files: l.Files, Processes: l.Processes, IgnoreSocketBuffers: !l.CountSocketBuffers, Group: group}
}

// setValue keeps what an action of the installation recorded or set; every run on it has it too.
func (in *installation) setValue(name string, v any) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.found == nil {
		in.found = map[string]any{}
	}
	in.found[name] = v
	in.known = in.known.with(known{"values." + name: v})
}

// knownNow is what expressions of the installation can read now.
func (in *installation) knownNow() known {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.known
}

// allowed refuses load to public addresses.
func (s *session) allowed(host string, ip netip.Addr) error {
	switch {
	case !isPublic(ip):
	case !namedIn(s.p.Host.Allow, host, ip):
		return fmt.Errorf("%s (%s) is a public address; to send load there the plan must name it in host.allow, and the command line in --allow", host, ip)
	case !namedIn(s.opt.Allow, host, ip):
		return fmt.Errorf("%s (%s) is a public address; the plan allows it, but the command line must too: --allow %s", host, ip, host)
	}
	return nil
}

// here is the directory of the file that wrote an action.
func here(a *dsl.Part[dsl.Action]) string {
	dir, err := filepath.Abs(filepath.Dir(a.Pos().File))
	if err != nil {
		return ""
	}
	return dir
}
