package proc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/worker"
)

// A Process is one start of a process. It implements task.Process and task.Logged.
type Process struct {
	spec    task.ProcessSpec
	group   *Group
	command []string // as it was started
	log     string
	logFrom int64
	client  atomic.Pointer[worker.Client]   // of a builtin
	last    atomic.Pointer[json.RawMessage] // the body of a builtin's newest sample
	ready   json.RawMessage
	cgroup  *cgroup
	exited  chan struct{}

	stopOnce sync.Mutex // one stop at a time
	stopped  bool
	begun    atomic.Bool // it became ready
	ending   atomic.Bool // it was told to stop: it may answer nothing until it has

	mu       sync.Mutex
	entries  []task.Entry // of the journal, done when it was stopped
	id       identity
	seen     map[int]uint64 // processes of its tree, with their start times
	wanted   bool           // its end is expected
	status   string
	expected bool
	cpus     []int
	cpusAt   time.Time
}

var (
	_ task.Process = (*Process)(nil)
	_ task.Logged  = (*Process)(nil)
)

func (p *Process) Name() string            { return p.spec.Name }
func (p *Process) Role() string            { return p.spec.Role }
func (p *Process) Replica() int            { return p.spec.Replica }
func (p *Process) Ports() map[string]int   { return maps.Clone(p.spec.Ports) }
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Command is the command line as it was started.
func (p *Process) Command() []string { return slices.Clone(p.command) }

// Spec is what it was started from.
func (p *Process) Spec() task.ProcessSpec { return p.spec }

// Log returns the path of its log, and the byte at which the output of this start begins.
func (p *Process) Log() (path string, from int64) { return p.log, p.logFrom }

// PID is that of its first process; after that one ended successfully and left daemons behind, of the first of them.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.id.PID
}

// Exit says how it ended.
func (p *Process) Exit() (status string, expected bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status, p.expected
}

func (p *Process) String() string { return p.spec.Name + "/" + strconv.Itoa(p.spec.Replica) }

// Tree returns the ids of all its processes.
func (p *Process) Tree() ([]int, error) {
	tree, err := p.tree()
	pids := make([]int, len(tree))
	for i, s := range tree {
		pids[i] = s.PID
	}
	return pids, err
}

func (p *Process) tree() ([]kernel.Stat, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.id.tree(p.seen)
}

// CPUs returns the CPUs on which the threads of its tree may run, read from the kernel at most a second ago; nil if it is
// not pinned. A thread that was pinned elsewhere shows here.
func (p *Process) CPUs() []int {
	if p.spec.CPUs == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cpus != nil && time.Since(p.cpusAt) < time.Second {
		return slices.Clone(p.cpus)
	}
	tree, err := p.id.tree(p.seen)
	if err != nil {
		return slices.Clone(p.cpus)
	}
	var all []int
	for _, s := range tree {
		threads, err := kernel.Threads(s.PID)
		if err != nil {
			continue
		}
		for _, cpus := range threads {
			all = append(all, cpus...)
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		p.cpus, p.cpusAt = slices.Compact(all), time.Now()
	}
	return slices.Clone(p.cpus)
}

var errNoBuiltin = errors.New("it is no builtin")

// Client is the session with a builtin, for what task.Process does not offer; nil for a command.
func (p *Process) Client() *worker.Client { return p.client.Load() }

// Control sends a builtin a control message.
func (p *Process) Control(ctx context.Context, body, reply any) error {
	c := p.client.Load()
	if c == nil {
		return fmt.Errorf("controlling %s: %w", p, errNoBuiltin)
	}
	return c.Control(ctx, body, reply)
}

// Sample asks a builtin for a sample. Of one that was told to end it is the last one that it sent: once it has ended
// gracefully, that of its end.
func (p *Process) Sample(ctx context.Context, body any) error {
	c := p.client.Load()
	if p.spec.Builtin != "" && !p.begun.Load() {
		return fmt.Errorf("sampling %s: %w", p, task.ErrNotReady)
	}
	if c == nil {
		return fmt.Errorf("sampling %s: %w", p, errNoBuiltin)
	}
	if last := p.last.Load(); last != nil && p.ending.Load() {
		if err := json.Unmarshal(*last, body); err != nil {
			return fmt.Errorf("decoding the last sample of %s: %w", p, err)
		}
		return nil
	}
	return c.Sample(ctx, body)
}

// sampled keeps what a builtin reports.
func (p *Process) sampled(body json.RawMessage) {
	kept := slices.Clone(body)
	p.last.Store(&kept)
	if p.spec.OnSample != nil {
		p.spec.OnSample(body)
	}
}

// ReadyBody is the body of a builtin's ready message.
func (p *Process) ReadyBody() json.RawMessage { return p.ready }

// Begin sends a held builtin its time zero.
func (p *Process) Begin(ctx context.Context) error {
	c := p.client.Load()
	if c == nil {
		return fmt.Errorf("beginning %s: %w", p, errNoBuiltin)
	}
	return c.Start(ctx)
}

// expectEnd says that its end will be no surprise.
func (p *Process) expectEnd() {
	p.mu.Lock()
	p.wanted = true
	p.mu.Unlock()
}

// signal sends a signal to the process, or to its whole tree.
func (p *Process) signal(name string, whole bool) error {
	sig, err := signalNumber(name)
	if err != nil {
		return err
	}
	switch sig {
	case syscall.SIGTERM, syscall.SIGKILL, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGABRT:
		p.expectEnd()
	}
	tree, err := p.tree()
	if err != nil {
		return fmt.Errorf("looking for the processes of %s: %w", p, err)
	}
	pid, sent := p.PID(), false
	for _, s := range tree {
		if whole || s.PID == pid {
			send(s, sig)
			sent = true
		}
	}
	if !sent {
		return fmt.Errorf("sending %s to %s: %w", name, p, os.ErrProcessDone)
	}
	return nil
}

// stop ends the process with its tree, gives back what it used and marks its journal entries.
func (p *Process) stop(ctx context.Context) error {
	return p.stopWithin(ctx, cmp.Or(p.spec.Grace, DefaultGrace))
}

// unread is how long what a builtin said before it ended may take to be read.
const unread = 10 * time.Second

// stopWithin is stop with a grace of its own.
func (p *Process) stopWithin(ctx context.Context, grace time.Duration) error {
	p.stopOnce.Lock()
	defer p.stopOnce.Unlock()
	if p.stopped {
		return nil
	}
	p.expectEnd()
	p.ending.Store(true)
	if c := p.client.Load(); c != nil {
		begun := time.Now()
		drain, cancel := context.WithTimeout(ctx, grace)
		_ = c.Stop(drain) // what comes next ends it in any case
		select {
		case <-c.Done():
			select { // it exits by itself now
			case <-p.exited:
			case <-drain.Done():
			}
		default:
		}
		cancel()
		grace = max(grace-time.Since(begun), 100*time.Millisecond)
		c.Close()
	}
	p.mu.Lock()
	id := p.id
	seen := maps.Clone(p.seen)
	p.mu.Unlock()
	id.GraceMs = grace.Milliseconds()
	if err := id.end(ctx, seen); err != nil {
		return err
	}
	<-p.exited
	if c := p.client.Load(); c != nil { // what it said is in the pipe, and those that take it may be behind
		select {
		case <-c.Done():
		case <-time.After(unread):
		}
	}
	if err := p.cgroup.release(); err != nil {
		return err
	}
	p.mu.Lock()
	entries := p.entries
	p.mu.Unlock()
	for _, e := range slices.Backward(entries) {
		if err := e.Done(); err != nil {
			return err
		}
	}
	p.stopped = true
	p.group.forget(p)
	return nil
}
