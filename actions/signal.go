package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

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
		return env.Processes.Signal(p, s.Send, s.Tree)
	})
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

func undoSignal(_ context.Context, env *task.UndoEnv, data json.RawMessage) error {
	var e signalEntry
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("reading the entry of a signal: %w", err)
	}
	var errs []error
	for _, r := range e.Processes {
		if err := r.Signal(env, e.Send, e.Tree); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
