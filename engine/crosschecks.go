package engine

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/crosscheck"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/load"
)

// A cross-check lasts as long as its load was measured, within these bounds.
const (
	shortestCheck = time.Second
	longestCheck  = 10 * time.Second
)

// plannedChecks are the records of cross-checks that are to come, so that one that never came says so.
func plannedChecks(generators []string) (out []record.CrossCheck) {
	for _, name := range generators {
		if !slices.ContainsFunc(out, func(c record.CrossCheck) bool { return c.Generator == name }) {
			out = append(out, record.CrossCheck{Generator: name, NotRun: "the run ended before its turn"})
		}
	}
	return out
}

// crossChecks has other generators do what the loads did, one after another, while the target is as the phases left it.
// What they cannot do, or do wrong, is recorded in words and fails nothing; an error is the end of ctx. A run that did not
// come to the end of its phases (problem) has none.
func (r *run) crossChecks(ctx context.Context, problem error) error {
	r.mu.Lock()
	loads := slices.Clone(r.rec.Loads)
	r.mu.Unlock()
	if problem != nil || !slices.ContainsFunc(loads, func(l record.Load) bool { return len(l.CrossChecks) > 0 }) {
		return problem
	}
	before := r.inst.readServers(ctx)
	defer func() { r.aside = r.inst.readServers(ctx).since(before) }()
	for i, l := range loads {
		for k, c := range l.CrossChecks {
			c = r.crossCheck(ctx, &l, c.Generator)
			if err := context.Cause(ctx); err != nil {
				return err
			}
			r.editLoad(i, func(l *record.Load) {
				l.CrossChecks = slices.Clone(l.CrossChecks)
				l.CrossChecks[k] = c
			})
		}
	}
	return nil
}

// crossCheck runs one generator.
func (r *run) crossCheck(ctx context.Context, l *record.Load, name string) record.CrossCheck {
	c := record.CrossCheck{Generator: name}
	g := crosscheck.Find(name)
	if g == nil {
		c.NotRun = "this build knows no such generator"
		return c
	}
	if why := g.Cannot(l.Spec); why != "" {
		c.NotRun = "it " + why
		return c
	}
	path, err := exec.LookPath(name)
	if err != nil {
		c.NotRun = "it is not installed: no program of that name is on PATH"
		return c
	}
	length := checkLength(r.measuredOf(l))
	p := g.Prepare(crosscheck.Job{Spec: l.Spec, Length: length, CPUs: len(l.CPUs)})
	c.Version, c.Method, c.Command = r.generatorVersion(ctx, g, path), p.Method, p.Commands[0].Args
	r.progress.Phase(r.rec.Coord, "cross-check with "+name, length)
	c.Start = r.since(time.Now())
	f, err := r.runGenerator(ctx, l, g, p, length)
	c.End = r.since(time.Now())
	if err != nil {
		c.NotRun = "it failed: " + err.Error()
		return c
	}
	f.Otherwise = p.Otherwise
	c.Figures = &f
	return c
}

// runGenerator runs its commands in a directory of their own and reads what they left there.
func (r *run) runGenerator(ctx context.Context, l *record.Load, g *crosscheck.Generator, p crosscheck.Plan, length time.Duration) (f record.Figures, err error) {
	dir := filepath.Join(r.out.Dir, "cross-check", l.Name+"-"+g.Name)
	defer func() {
		for _, name := range p.Leftovers {
			if e := os.Remove(filepath.Join(dir, name)); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return f, err
	}
	for name, text := range p.Files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil { // it may hold secrets until the plan is over
			return f, err
		}
	}
	for _, cmd := range p.Commands {
		if err := r.runToEnd(ctx, l, g.Name, dir, cmd, length+l.Spec.Timeout+10*time.Second); err != nil {
			return f, err
		}
	}
	return g.Read(os.DirFS(dir), l.Spec.Expect)
}

// runToEnd runs a command on the CPUs and within the limits of the load. It is ended after a while, and when ctx is.
func (r *run) runToEnd(ctx context.Context, l *record.Load, name, dir string, cmd crosscheck.Command, within time.Duration) error {
	p, err := r.procs.Start(ctx, task.ProcessSpec{Name: "cross-check-" + name, Role: "exec", Command: cmd.Args, Dir: dir, CPUs: l.CPUs, Nice: r.p.Host.Nice,
		Limits: r.inst.limits("load"), Once: true, Output: filepath.Join(dir, cmd.Output), Grace: time.Second})
	if err != nil {
		return err
	}
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	late := false
	select {
	case <-p.Exited():
	case <-timeout.C:
		late = true
	case <-ctx.Done():
	}
	if err := r.procs.Stop(context.WithoutCancel(ctx), p); err != nil {
		return err
	}
	switch status, _ := p.Exit(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case late:
		return fmt.Errorf("it did not end within %v", within)
	case status != "exit status 0":
		return fmt.Errorf("%s%s", status, lastWords(p))
	}
	return nil
}

// lastWords are the last line of a process's log.
func lastWords(p task.Process) string {
	l, ok := p.(task.Logged)
	if !ok {
		return ""
	}
	path, from := l.Log()
	b, err := os.ReadFile(path)
	if err != nil || from > int64(len(b)) {
		return ""
	}
	text := strings.TrimSpace(string(b[from:]))
	if text = text[strings.LastIndexByte(text, '\n')+1:]; text == "" {
		return ""
	}
	return ": " + text[:min(len(text), 200)]
}

// measuredOf is how long a load was measured: in the headline phases, else in all that are recorded, else in all.
func (r *run) measuredOf(l *record.Load) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range []func(record.Phase) bool{
		func(p record.Phase) bool { return p.Headline },
		func(p record.Phase) bool { return p.Recorded },
		func(record.Phase) bool { return true },
	} {
		sum := 0.0
		for _, p := range r.rec.Phases {
			if in(p) {
				sum += max(0, min(p.End, l.Stopped)-max(p.Start, l.Start))
			}
		}
		if sum > 0 {
			return time.Duration(sum * float64(time.Second))
		}
	}
	return 0
}

// checkLength is how long a generator runs for a load that was measured for a while: whole seconds.
func checkLength(measured time.Duration) time.Duration {
	whole := time.Duration(math.Ceil(measured.Round(10*time.Millisecond).Seconds())) * time.Second
	return min(max(whole, shortestCheck), longestCheck)
}

// generatorVersion is what a generator says that it is, asked once.
func (s *session) generatorVersion(ctx context.Context, g *crosscheck.Generator, path string) string {
	if v, ok := s.versions[g.Name]; ok {
		return v
	}
	v := ""
	if g.Version != nil {
		v, _, _ = strings.Cut(machine.Program(ctx, "", append([]string{path}, g.Version...)).Version, "\n")
		v, _, _ = strings.Cut(v, " Copyright")
	} else if info, err := buildinfo.ReadFile(path); err == nil {
		v = info.Main.Path + " " + info.Main.Version
	}
	s.versions[g.Name] = v
	return v
}

// crossChecked is an action that other generators do too.
type crossChecked interface {
	CrossChecks() (generators []string, of load.Spec)
}
