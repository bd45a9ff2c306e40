package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/verdict"
)

// A run is one repeat of a cell while it goes on.
type run struct {
	*session
	cell   *Cell
	inst   *installation
	round  int
	repeat int
	start  time.Time
	procs  *proc.Group
	scope  *journal.Scope
	out    *record.RunWriter
	known  known
	eval   *evaluator
	probes []probing
	aside  servers // what the cross-checks asked the backends for: no part of the run

	mu         sync.Mutex
	rec        *record.Run
	data       record.Data // what was recorded so far; Run is rec
	phase      string      // the current phase; "" between phases
	ends       time.Time   // when the time of the newest phase is up; zero: it has none
	next       string      // the phase whose loads are being prepared
	boundaries []boundary  // those to come, for loads that start meanwhile
	loads      []*loadRun  // that run
	broken     chan error  // what outlived its phase has failed
	beyond     []*running  // steps that end with a later phase
}

// since is a moment in seconds since the run began.
func (r *run) since(t time.Time) float64 { return t.Sub(r.start).Seconds() }

// do runs the phases, unless there is a problem already, and leaves everything as it was before.
func (r *run) do(ctx context.Context, problem error) {
	err := problem
	if err == nil {
		err = r.phases(ctx)
	}
	cause := error(task.ErrPhaseOver)
	if err != nil && !errors.Is(err, errUnmet) && !errors.Is(err, errAborted) {
		cause = err
	}
	if e := r.endBeyond(func(*running) bool { return true }, cause); err == nil { // what was to end later ends now
		err = e
	}
	r.inst.settle(r)
	err = r.crossChecks(ctx, err)
	r.undo(r.scope)
	r.conclude(err)
}

// conclude says how the run ended.
func (r *run) conclude(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rec.Seconds = r.since(time.Now())
	switch {
	case err == nil:
		r.rec.Status = record.Done
	case errors.Is(err, errAborted):
		r.rec.Status, r.rec.Reason = record.Aborted, err.Error()
	case errors.Is(err, errUnmet):
		r.rec.Status, r.rec.Reason = record.Unmet, err.Error()
	case errors.Is(err, ErrInterrupted):
		r.rec.Status, r.rec.Reason = record.Interrupted, "interrupted"
	default:
		text, where := unplaced(err)
		r.rec.Status, r.rec.Reason, r.rec.Where = record.Failed, r.redact(text), where
	}
}

// outlive keeps a step until the phase with which it ends.
func (r *run) outlive(x *running) {
	r.mu.Lock()
	r.beyond = append(r.beyond, x)
	r.mu.Unlock()
	go func() {
		<-x.done
		if x.err != nil {
			select {
			case r.broken <- x.err:
			default: // one is enough
			}
		}
	}()
}

// endBeyond ends the steps that outlived their phases and that f chooses.
func (r *run) endBeyond(f func(*running) bool, cause error) error {
	r.mu.Lock()
	var here, later []*running
	for _, x := range r.beyond {
		if f(x) {
			here = append(here, x)
		} else {
			later = append(later, x)
		}
	}
	r.beyond = later
	r.mu.Unlock()
	return stopAll(here, cause)
}

// values are what expressions of this run read beside names.
func (r *run) values() verdict.Values {
	return verdict.Values{At: verdictCoord(r.rec.Coord), Round: r.round, Repeat: r.repeat, Names: r.knownNow().plain(), Call: r.inst.call, Data: r.results}
}
