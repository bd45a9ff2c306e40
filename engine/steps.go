package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/verdict"
)

// placed is an error with its place in the plan. An error has one at most, the innermost: see place.
type placed struct {
	pos diag.Pos
	err error
}

func (p *placed) Error() string { return fmt.Sprintf("%s: %v", p.pos, p.err) }

func (p *placed) Unwrap() error { return p.err }

// place gives an error its place, if it has none yet and there is one.
func place(pos diag.Pos, err error) error {
	var at *placed
	if err == nil || !pos.IsValid() || errors.As(err, &at) {
		return err
	}
	return &placed{pos, err}
}

// unplaced is what an error says without its place, and that place; "" if it has none.
func unplaced(err error) (text, where string) {
	text = err.Error()
	var at *placed
	if errors.As(err, &at) {
		where = at.pos.String()
		text = strings.Replace(text, at.Error(), at.err.Error(), 1)
	}
	return text, where
}

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
		s := &step{index: i, label: actionName(a), pos: a.Pos(), due: a.Val.At.In(phase.Val.For), every: a.Val.Every, lasts: a.Val.For, through: a.Val.Through}
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
		s.never = func() { r.never(r.began(phase.Val.Name, a, s.due)) }
		s.start = func(due time.Duration) func(context.Context) error {
			n := r.began(phase.Val.Name, a, due)
			return func(ctx context.Context) error {
				err := x.run(ctx)
				r.ended(n, err)
				if x.forgone(ctx, err) {
					r.event("note", leftOut(a, err), nil)
					return nil
				}
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
	r.rec.Actions = append(r.rec.Actions, record.Action{Phase: phase, Kind: a.Val.Kind, Name: actionName(a), Where: a.Pos().String(), Due: begin + due.Seconds(), Start: now, Optional: a.Val.Optional})
	return len(r.rec.Actions) - 1
}

func (r *run) ended(i int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rec.Actions[i].End = r.since(time.Now())
	if err != nil && !isOver(err) {
		text, where := unplaced(err)
		if where != r.rec.Actions[i].Where { // of one of the actions that it did
			text = err.Error()
		}
		r.rec.Actions[i].Error = r.redact(text)
	}
}

// never says of an action that it did not begin.
func (r *run) never(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &r.rec.Actions[i]
	a.Never, a.Start, a.End = true, a.Due, a.Due
}

// setValue keeps what `record:` and `exec` found: expressions read it as values.NAME, and a number is a metric.
func (r *run) setValue(name string, v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setValueLocked(name, v)
}

func (r *run) setValueLocked(name string, v any) {
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
