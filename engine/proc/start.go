package proc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
)

var errEnded = errors.New("it ended before it was ready")

// Start starts a process and returns when it is ready; one that does not become ready is ended. Errors are a
// *MissingProgram, a *Refusal (what it asks for cannot be had here), a *StartError, or about the journal and files.
func (g *Group) Start(ctx context.Context, spec task.ProcessSpec) (task.Process, error) {
	p, err := g.start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// graceUnready is the grace of a process that never became ready: it has nothing to lose.
const graceUnready = 2 * time.Second

func (g *Group) start(ctx context.Context, spec task.ProcessSpec) (*Process, error) {
	p, err := g.prepare(spec)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p, context.Cause(ctx))
	}
	if err := g.portsFree(&p.spec); err != nil {
		return nil, errors.Join(&StartError{Process: p.String(), Reason: err.Error()}, p.cgroup.release())
	}
	pipes, err := p.spawn()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", p, err), p.cgroup.release())
	}
	err = p.awaitReady(ctx, pipes)
	if err == nil {
		p.begun.Store(true)
		return p, nil
	}
	if errors.Is(err, errEnded) {
		<-p.exited
		err = fmt.Errorf("%w: %s", errEnded, p.status)
	}
	p.expectEnd()
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceUnready)
	defer cancel()
	left := p.stop(short)
	if ctx.Err() != nil && !errors.Is(err, errEnded) {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", p, context.Cause(ctx)), left)
	}
	return nil, errors.Join(&StartError{Process: p.String(), Reason: err.Error(), Log: p.log, Tail: tail(p.log, p.logFrom)}, left)
}

// prepare finds everything that a start needs, and changes nothing but directories, the log and cgroups.
func (g *Group) prepare(spec task.ProcessSpec) (*Process, error) {
	if spec.Role == "" {
		spec.Role = "sut"
	}
	if _, err := signalNumber(spec.Stop); err != nil {
		return nil, err
	}
	if spec.Grace == 0 {
		spec.Grace = DefaultGrace
	}
	if spec.Dir == "" {
		spec.Dir = g.opts.Dir
	}
	dir, err := filepath.Abs(spec.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("making the working directory of %s: %w", spec.Name, err)
	}
	spec.Dir = dir
	p := &Process{spec: spec, group: g, exited: make(chan struct{}), seen: map[int]uint64{}}
	switch {
	case spec.Builtin != "" && len(spec.Command) == 0:
		p.command = append(append([]string{}, g.m.opts.Worker...), spec.Builtin)
	case spec.Builtin == "" && len(spec.Command) > 0 && spec.Command[0] != "":
		p.command = append([]string{}, spec.Command...)
	default:
		return nil, fmt.Errorf("process %s needs either a command or a builtin", spec.Name)
	}
	p.log = filepath.Join(g.opts.Dir, "logs", fileName(spec.Name)+"-"+strconv.Itoa(spec.Replica)+".log")
	if i, err := os.Stat(p.log); err == nil {
		p.logFrom = i.Size()
	}
	p.id = identity{
		Name: spec.Name, Replica: spec.Replica, Token: g.m.opts.Token, Start: rand.Text(), Boot: kernel.BootID(),
		Log: p.log, Stop: spec.Stop, GraceMs: spec.Grace.Milliseconds(),
	}
	if p.cgroup, err = g.limit(&spec, &p.id); err != nil {
		return nil, err
	}
	return p, nil
}

// fileName makes a name of the plan one of a file.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == 0 {
			return '_'
		}
		return r
	}, name)
}

// awaitReady returns when the process is ready. A command must be alive then.
func (p *Process) awaitReady(ctx context.Context, ends pipes) error {
	if p.spec.Once {
		return nil
	}
	within := p.spec.Ready.Within
	if within == 0 {
		within = DefaultWithin
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("after %v", within))
	defer cancel()
	if p.spec.Builtin != "" {
		if err := p.configure(ctx, ends); err != nil {
			return err
		}
	}
	log := NewLogReader(p.log, p.logFrom)
	conds, err := conditions(&p.spec, log)
	if err != nil {
		return err
	}
	if p.spec.Builtin == "" {
		conds = append(conds, p.settled(time.Now()))
	}
	return await(ctx, conds, p.exited, p.remember)
}

// settled is the last condition of a command: it did not end within a moment of its start, as one with a wrong option
// does, even if somebody else answers on its port.
func (p *Process) settled(begun time.Time) condition {
	return func(context.Context) error {
		select {
		case <-p.exited:
			return errEnded
		default:
		}
		if time.Since(begun) < 50*time.Millisecond {
			return errors.New("it was only just started")
		}
		return nil
	}
}
