package proc

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/planrun/planrun/engine/proc/kernel"
)

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
	e, err := p.group.opts.Journal.Add(kindProcess, &p.id)
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
	e2, jerr := p.group.opts.Journal.Add(kindProcess, &id)
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
