package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

// A host is where an action runs: a run's phase, an installation, or the plan's setup.
type host struct {
	env   func(a *dsl.Part[dsl.Action]) *task.Env
	fill  func(ctx context.Context, a *dsl.Part[dsl.Action], replica int) dsl.Filler
	phase string
}

// An action is a plan's action on its host.
type action struct {
	host
	part *dsl.Part[dsl.Action]
	env_ *task.Env
	spec any
}

// bind fills what is still open.
func (x *action) bind(ctx context.Context) error {
	if x.env_ != nil {
		return nil
	}
	part, list := x.part.Bind(x.fill(ctx, x.part, 0))
	if err := placedAt(append(list, unknown(part.Holes())...)); err != nil {
		return err
	}
	env := x.host.env(x.part)
	env.Rebind = func(replica int) (any, error) {
		p, list := x.part.Bind(x.fill(ctx, x.part, replica))
		return p.Val.Spec, placedAt(list)
	}
	for _, u := range part.Val.Undo {
		env.Undo = append(env.Undo, task.Bound{Kind: u.Val.Kind, Spec: u.Val.Spec})
	}
	x.env_, x.spec = env, part.Val.Spec
	return nil
}

func (x *action) prepare(ctx context.Context) error {
	if err := x.bind(ctx); err != nil {
		return err
	}
	p, err := x.spec.(task.Preparer).Prepare(ctx, x.env_)
	x.env_.Prepared = p
	return x.place(err)
}

func (x *action) run(ctx context.Context) error {
	defer func() { x.env_ = nil }() // a repeated one is bound anew
	if err := x.bind(ctx); err != nil {
		return err
	}
	if p, ok := x.spec.(task.Preparer); ok && x.env_.Prepared == nil {
		prepared, err := p.Prepare(ctx, x.env_)
		if err != nil {
			return x.place(err)
		}
		x.env_.Prepared = prepared
	}
	do, ok := x.spec.(task.Action)
	if !ok {
		return x.place(fmt.Errorf("this build cannot run %s", x.part.Val.Kind))
	}
	return x.place(do.Run(ctx, x.env_))
}

// whole runs an action from its preparation to its end: a lasting one ends after its for.
func (x *action) whole(ctx context.Context) error {
	if l, ok := x.part.Val.Spec.(task.Lasting); !ok || !l.Lasting() || x.part.Val.For == 0 {
		return x.run(ctx)
	}
	if _, ok := x.part.Val.Spec.(task.Preparer); ok {
		if err := x.bind(ctx); err != nil {
			return err
		}
		if err := x.prepare(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer time.AfterFunc(x.part.Val.For, func() { cancel(task.ErrPhaseOver) }).Stop()
	err := x.run(ctx)
	if errors.Is(context.Cause(ctx), task.ErrPhaseOver) && isOver(err) {
		return nil
	}
	return err
}

// forgone reports whether an action that failed is one that the run goes on without. What was interrupted did not fail.
func (x *action) forgone(ctx context.Context, err error) bool {
	return err != nil && x.part.Val.Optional && (ctx.Err() == nil || errors.Is(context.Cause(ctx), errStillRunning))
}

func leftOut(a *dsl.Part[dsl.Action], err error) string {
	return fmt.Sprintf("%s was left out: %v", actionName(a), err)
}

func (x *action) place(err error) error { return place(x.part.Pos(), err) }

// sequence runs actions one after another, as install does.
func (h host) sequence(ctx context.Context, actions []dsl.Part[dsl.Action]) error {
	for i := range actions {
		x := &action{host: h, part: &actions[i]}
		err := x.whole(ctx)
		if x.forgone(ctx, err) {
			h.env(x.part).Event("note", leftOut(x.part, err), nil)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", actionName(&actions[i]), err)
		}
	}
	return nil
}

// host of the actions of a phase.
func (r *run) host(phase string, length time.Duration, all []dsl.Part[dsl.Phase]) host {
	h := host{phase: phase}
	h.fill = func(ctx context.Context, a *dsl.Part[dsl.Action], replica int) dsl.Filler {
		v := r.values()
		v.Call = r.inst.callOf(processOf(a), replica)
		return r.eval.fill(ctx, r.knownNow().with(known{"replica": float64(replica)}), v)
	}
	h.env = func(a *dsl.Part[dsl.Action]) *task.Env {
		env := r.inst.env(a)
		env.RunDir, env.Journal, env.Processes, env.Loads, env.Phase = r.out.Dir, r.scope, r.procs, runLoads{r}, phase
		env.Name = actionName(a)
		env.Relays = relays{r.inst, r, phase, lasts(a, length, all)}
		env.Backends = backends{r.inst, r, phase, env.Name}
		env.Event = r.event
		env.Fault = r.fault(a.Val.Kind, env.Name, phase)
		env.Value = r.setValue
		env.Eval = r.live
		env.Snapshot = r.snapshot
		env.Do = func(ctx context.Context, actions []dsl.Part[dsl.Action]) error { return h.sequence(ctx, actions) }
		return env
	}
	return h
}

// lasts is how long an action can last at most: to the end of the phase with which it ends. 0 is not known.
func lasts(a *dsl.Part[dsl.Action], length time.Duration, all []dsl.Part[dsl.Phase]) time.Duration {
	if a.Val.For > 0 {
		return a.Val.For
	}
	if a.Val.Through == "" {
		return length
	}
	sum := time.Duration(0)
	for _, p := range all {
		if p.Val.For == 0 {
			return 0
		}
		sum += p.Val.For
		if p.Val.Name == a.Val.Through {
			break
		}
	}
	return sum
}
