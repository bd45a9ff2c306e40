package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// GroupOptions of a Group.
type GroupOptions struct {
	Dir     string       // where its logs and its commands.jsonl go; made if missing
	Journal task.Journal // takes what would undo its processes
	Parent  *Group       // Find and All look there too; nil: none

	// OnOOM is called when the kernel killed processes of a cgroup for want of memory: of a process, or of a role whose
	// processes share it. It must not wait. nil: nobody wants to know.
	OnOOM func(who string, kills int)
	// Adjustable says whose limits are to change while they run, by name; of the limits it matters which are not 0.
	Adjustable map[string]task.Limits
}

// A Group is the processes and ports of an installation, of a run, or of the plan. It implements task.Processes.
type Group struct {
	m     *Manager
	opts  GroupOptions
	ports portClaim

	mu      sync.Mutex
	procs   []*Process
	cgroups map[string]*cgroup // shared ones, by Limits.Group
}

var _ task.Processes = (*Group)(nil)

// Group begins a group.
func (m *Manager) Group(opts GroupOptions) (*Group, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "logs"), 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("making the directory of logs: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // logs are recognised by the path that the kernel knows
		return nil, fmt.Errorf("finding the directory of logs: %w", err)
	}
	opts.Dir = dir
	if opts.Journal == nil {
		return nil, errors.New("a group of processes needs a journal")
	}
	return &Group{m: m, opts: opts, cgroups: map[string]*cgroup{}}, nil
}

// Ports gives out n ports, which stay claimed until Close.
func (g *Group) Ports(n int) ([]int, error) { return g.ports.take(n) }

// Find returns the live processes of that name, by replica.
func (g *Group) Find(name string) ([]task.Process, error) {
	var names []string
	for at := g; at != nil; at = at.opts.Parent {
		var found []task.Process
		for _, p := range at.live() {
			if p.spec.Name == name {
				found = append(found, p)
			} else {
				names = append(names, p.spec.Name)
			}
		}
		if len(found) > 0 {
			slices.SortStableFunc(found, func(a, b task.Process) int { return cmp.Compare(a.Replica(), b.Replica()) })
			return found, nil
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil, fmt.Errorf("no process %s runs; none does", name)
	}
	return nil, fmt.Errorf("no process %s runs; these do: %s", name, strings.Join(names, ", "))
}

// All returns the live processes, those of the parents first, in the order in which they were started.
func (g *Group) All() []task.Process {
	var out []task.Process
	if g.opts.Parent != nil {
		out = g.opts.Parent.All()
	}
	for _, p := range g.live() {
		out = append(out, p)
	}
	return out
}

func (g *Group) live() []*Process {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []*Process
	for _, p := range g.procs {
		select {
		case <-p.exited:
		default:
			out = append(out, p)
		}
	}
	return out
}

// own makes sure that a process was started by a group of this package.
func own(p task.Process) (*Process, error) {
	q, ok := p.(*Process)
	if !ok {
		return nil, fmt.Errorf("process %s was not started here", p.Name())
	}
	return q, nil
}

// Stop ends one with its whole tree. Stopping it twice does nothing.
func (g *Group) Stop(ctx context.Context, p task.Process) error {
	q, err := own(p)
	if err != nil {
		return err
	}
	return q.stop(ctx)
}

// StopWithin is Stop with another grace than that of its start.
func (g *Group) StopWithin(ctx context.Context, p task.Process, grace time.Duration) error {
	q, err := own(p)
	if err != nil {
		return err
	}
	return q.stopWithin(ctx, grace)
}

// Release gives ports up before Close: those of a process that has ended for good.
func (g *Group) Release(ports ...int) { g.ports.release(ports...) }

// Restart stops it and starts it again. The new one's log goes on in the same file.
func (g *Group) Restart(ctx context.Context, p task.Process) (task.Process, error) {
	q, err := own(p)
	if err != nil {
		return nil, err
	}
	if err := q.stop(ctx); err != nil {
		return nil, fmt.Errorf("restarting %s: %w", q, err)
	}
	again, err := q.group.start(ctx, q.spec)
	if err != nil {
		return nil, fmt.Errorf("restarting %s: %w", q, err)
	}
	return again, nil
}

// Signal sends a signal to the process, or to its whole tree. A signal that ends processes makes the end expected.
func (g *Group) Signal(p task.Process, signal string, tree bool) error {
	q, err := own(p)
	if err != nil {
		return err
	}
	return q.signal(signal, tree)
}

func (g *Group) forget(p *Process) {
	g.mu.Lock()
	g.procs = slices.DeleteFunc(g.procs, func(q *Process) bool { return p == q })
	g.mu.Unlock()
	g.m.mu.Lock()
	delete(g.m.live, p.id.Start)
	g.m.mu.Unlock()
}

// Close stops what still runs or left something behind, the last one first, and gives the ports up. It goes on after a
// failure.
func (g *Group) Close(ctx context.Context) error {
	g.mu.Lock()
	procs := slices.Clone(g.procs)
	g.mu.Unlock()
	var errs []error
	for _, p := range slices.Backward(procs) {
		errs = append(errs, p.stop(ctx))
	}
	g.mu.Lock()
	for _, c := range g.cgroups {
		errs = append(errs, c.remove())
	}
	clear(g.cgroups)
	g.mu.Unlock()
	g.ports.releaseAll()
	return errors.Join(errs...)
}
