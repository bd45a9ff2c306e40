package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/verdict"
)

// placed is an error with its place in the plan.
type placed struct {
	pos diag.Pos
	err error
}

func (p *placed) Error() string { return fmt.Sprintf("%s: %v", p.pos, p.err) }
func (p *placed) Unwrap() error { return p.err }

// placedAt makes an error of the first problem that is one.
func placedAt(l diag.List) error {
	for _, p := range l {
		if !p.Warning {
			msg := p.Msg
			if p.Hint != "" {
				msg += "; " + p.Hint
			}
			return &placed{p.Pos, errors.New(msg)}
		}
	}
	return nil
}

// steps makes the actions of the phase all[0] into steps; behind it are those that follow.
func (r *run) steps(all []dsl.Part[dsl.Phase]) ([]*step, error) {
	phase := all[0]
	var out []*step
	for i := range phase.Val.Do {
		a := &phase.Val.Do[i]
		s := &step{index: i, label: actionName(a) + " (" + a.Pos().String() + ")", due: a.Val.At.In(phase.Val.For), every: a.Val.Every, lasts: a.Val.For, through: a.Val.Through}
		if s.through == phase.Val.Name {
			s.through = ""
		}
		if l, ok := a.Val.Spec.(task.Lasting); ok {
			s.lasting = l.Lasting()
		}
		x := &action{host: r.host(phase.Val.Name, phase.Val.For, all), part: a}
		if _, ok := a.Val.Spec.(task.Preparer); ok {
			s.prepare, s.drains = x.prepare, true
		}
		s.start = func(due time.Duration) func(context.Context) error {
			n := r.began(phase.Val.Name, a, due)
			return func(ctx context.Context) error {
				err := x.run(ctx)
				r.ended(n, err)
				return err
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// began records the start of an action.
func (r *run) began(phase string, a *dsl.Part[dsl.Action], due time.Duration) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.since(time.Now())
	begin := now
	for _, p := range r.rec.Phases {
		if p.Name == phase {
			begin = p.Start
		}
	}
	r.rec.Actions = append(r.rec.Actions, record.Action{Phase: phase, Kind: a.Val.Kind, Name: actionName(a), Where: a.Pos().String(), Due: begin + due.Seconds(), Start: now})
	return len(r.rec.Actions) - 1
}

func (r *run) ended(i int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rec.Actions[i].End = r.since(time.Now())
	if err != nil && !isOver(err) {
		r.rec.Actions[i].Error = r.redact(err.Error())
	}
}

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

func (x *action) place(err error) error {
	var at *placed
	if err == nil || errors.As(err, &at) {
		return err
	}
	return &placed{x.part.Pos(), err}
}

// sequence runs actions one after another, as install does.
func (h host) sequence(ctx context.Context, actions []dsl.Part[dsl.Action]) error {
	for i := range actions {
		x := &action{host: h, part: &actions[i]}
		if err := x.run(ctx); err != nil {
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
		env.Event = r.event
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

// setValue keeps what `record:` and `exec` found: expressions read it as values.NAME, and a number is a metric.
func (r *run) setValue(name string, v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rec.Values == nil {
		r.rec.Values = map[string]any{}
	}
	r.rec.Values[name] = v
	r.known = r.known.with(known{"values." + name: v})
}

// knownNow is what expressions can read now.
func (r *run) knownNow() known {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

// live evaluates a condition as of now.
func (r *run) live(ctx context.Context, e dsl.Expr) (any, error) {
	r.mu.Lock()
	phase := cmp.Or(r.phase, r.next)
	r.mu.Unlock()
	res, err := r.evaluate(ctx, e, r.soFar(phase))
	if err != nil {
		return nil, err
	}
	return res.Value, nil
}

func (r *run) evaluate(ctx context.Context, e dsl.Expr, now *verdict.Run) (verdict.Result, error) {
	x := r.eval.compile(e.Text, e.When)
	if x.prog == nil {
		return verdict.Result{}, &placed{e.Pos(1, 0), fmt.Errorf("%s", x.problems[0].Msg)}
	}
	v := r.values()
	v.Now = now
	return x.prog.Eval(ctx, v), nil
}
