package proc

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/worker"
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
		return p, nil
	}
	if errors.Is(err, errEnded) {
		<-p.exited
		err = fmt.Errorf("%w: %s", errEnded, p.status)
	}
	p.expectEnd()
	left := p.stop(context.WithoutCancel(ctx))
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

// pipes are the engine's ends of a builtin's standard input and output.
type pipes struct{ in, out *os.File }

// spawn journals, starts, journals the process id, and begins to watch.
func (p *Process) spawn() (io pipes, err error) {
	stop, _ := signalNumber(p.spec.Stop)
	path, err := lookPath(p.command[0], p.spec.Dir, p.spec.Env)
	if err != nil {
		return io, err
	}
	path, argv, err := limited(path, p.command, &p.spec, p.cgroup.files())
	if err != nil {
		return io, err
	}
	files, io, err := p.files()
	if err != nil {
		return io, err
	}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	e, err := p.group.opts.Journal.Add(KindProcess, &p.id)
	if err != nil {
		io.close()
		return io, err
	}
	attr := os.ProcAttr{Dir: p.spec.Dir, Env: environment(p.spec.Env, &p.id), Files: files}
	child, err := spawn(path, argv, attr, p.spec.CPUs, stop)
	if child == nil {
		io.close()
		return io, errors.Join(err, e.Done())
	}
	p.entries = append(p.entries, e)
	p.id.PID, p.id.Begun = child.Pid, kernel.StartTime(child.Pid)
	if p.id.Begun == 0 { // it has ended already; its zombie still has a start time
		if s, ok := kernel.Read(child.Pid); ok {
			p.id.Begun = s.Start
		}
	}
	p.group.mu.Lock()
	p.group.procs = append(p.group.procs, p)
	p.group.mu.Unlock()
	p.group.m.mu.Lock()
	p.group.m.live[p.id.Start] = p
	p.group.m.mu.Unlock()
	p.mu.Lock()
	id := p.id
	p.mu.Unlock()
	e2, jerr := p.group.opts.Journal.Add(KindProcess, &id)
	if jerr == nil {
		p.entries = append(p.entries, e2) // nobody else looks before it is watched
		jerr = p.group.record(p)
	}
	go p.watch(child)
	if err = errors.Join(err, jerr); err != nil {
		io.close()
		return io, errors.Join(err, p.stop(context.Background()))
	}
	return io, nil
}

// files are the child's standard input, output and error, to be closed here after the start.
func (p *Process) files() (files []*os.File, io pipes, err error) {
	open := func(name string, flag int) (f *os.File) {
		if err == nil {
			f, err = os.OpenFile(name, flag, 0o644)
		}
		if f != nil {
			files = append(files, f)
		}
		return f
	}
	log := open(p.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	in, out := log, log
	if p.spec.Builtin == "" {
		in = open(os.DevNull, os.O_RDONLY)
		if p.spec.Output != "" {
			out = open(p.spec.Output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		}
	} else if err == nil {
		if in, io.in, err = os.Pipe(); err == nil {
			files = append(files, in)
			if io.out, out, err = os.Pipe(); err == nil {
				files = append(files, out)
			}
		}
	}
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		io.close()
		return nil, pipes{}, fmt.Errorf("opening its standard files: %w", err)
	}
	return []*os.File{in, out, log}, io, nil
}

func (io pipes) close() {
	if io.in != nil {
		io.in.Close()
	}
	if io.out != nil {
		io.out.Close()
	}
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

// configure speaks with a builtin until it is ready, and unless it is held tells it to start.
func (p *Process) configure(ctx context.Context, ends pipes) error {
	type dialled struct {
		c   *worker.Client
		err error
	}
	got := make(chan dialled, 1)
	go func() {
		c, err := worker.Dial(ends.in, readCloser{ends.out}, worker.Options{Name: p.String(), Kind: p.spec.Builtin, OnSample: p.spec.OnSample})
		got <- dialled{c, err}
	}()
	select {
	case d := <-got:
		if d.err != nil {
			return p.endedOr(d.err)
		}
		p.client.Store(d.c)
	case <-ctx.Done():
		ends.in.Close() // it ends, and with it the dialling
		return fmt.Errorf("it does not say hello: %w", context.Cause(ctx))
	}
	var body json.RawMessage
	if err := p.Client().Configure(ctx, p.spec.Config, &body); err != nil {
		return p.endedOr(err)
	}
	p.ready = body
	if p.spec.Hold {
		return nil
	}
	if err := p.Client().Start(ctx); err != nil {
		return p.endedOr(err)
	}
	return nil
}

// endedOr says that the process ended, if that is why the session did.
func (p *Process) endedOr(err error) error {
	select {
	case <-p.exited:
		return fmt.Errorf("%w (%w)", errEnded, err)
	case <-time.After(200 * time.Millisecond):
		return err
	}
}

// readCloser closes the engine's end of the output once it was read to its end.
type readCloser struct{ f *os.File }

func (r readCloser) Read(b []byte) (int, error) {
	n, err := r.f.Read(b)
	if err == io.EOF {
		r.f.Close()
	}
	return n, err
}
