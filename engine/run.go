package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/planrun/planrun/dsl"
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

	mu         sync.Mutex
	rec        *record.Run
	data       record.Data // what was recorded so far; Run is rec
	phase      string      // the current phase; "" between phases
	next       string      // the phase whose loads are being prepared
	boundaries []boundary  // those to come, for loads that start meanwhile
	loads      []*loadRun  // that run
	broken     chan error  // what outlived its phase has failed
	beyond     []*running  // steps that end with a later phase
}

// since is a moment in seconds since the run began.
func (r *run) since(t time.Time) float64 { return t.Sub(r.start).Seconds() }

// errUnmet says that a phase's require does not hold.
var errUnmet = errors.New("its require does not hold")

// errAborted says that a phase's abort held: a result.
var errAborted = errors.New("aborted")

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
		r.rec.Status, r.rec.Reason = record.Failed, r.redact(err.Error())
		var at *placed
		if errors.As(err, &at) {
			r.rec.Where = at.pos.String()
		}
	}
}

// scenario is the cell's, with its vars and all that the run knows from the beginning. Which port of a name is meant depends
// on the action and its replica, so calls stay open but in vars.
func (r *run) scenario(ctx context.Context) (dsl.Part[dsl.Scenario], error) {
	v := r.values()
	part, list := r.cell.Scenario.Bind(r.eval.fill(ctx, r.knownNow(), v))
	if err := placedAt(list); err != nil {
		return part, err
	}
	vars := known{}
	for _, x := range part.Val.Vars {
		vars["vars."+x.Name] = x.Val
	}
	r.mu.Lock()
	r.known = r.known.with(vars)
	r.mu.Unlock()
	v = r.values()
	v.Call = nil
	part, list = r.cell.Scenario.Bind(r.eval.fill(ctx, r.knownNow(), v))
	return part, placedAt(list)
}

// phases runs them one after another.
func (r *run) phases(ctx context.Context) error {
	scenario, err := r.scenario(ctx)
	if err != nil {
		return err
	}
	phases := scenario.Val.Phases
	var begin time.Time
	for i := range phases {
		end, err := r.runPhase(ctx, i, begin, phases[i:])
		if err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// timing finds the holes that say when something happens in a phase.
var timing = regexp.MustCompile(`phases\[\d+\]\.(for|do\[\d+\]\.(at|every|for))$`)

// bindPhase fills what became known since the run began in the phase all[0]. When things happen in it must be known now.
func (r *run) bindPhase(ctx context.Context, all []dsl.Part[dsl.Phase]) ([]dsl.Part[dsl.Phase], error) {
	if len(all[0].Holes()) == 0 {
		return all, nil
	}
	v := r.values()
	v.Call = nil
	part, list := all[0].Bind(r.eval.fill(ctx, r.knownNow(), v))
	open := slices.DeleteFunc(slices.Clone(part.Holes()), func(h *dsl.Hole) bool { return !timing.MatchString(h.Field) })
	return append([]dsl.Part[dsl.Phase]{part}, all[1:]...), placedAt(append(list, unknown(open)...))
}

// runPhase runs phase i. It begins at once, or, where begin is set, began then: the phase before ended on time and nothing
// lies between. It returns when it was over, if the next one can begin at that very moment.
func (r *run) runPhase(ctx context.Context, i int, begin time.Time, all []dsl.Part[dsl.Phase]) (time.Time, error) {
	all, err := r.bindPhase(ctx, all)
	if err != nil {
		return time.Time{}, err
	}
	ph := all[0].Val
	steps, err := r.steps(all)
	if err != nil {
		return time.Time{}, err
	}
	stop := make(chan string, 1)
	seamless, after := r.seamless(all), ""
	if seamless {
		after = all[1].Val.Name
	}
	watch := func() {}
	r.mu.Lock()
	r.next = ph.Name
	r.mu.Unlock()
	d := &dispatcher{ctx: ctx, begin: begin, length: ph.For, steps: steps, stop: stop, broken: r.broken,
		outlives: func(x *running) { r.outlive(x) },
		started: func(at time.Time) {
			begin = at
			r.enterPhase(ctx, i, ph, at)
			if ph.For > 0 {
				r.announce(ctx, boundary{at.Add(ph.For), after})
			}
			watch = r.watchConditions(ctx, i, ph, stop)
		}}
	why, err := d.run()
	watch()
	end := time.Now()
	if ph.For > 0 && why == "" && err == nil {
		end = begin.Add(ph.For)
	} else {
		r.announce(ctx, boundary{end, ""})
		seamless = false
	}
	if e := r.endBeyond(func(x *running) bool { return x.s.through == ph.Name }, task.ErrPhaseOver); err == nil {
		err = e
	}
	r.leavePhase(i, end, why, err)
	if err != nil {
		return time.Time{}, err
	}
	if ph.Require.IsSet() {
		if err := r.require(ctx, i, ph); err != nil {
			return time.Time{}, err
		}
	}
	if why != "" && ph.Abort.When.IsSet() && why == abortText(ph) {
		return time.Time{}, fmt.Errorf("%w: %s held", errAborted, ph.Abort.When.Text)
	}
	if !seamless {
		end = time.Time{}
	}
	return end, nil
}

// enterPhase notes that a phase began, and tells loads that go on.
func (r *run) enterPhase(ctx context.Context, i int, ph dsl.Phase, at time.Time) {
	r.mu.Lock()
	r.phase, r.next = ph.Name, ""
	r.rec.Phases[i].Start = r.since(at)
	r.mu.Unlock()
	r.event("phase", ph.Name, nil)
	r.announce(ctx, boundary{at, ph.Name})
	r.progress.Phase(r.rec.Coord, ph.Name, ph.For)
}

func (r *run) leavePhase(i int, end time.Time, why string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase = ""
	p := &r.rec.Phases[i]
	p.End = r.since(end)
	if r.next != "" { // it never began
		r.next, p.Start = "", p.End
	}
	switch {
	case errors.Is(err, ErrInterrupted):
		p.Ended = "interrupted"
	case err != nil:
		p.Ended = "error"
	default:
		p.Ended = why
	}
	if e := r.out.Checkpoint(r.kept()); e != nil {
		r.harnessLocked(e)
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
