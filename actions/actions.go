// Package actions holds the actions that a plan can take, one file each. The struct of a kind is its documentation: the
// tags say what each field means, in which unit, and what it is if left out.
package actions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

// Kinds lists every action, sorted by name.
var Kinds = []dsl.Kind{
	addRouteKind,
	applyKind,
	attackKind,
	deleteKind,
	dropKind,
	execKind,
	helmKind,
	httpKind,
	limitKind,
	loadKind,
	patchKind,
	pauseKind,
	rampKind,
	removeRouteKind,
	repeatKind,
	restartKind,
	rolloutKind,
	scaleKind,
	signalKind,
	snapshotKind,
	startKind,
	stopKind,
	sweepKind,
	toggleRouteKind,
	toxicKind,
	waitKind,
	writeKind,
}

// Undos undo what actions journal. Those of processes are with the engine.
var Undos = []task.Undo{
	task.UndoOf(undoExecKind, undoExec, func(e execEntry) string { return strings.Join(e.Command, " ") }),
	task.UndoOf(undoFileKind, undoFile, func(e fileEntry) string { return e.Path }),
	task.UndoOf(undoHTTPKind, undoHTTP, func(e httpEntry) string { return e.URL }),
	task.UndoOf(undoSignalKind, undoSignal, signalEntry.says),
}

// kind makes a Kind of an action. Its type parameter keeps what cannot run out of Kinds.
func kind[A task.Action](name, doc string, new func() A) dsl.Kind {
	return dsl.Kind{Name: name, Doc: doc, New: func() any { return new() }}
}

// later makes a Kind that is in the language, but that this build cannot run, for the reason why.
func later(name, why, doc string, new func() any) dsl.Kind {
	return dsl.Kind{Name: name, Doc: doc, New: new, Later: why}
}

// journalUndo writes the undo list of an action to the journal. What stands first in the list is undone first, so it is
// written last.
func journalUndo(ctx context.Context, env *task.Env) error {
	for _, b := range slices.Backward(env.Undo) {
		step, ok := b.Spec.(task.UndoStep)
		if !ok {
			return fmt.Errorf("undo: %s cannot undo anything; exec, http and signal can", b.Kind)
		}
		kind, data, err := step.UndoData(ctx, env)
		if err != nil {
			return fmt.Errorf("undo: %s: %w", b.Kind, err)
		}
		if _, err := env.Journal.Add(kind, data); err != nil {
			return err
		}
	}
	return nil
}

func readFile(env *task.Env, path string) ([]byte, error) {
	if env.ReadFile != nil {
		return env.ReadFile(path)
	}
	return os.ReadFile(path)
}

// command is a command line whose program, if it is a relative path, is where the plan's file says.
func command(env *task.Env, words []string) []string {
	out := slices.Clone(words)
	if len(out) > 0 && strings.Contains(out[0], "/") && !filepath.IsAbs(out[0]) && env.Here != "" {
		out[0] = filepath.Join(env.Here, out[0])
	}
	return out
}

// ended says why an action was ended before it was over; nil for the ordinary end of its phase.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != task.ErrPhaseOver {
		return cause
	}
	return nil
}
