package actions

import (
	"context"

	"github.com/planrun/planrun/engine/task"
)

var stopKind = kind("stop", "Stop a process with everything that it started: its stop signal, its grace, then SIGKILL. Its end is expected, so it is no event of the kind exit.", func() *stop { return &stop{} })

type stop struct {
	OnProcess
}

func (s *stop) Run(ctx context.Context, env *task.Env) error {
	return s.each(ctx, env, "change", "stopped", func(p task.Process) error { return env.Processes.Stop(ctx, p) })
}
