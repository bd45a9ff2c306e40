package actions

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var pauseKind = kind("pause", "Stop a process for a while: SIGSTOP to everything that it started, SIGCONT afterwards. Its connections stay open, and nothing answers on them. It is watched whether everything stays stopped, which a guard says.", func() *pause { return &pause{} })

type pause struct {
	OnProcess
	For dsl.Duration `yaml:"for" min:"1ms" doc:"how long; left out: until the phase ends"`
}

// Lasting: without a length of its own it ends with its phase.
func (p *pause) Lasting() bool { return p.For == 0 }

// Takes is how long it lasts if that is its own affair; 0 if it ends with its phase.
func (p *pause) Takes() time.Duration { return p.For }

// DefaultName says what it does.
func (p *pause) DefaultName() string { return "pause of " + p.Process }

func (p *pause) Run(ctx context.Context, env *task.Env) (err error) {
	procs, err := p.find(env)
	if err != nil {
		return err
	}
	var entries []task.Entry
	for _, q := range procs {
		e, err := env.Journal.Add(undoSignalKind, signalData(q, "CONT", true))
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	over, missed := func(task.Effect) {}, ""
	watch, err := watchStopped(procs)
	if err != nil {
		return err
	}
	defer func() {
		watch.see(time.Now())
		for i, q := range procs {
			cont := env.Processes.Signal(q, "CONT", true)
			if errors.Is(cont, os.ErrProcessDone) {
				cont = nil // it died while it was paused, which is an event of its own
			}
			if cont == nil {
				cont = entries[i].Done()
			}
			err = errors.Join(err, cont)
		}
		e := watch.effect()
		e.Unfelt = cmp.Or(missed, e.Unfelt)
		over(e)
	}()
	n, err := stopAll(ctx, env, procs)
	if watch.only(n); n > 0 {
		over = env.Fault(task.Fault{What: "pause of " + named(procs[:n])})
	}
	if n < len(procs) {
		missed = "it ended before " + named(procs[n:]) + " was paused too"
		return err
	}
	return watch.during(ctx, p.For)
}

// stopAll stops processes until ctx is over or one cannot be stopped, and says how many it stopped.
func stopAll(ctx context.Context, env *task.Env, procs []task.Process) (int, error) {
	for i, q := range procs {
		if ctx.Err() != nil {
			return i, ended(ctx)
		}
		if err := env.Processes.Signal(q, "STOP", true); err != nil {
			return i, err
		}
	}
	return len(procs), nil
}
