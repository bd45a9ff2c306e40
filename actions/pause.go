package actions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var pauseKind = kind("pause", "Stop a process for a while: SIGSTOP to everything that it started, SIGCONT afterwards. Its connections stay open, and nothing answers on them.", func() *pause { return &pause{} })

type pause struct {
	OnProcess
	For dsl.Duration `yaml:"for" min:"1ms" doc:"how long; left out: until the phase ends"`
}

// Lasting: without a length of its own it ends with its phase.
func (p *pause) Lasting() bool { return p.For == 0 }

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
	defer func() {
		for i, q := range procs {
			cont := env.Processes.Signal(q, "CONT", true)
			if errors.Is(cont, os.ErrProcessDone) {
				cont = nil // it died while it was paused, which is an event of its own
			}
			if cont == nil {
				env.Event("fault", fmt.Sprintf("%s/%d goes on", q.Name(), q.Replica()), map[string]any{"process": q.Name(), "replica": q.Replica(), "pid": q.PID()})
				cont = entries[i].Done()
			}
			err = errors.Join(err, cont)
		}
	}()
	if err := p.each(ctx, env, "fault", "is paused", func(q task.Process) error { return env.Processes.Signal(q, "STOP", true) }); err != nil {
		return err
	}
	var over <-chan time.Time
	if p.For > 0 {
		over = time.After(p.For)
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}
