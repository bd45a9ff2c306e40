package journal

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// A Report says what Clean did.
type Report struct {
	Undone  []Line // the last one first
	Failed  []Failure
	Damaged []Damage // lines that nobody can undo
	Notes   []string // what the journal had lost
}

// Clean undoes what an engine that was killed left behind, from the journal of its result set alone, each entry within
// the budget; log may be nil. It refuses with an *OwnedError while the engine lives. It may be repeated: what was undone is
// marked. The error is about the journal; entries that could not be undone, and lines that cannot be read, are in the report.
func Clean(ctx context.Context, dir string, undos []task.Undo, budget time.Duration, log *slog.Logger) (*Report, error) {
	if log == nil {
		log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	j, l, err := open(dir, 0)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	env := &task.UndoEnv{Log: log, Token: l.Owner.Token, Dir: dir}
	r := &Report{Notes: l.Notes, Damaged: l.Damaged}
	before := l.Pending()
	r.Failed = j.Unwind(ctx, undos, env, budget)
	for i := len(before) - 1; i >= 0; i-- {
		if !j.isPending(before[i].Seq) {
			r.Undone = append(r.Undone, before[i])
		}
	}
	return r, nil
}
