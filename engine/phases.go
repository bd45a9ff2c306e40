package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
)

// errUnmet says that a phase's require does not hold.
var errUnmet = errors.New("its require does not hold")

// errAborted says that a phase's abort held: a result.
var errAborted = errors.New("aborted")

// scenario is the cell's, with its vars and all that the run knows from the beginning. Which port of a name is meant depends
// on the action and its replica, so calls stay open but in vars.
func (r *run) scenario(ctx context.Context) (dsl.Part[dsl.Scenario], error) {
	v := r.values()
	fill := r.eval.fill(ctx, r.knownNow(), v)
	part, list := r.cell.Scenario.Bind(func(h *dsl.Hole) (any, bool, error) {
		if !strings.HasPrefix(h.Field, "scenarios."+r.cell.Coord.Scenario+".vars") {
			return nil, false, nil
		}
		return fill(h)
	})
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
	r.mu.Lock()
	r.rec.Recovery = recoveryOf(scenario.Val)
	r.mu.Unlock()
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
	seamless, after := r.seamless(all), record.Between(ph.Name)
	if seamless {
		after = all[1].Val.Name
	}
	begin, why, err := r.dispatch(ctx, i, begin, ph, steps, after)
	end := time.Now()
	if ph.For > 0 && why == "" && err == nil {
		end = begin.Add(ph.For)
	} else {
		r.announce(ctx, boundary{end, record.Between(ph.Name)})
		seamless = false
	}
	if e := r.endBeyond(func(x *running) bool { return x.s.through == ph.Name }, task.ErrPhaseOver); err == nil {
		err = e
	}
	r.leavePhase(i, end, why, err)
	if err == nil {
		err = r.passed(ctx, i, ph, why)
	}
	if err != nil || !seamless {
		return time.Time{}, err
	}
	return end, nil
}

// dispatch runs the steps of phase i, and tells loads, once it has begun, that it will be followed by what is called after. It
// returns when the phase began, and why it ended before its time.
func (r *run) dispatch(ctx context.Context, i int, begin time.Time, ph dsl.Phase, steps []*step, after string) (time.Time, string, error) {
	stop, watch := make(chan string, 1), func() {}
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
	if !aborted(ph, why) {
		for _, s := range d.never {
			s.never()
		}
	}
	return begin, why, err
}

// passed judges a phase that is over: whether its require holds, and whether its abort held.
func (r *run) passed(ctx context.Context, i int, ph dsl.Phase, why string) error {
	if ph.Require.IsSet() {
		if err := r.require(ctx, i, ph); err != nil {
			return err
		}
	}
	if aborted(ph, why) {
		return fmt.Errorf("%w: %s held", errAborted, ph.Abort.When.Text)
	}
	return nil
}

// aborted reports whether a phase ended because its abort held.
func aborted(ph dsl.Phase, why string) bool {
	return why != "" && ph.Abort.When.IsSet() && why == abortText(ph)
}

// enterPhase notes that a phase began, and tells loads that go on.
func (r *run) enterPhase(ctx context.Context, i int, ph dsl.Phase, at time.Time) {
	r.mu.Lock()
	r.phase, r.next = ph.Name, ""
	r.rec.Phases[i].Start, r.rec.Phases[i].For = r.since(at), ph.For.Seconds()
	r.ends = time.Time{}
	if ph.For > 0 {
		r.ends = at.Add(ph.For)
	}
	r.mu.Unlock()
	r.event("phase", ph.Name, nil)
	r.announce(ctx, boundary{at, ph.Name})
	r.progress.Phase(r.rec.Coord, ph.Name, ph.For)
}

// phaseOver reports whether the time of the phase is up, though what ends with it may still be ending.
func (r *run) phaseOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ends.IsZero() && !time.Now().Before(r.ends)
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
