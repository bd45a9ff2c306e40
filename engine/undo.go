package engine

import (
	"context"
	"slices"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc"
)

// undo undoes a scope and remembers what could not be undone.
func (s *session) undo(scope *journal.Scope) {
	s.failures(scope.Unwind(context.Background(), s.undos, s.env, undoBudget))
}

func (s *session) failures(fs []journal.Failure) {
	for _, f := range fs {
		s.leftover(f)
	}
}

// leftover remembers what could not be undone: the run ends with exit 5 and lists it.
func (s *session) leftover(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := s.redact(err.Error()); !slices.Contains(s.notUndone, text) {
		s.notUndone = append(s.notUndone, text)
	}
}

// closeGroup ends what the processes of a group left behind.
func (s *session) closeGroup(g *proc.Group) {
	ctx, cancel := context.WithTimeout(context.Background(), undoBudget)
	defer cancel()
	if err := g.Close(ctx); err != nil {
		s.leftover(err)
	}
}

// killHurried ends the processes of a group at once when the second interrupt comes: they would finish what they are asked. The
// function that it returns ends that.
func (s *session) killHurried(g *proc.Group) func() {
	return s.hurried(func() {
		for _, p := range g.All() {
			_ = g.Signal(p, "KILL", true) // what is left is ended and reported in the ordinary way
		}
	})
}

// hurried calls cancel when the second interrupt comes; the function that it returns ends that.
func (s *session) hurried(cancel func()) func() {
	if s.opt.Hurry == nil {
		return func() {}
	}
	over := make(chan struct{})
	go func() {
		select {
		case <-s.opt.Hurry:
			cancel()
		case <-over:
		}
	}()
	return func() { close(over) }
}
