package actions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/task"
)

var signalKind = kind("signal", "Send a signal to a process. Its undo list says what takes the effect back. A signal that ends processes makes their end expected.", func() *signal { return &signal{} })

type signal struct {
	OnProcess
	Send string `yaml:"send" required:"true" enum:"HUP|INT|QUIT|KILL|USR1|USR2|TERM|STOP|CONT|WINCH" doc:"the signal, without SIG"`
	Tree bool   `yaml:"tree" doc:"send it to everything that the process started too"`
}

// TakesUndo: an undo list may stand beside it.
func (s *signal) TakesUndo() {}

func (s *signal) Run(ctx context.Context, env *task.Env) error {
	if err := journalUndo(ctx, env); err != nil {
		return err
	}
	return s.each(ctx, env, "change", "got SIG"+s.Send, func(p task.Process) error {
		over := func(task.Effect) {}
		if s.breaks() {
			over = env.Fault(task.Fault{What: fmt.Sprintf("SIG%s to %s/%d", s.Send, p.Name(), p.Replica()), Moment: true})
		}
		if err := env.Processes.Signal(p, s.Send, s.Tree); err != nil {
			return err
		}
		over(s.arrived(ctx, p))
		return nil
	})
}

// breaks reports whether the signal is one that ends or stops programs; others are what programs make of them.
func (s *signal) breaks() bool {
	return slices.Contains([]string{"KILL", "TERM", "INT", "QUIT", "STOP"}, s.Send)
}

// arrived waits until the signal has done what no program can prevent: SIGKILL and SIGSTOP. Of the others it is seen whether
// they did it at once. The end of the phase does not cut that short, or a signal just before it would look like one that did
// nothing.
func (s *signal) arrived(ctx context.Context, p task.Process) task.Effect {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), untilStopped)
	defer cancel()
	switch s.Send {
	case "STOP":
		return s.stopped(within, ctx, p)
	case "KILL":
		select {
		case <-p.Exited():
			return task.Effect{Seen: "it ended"}
		case <-within.Done():
			return inVain(ctx, "it did not end")
		}
	}
	return task.Effect{Seen: "it was sent; when the process ended is an event"}
}

func (s *signal) stopped(within, ctx context.Context, p task.Process) task.Effect {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		if alive, halted := proc.Halted([]int{p.PID()}); alive > 0 && halted {
			return task.Effect{Seen: "it was seen to be stopped"}
		}
		select {
		case <-look.C:
		case <-within.Done():
			return inVain(ctx, "it was not stopped")
		}
	}
}

// inVain says that what was waited for did not come in time, or not before the phase was over.
func inVain(ctx context.Context, what string) task.Effect {
	if ctx.Err() != nil {
		return task.Effect{Unfelt: what + " before its phase was over"}
	}
	return task.Effect{Unfelt: fmt.Sprintf("%s within %v", what, untilStopped)}
}

const undoSignalKind = "signal"

// signalEntry is what the journal keeps of a signal that undoes something.
type signalEntry struct {
	Processes []proc.Ref `json:"processes"`
	Send      string     `json:"send"`
	Tree      bool       `json:"tree"`
}

func signalData(p task.Process, send string, tree bool) signalEntry {
	return signalEntry{Processes: []proc.Ref{proc.RefOf(p)}, Send: send, Tree: tree}
}

// says is what was sent to whom: "CONT to web/0, web/1".
func (e signalEntry) says() string {
	var to []string
	for _, p := range e.Processes {
		to = append(to, p.String())
	}
	return e.Send + " to " + strings.Join(to, ", ")
}

// UndoData keeps which processes are meant, as they are now.
func (s *signal) UndoData(_ context.Context, env *task.Env) (string, any, error) {
	procs, err := s.find(env)
	if err != nil {
		return "", nil, err
	}
	e := signalEntry{Send: s.Send, Tree: s.Tree}
	for _, p := range procs {
		e.Processes = append(e.Processes, proc.RefOf(p))
	}
	return undoSignalKind, e, nil
}

func undoSignal(_ context.Context, env *task.UndoEnv, e signalEntry) error {
	var errs []error
	for _, r := range e.Processes {
		if err := r.Signal(env, e.Send, e.Tree); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
