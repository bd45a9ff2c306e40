package actions

import (
	"context"
	"fmt"

	"github.com/planrun/planrun/engine/task"
)

var restartKind = kind("restart", "Stop a process and start it again as it was, on the same ports, and wait until it is ready. Several replicas go one after another, so that the others serve meanwhile.", func() *restart { return &restart{} })

type restart struct {
	OnProcess
}

func (r *restart) Run(ctx context.Context, env *task.Env) error {
	return r.each(ctx, env, "restart", "was restarted", func(p task.Process) error {
		want := p.CPUs()
		if s, ok := p.(interface{ Spec() task.ProcessSpec }); ok {
			want = s.Spec().CPUs
		}
		again, err := env.Processes.Restart(ctx, p)
		if err != nil {
			return fmt.Errorf("restarting %s: %w", p.Name(), err)
		}
		env.Started(again, want)
		return nil
	})
}
