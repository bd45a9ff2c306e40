package verdict

import (
	"context"
	"fmt"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// EvalLimit bounds one evaluation. What takes longer is inconclusive (Deadline).
const EvalLimit = 200 * time.Millisecond

// Values are what an expression reads beside the values that the schema already has.
type Values struct {
	At            Coord          // the current cell; the zero Coord where there is none
	Round, Repeat int            // of the current run; 0 is every run of a cell
	Names         map[string]any // values of Schema.Names, params.x and vars.x that were not known before
	Call          func(name string, args []any) (any, error)
	Data          *Data // results: at stage those of earlier stages
	Now           *Run  // live: the run so far. Its window of figures is Now.Metrics. Also for metrics computed of one run
	lets          map[string]*letValue
}

// name finds the value of a name: given with the evaluation, else that of the run, of the cell, of all.
func (v *Values) name(n string) (any, bool) {
	from := []map[string]any{v.Names}
	if v.Now != nil {
		from = append(from, v.Now.Names)
	}
	if v.Data != nil {
		if c := v.Data.Cells[v.At]; c != nil {
			from = append(from, c.Names)
		}
		from = append(from, v.Data.Names)
	}
	for _, names := range from {
		if value, ok := names[n]; ok {
			return value, true
		}
	}
	return nil, false
}

// Result is a value, or why there is none.
type Result struct {
	Value    any       // float64, string, bool, []any, map[string]any; nil where there is an Err
	Err      *Reason   // nil: there is a value
	Absorbed []*Reason // what && and || decided without: a condition that is true must not rest on it
	Operands []Operand
	Distance *float64 // of a condition from its limit: see Judgement
	Broke    string   // when a condition about a series or events that is false broke first, or ""
	Reads    []Read
	Tainted  []Tainted // failed guards of what was read
}

// Holds says whether a condition is true and rests on nothing that is missing; else why not, for one that is not false.
func (r Result) Holds() (bool, *Reason) {
	if r.Err != nil {
		return false, r.Err
	}
	if r.Value != true {
		return false, nil
	}
	if len(r.Absorbed) > 0 {
		return false, worst(r.Absorbed)
	}
	return true, nil
}

func worst(rs []*Reason) (w *Reason) {
	for _, r := range rs {
		w = worse(w, r)
	}
	return w
}

type letValue struct {
	v   ref.Val
	rec recorder
}

// activation resolves names when they are read.
type activation struct {
	ctx context.Context
	p   *Program
	v   *Values
	r   *reader
}

func (a *activation) Parent() interpreter.Activation { return nil }

func (a *activation) ResolveName(n string) (any, bool) {
	switch n {
	case "@rec":
		return a.r.rec, true
	case "@here":
		return a.r.here().object(), true
	case "@plan":
		return &object{planT, nothing("the plan"), a}, true
	}
	if l, ok := a.p.compiler.lets[n]; ok {
		return a.let(n, l), true
	}
	if decl, ok := a.r.ix.names[n]; ok {
		return a.name(n, decl), true
	}
	if _, ok := a.r.ix.metrics[n]; ok {
		return a.r.here().metric(n), true
	}
	return nil, false
}

func (a *activation) name(n string, decl Name) ref.Val {
	at := a.v.At
	coordinate := func(s string) ref.Val {
		if s == "" {
			return undefined("%s is not one here: several are judged together", n)
		}
		return types.String(s)
	}
	count := func(i int) ref.Val {
		if i == 0 {
			return undefined("%s is not one here: several are judged together", n)
		}
		return types.Double(i)
	}
	switch n {
	case "stage":
		return coordinate(at.Stage)
	case "scenario":
		return coordinate(at.Scenario)
	case "target":
		return coordinate(at.Target)
	case "round":
		return count(a.v.Round)
	case "repeat":
		return count(a.v.Repeat)
	case "targets", "targets.measured":
		return a.r.targetList(n != "targets")
	case "runs":
		return a.r.here().runsObject()
	}
	if len(n) > 7 && n[:7] == "matrix." {
		return a.axis(n[7:])
	}
	if v, ok := a.v.name(n); ok {
		return toCEL(n, v)
	}
	if decl.Value != nil {
		return toCEL(n, decl.Value)
	}
	return missing("no data: %s has no value yet", n)
}

// axis gives the value with its type: the number 100, not the text.
func (a *activation) axis(name string) ref.Val {
	v, ok := a.v.At.Axes()[name]
	if sc := a.r.ix.Scenarios[a.v.At.Scenario]; ok && sc != nil {
		for _, ax := range sc.Axes {
			for _, x := range ax.Values {
				if ax.Name == name && valueText(x) == v {
					return toCEL("matrix."+name, x)
				}
			}
		}
	}
	return missing("no data: %s has no axis %s", a.v.At, name)
}

// let evaluates a let once, when it is first read; every reader inherits what it absorbed and read.
func (a *activation) let(n string, l *Program) ref.Val {
	done := a.v.lets[n]
	if done == nil {
		done = &letValue{}
		r := *a.r
		r.rec = &done.rec
		v, _, err := l.prog.ContextEval(a.ctx, &activation{a.ctx, l, a.v, &r})
		if err != nil {
			v = types.WrapErr(reasonOf(err))
		}
		done.v = v
		a.v.lets[n] = done
	}
	for _, why := range done.rec.absorbed {
		a.r.rec.absorb(why)
	}
	for _, read := range done.rec.reads {
		s := spot{reader: a.r, phase: read.Phase, load: read.Load}
		s.note(read.Cell, read.Metric, read.Class, read.runs)
	}
	return done.v
}

func (a *activation) call(name string, args []ref.Val) ref.Val {
	if a.v.Call == nil {
		return missing("no data: %s() is not known yet", name)
	}
	in := make([]any, len(args))
	for i, v := range args {
		in[i], _ = fromCEL(v)
	}
	v, err := a.v.Call(name, in)
	if err != nil {
		return types.WrapErr(reasonOf(err))
	}
	return toCEL(name+"()", v)
}

// Eval evaluates, within EvalLimit.
func (p *Program) Eval(ctx context.Context, v Values) Result {
	if v.lets == nil {
		v.lets = map[string]*letValue{}
	}
	var limit *budget
	if p.loops { // nothing else takes long
		var cancel context.CancelFunc
		limit, cancel = newBudget(ctx)
		ctx = limit
		defer cancel()
	}
	rec := &recorder{}
	act := &activation{ctx, p, &v, &reader{ix: p.compiler.ix, data: v.Data, now: v.Now, at: v.At, round: v.Round, repeat: v.Repeat, rec: rec, time: limit}}
	out, details, err := p.eval(ctx, act)
	res := Result{Absorbed: rec.absorbed, Reads: rec.reads}
	for _, r := range rec.reads {
		res.Tainted = append(res.Tainted, r.tainted()...)
	}
	if err == nil && types.IsError(out) {
		err = out.(*types.Err)
	}
	switch {
	case err != nil:
		res.Err = reasonOf(err)
	default:
		value, ok := fromCEL(out)
		if !ok {
			res.Err = &Reason{Undefined, fmt.Sprintf("a %s is no value", Type{p.typ})}
			break
		}
		res.Value = value
		_, condition := value.(bool)
		if len(res.Absorbed) > 0 && (!condition || p.time&(AtSelect|AtLive|AtJudge|AtRow) == 0) {
			res.Value, res.Err = nil, worst(res.Absorbed) // only a condition that is judged may absorb
		}
	}
	if details != nil && details.State() != nil {
		res.Operands = p.operands(details.State())
		if holds, condition := res.Value.(bool); condition {
			res.Distance = p.distance(details.State(), holds)
		}
		if res.Value == false {
			res.Broke = p.broke(details.State(), rec)
		}
	}
	return res
}

func (p *Program) eval(ctx context.Context, act *activation) (ref.Val, *cel.EvalDetails, error) {
	if p.loops {
		return p.prog.ContextEval(ctx, act)
	}
	return p.prog.Eval(act)
}

// tainted lists the failed guards of the runs that were read.
func (r Read) tainted() (out []Tainted) {
	for _, run := range r.runs {
		for _, t := range run.Taints {
			if t.spoils(r) {
				out = append(out, Tainted{t, r.Cell, run.Round, run.Repeat, r.Metric})
			}
		}
	}
	return out
}
