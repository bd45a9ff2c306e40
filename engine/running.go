package engine

import (
	"context"
	"errors"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// errStillRunning ends an action that is not lasting and goes beyond its phase.
var errStillRunning = errors.New("it was still running when its phase ended; give the phase more time or the action a shorter timeout")

// A running step can outlive its phase.
type running struct {
	s      *step
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // valid when done is closed
}

// stop ends it in its ordinary way and waits.
func (r *running) stop(why error) error {
	r.cancel(why)
	<-r.done
	return r.err
}

// stopAll ends steps: what drains first, all at once, then the others in their order. What ends by itself is told at once,
// so that nothing that waits begins when what it waits for is ended. It returns the first error.
func stopAll(all []*running, why error) error {
	var drain, rest []*running
	for _, r := range all {
		if !r.s.lasting {
			r.cancel(why)
		}
		if r.s.drains {
			drain = append(drain, r)
		} else {
			rest = append(rest, r)
		}
	}
	err := each(drain, func(r *running) error { return r.stop(why) })
	for _, r := range rest {
		if e := r.stop(why); err == nil {
			err = e
		}
	}
	return err
}

// isOver reports whether an action says no more than that it was ended.
func isOver(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, task.ErrPhaseOver)
}

// launch starts one occurrence.
func (d *dispatcher) launch(s *step, due time.Duration) *running {
	ctx, cancel := context.WithCancelCause(d.ctx)
	r := &running{s: s, cancel: cancel, done: make(chan struct{})}
	do := s.start(due)
	go func() {
		defer close(r.done)
		defer cancel(nil)
		if s.lasting && s.lasts > 0 {
			t := time.AfterFunc(s.lasts, func() { cancel(task.ErrPhaseOver) })
			defer t.Stop()
		}
		err := do(ctx)
		cause := context.Cause(ctx)
		if errors.Is(cause, task.ErrPhaseOver) && isOver(err) {
			err = nil
		} else if errors.Is(cause, errStillRunning) && err != nil && !errors.Is(err, errTelling) && !errors.Is(err, ErrInterrupted) {
			err = errStillRunning
		}
		if err != nil {
			r.err = s.failed(err)
		}
	}()
	return r
}
