package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// Unwind undoes every pending entry of the scope, the last one first. See Journal.Unwind.
func (s *Scope) Unwind(ctx context.Context, undos []task.Undo, env *task.UndoEnv, budget time.Duration) []Failure {
	return s.j.unwind(ctx, undos, env, budget, func(e Line) bool { return e.Scope == s.id })
}

// Unwind undoes every pending entry, the last one first, and marks those that it could undo. Each has the budget for
// itself: that ctx has ended does not matter, only its values are used. It returns what could not be undone, and stays
// pending. Entries that are added meanwhile are not undone.
func (j *Journal) Unwind(ctx context.Context, undos []task.Undo, env *task.UndoEnv, budget time.Duration) []Failure {
	return j.unwind(ctx, undos, env, budget, func(Line) bool { return true })
}

func (j *Journal) unwind(ctx context.Context, undos []task.Undo, env *task.UndoEnv, budget time.Duration, which func(Line) bool) []Failure {
	j.mu.Lock()
	lines := slices.Collect(maps.Values(j.pending))
	j.mu.Unlock()
	slices.SortFunc(lines, func(a, b Line) int { return b.Seq - a.Seq })
	var failed []Failure
	for _, e := range lines {
		if !which(e) || !j.isPending(e.Seq) { // an undo may have marked another entry
			continue
		}
		err := undo(ctx, undos, env, budget, e)
		if err == nil {
			err = j.done(e.Seq)
		}
		if err != nil {
			failed = append(failed, Failure{e, cmp.Or(About(undos, e), e.Kind), err})
		}
	}
	return failed
}

func (j *Journal) isPending(seq int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.pending[seq]
	return ok
}

// undo runs one undo and leaves it behind if it is not over a while after its budget.
func undo(ctx context.Context, undos []task.Undo, env *task.UndoEnv, budget time.Duration, e Line) error {
	i := slices.IndexFunc(undos, func(u task.Undo) bool { return u.Kind == e.Kind })
	if i < 0 {
		return fmt.Errorf("nothing here knows how to undo %q", e.Kind)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)
	defer cancel()
	over := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				over <- fmt.Errorf("panic: %v", p)
			}
		}()
		over <- undos[i].Run(ctx, env, e.Data)
	}()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-over:
		return err
	case <-time.After(budget/10 + time.Second):
		return errors.New("it is not over after its time budget")
	}
}

// About says what an entry was about: its kind, and what undoes that kind says of it. It is empty of an entry that is not worth
// a line.
func About(undos []task.Undo, e Line) string {
	i := slices.IndexFunc(undos, func(u task.Undo) bool { return u.Kind == e.Kind })
	if i < 0 || undos[i].Says == nil {
		return e.Kind
	}
	about := undos[i].Says(e.Data)
	if about == "" {
		return ""
	}
	return e.Kind + " " + about
}
