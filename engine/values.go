package engine

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/verdict"
)

// known holds the values that expressions can read somewhere, by dotted name: params.rate, with.workers, vars.attack,
// matrix.fault, scenario, dir, backends.web.address. A dsl.Value keeps how it was written.
type known map[string]any

// with gives a copy with more names.
func (k known) with(more known) known {
	out := make(known, len(k)+len(more))
	for n, v := range k {
		out[n] = v
	}
	for n, v := range more {
		out[n] = v
	}
	return out
}

// value is what CEL sees of a name.
func (k known) value(name string) (any, bool) {
	v, ok := k[name]
	if w, is := v.(dsl.Value); is {
		return w.V, ok && w.Known()
	}
	return v, ok
}

// plain gives all names as CEL sees them.
func (k known) plain() map[string]any {
	out := make(map[string]any, len(k))
	for n := range k {
		if v, ok := k.value(n); ok {
			out[n] = v
		}
	}
	return out
}

var reference = regexp.MustCompile(`^[a-z_]+(\.[A-Za-z_][A-Za-z0-9_]*)+$`)

// written gives the value of an expression that is nothing but a reference to something written in the plan, so that
// its text is kept: 64k stays 64k in a template. The reference may go into maps: vars.attack.connections.
func (k known) written(text string) (dsl.Value, bool) {
	if !reference.MatchString(text) {
		return dsl.Value{}, false
	}
	parts := strings.Split(text, ".")
	for n := len(parts); n > 1; n-- {
		v, ok := k[strings.Join(parts[:n], ".")].(dsl.Value)
		if !ok {
			continue
		}
		for _, p := range parts[n:] {
			if v, ok = v.Fields().Get(p); !ok {
				return dsl.Value{}, false
			}
		}
		return v, v.Known()
	}
	return dsl.Value{}, false
}

// times maps the language's times to those of the expressions.
var times = map[dsl.Time]verdict.Time{dsl.TimePlan: verdict.AtPlan, dsl.TimeSelect: verdict.AtSelect, dsl.TimeStage: verdict.AtStage,
	dsl.TimeRun: verdict.AtRun, dsl.TimeLive: verdict.AtLive, dsl.TimeJudge: verdict.AtJudge}

// An expression is a compiled hole or condition, or why it does not compile.
type expression struct {
	prog     *verdict.Program
	problems []verdict.Problem
}

// An evaluator compiles the expressions of one place (a cell, a stage, the plan) and keeps the programs.
type evaluator struct {
	compiler *verdict.Compiler
	base     []verdict.Coord          // the cells that its expressions are about
	programs map[[2]string]expression // time, text
}

func newEvaluator(c *verdict.Compiler, base ...verdict.Coord) *evaluator {
	return &evaluator{c, base, map[[2]string]expression{}}
}

func (e *evaluator) compile(text string, when dsl.Time) expression {
	key := [2]string{string(when), text}
	x, ok := e.programs[key]
	if !ok {
		x.prog, x.problems = e.compiler.Compile(text, times[when], e.base)
		e.programs[key] = x
	}
	return x
}

// fill fills the holes whose values are known now; the others stay. A hole that does not compile stays too: it is
// reported when everything is known that it could use. v gives what is beside the names: the cell, results, functions.
func (e *evaluator) fill(ctx context.Context, k known, v verdict.Values) dsl.Filler {
	return e.filling(ctx, k, v, "", func(verdict.Result) {})
}

// filling is fill that also tells what each expression came to. When is the time of the expressions; empty is that of their
// fields.
func (e *evaluator) filling(ctx context.Context, k known, v verdict.Values, when dsl.Time, tell func(verdict.Result)) dsl.Filler {
	v.Names = k.plain()
	return func(h *dsl.Hole) (any, bool, error) {
		if v, ok := k.written(h.Text); ok {
			return v, true, nil
		}
		x := e.compile(h.Text, cmp.Or(when, h.When))
		if x.prog == nil {
			return nil, false, nil
		}
		needs := x.prog.Needs()
		if needs.Results && v.Data == nil && v.Now == nil || len(needs.Calls) > 0 && v.Call == nil {
			return nil, false, nil
		}
		for _, n := range needs.Names {
			if _, ok := k.value(n); !ok && n != "targets" && n != "targets.measured" {
				return nil, false, nil
			}
		}
		r := x.prog.Eval(ctx, v)
		if r.Err != nil {
			return nil, false, r.Err
		}
		tell(r)
		return r.Value, true, nil
	}
}

// reportAt adds the problems of an expression at their places in the plan.
func reportAt(list *diag.List, problems []verdict.Problem, pos func(line, col int) diag.Pos) {
	for _, p := range problems {
		list.Addf(pos(p.Line, p.Col-1), "%s", p.Msg).Hint = p.Hint
	}
}

// checkKind reports a condition whose value is none of the kinds that its field takes.
func checkKind(list *diag.List, e dsl.Expr, p *verdict.Program, want ...verdict.Kind) {
	if m := p.Mismatch(want...); m != nil {
		reportAt(list, []verdict.Problem{*m}, e.Pos)
	}
}

// names gives the dotted names of k, sorted.
func (k known) names() []string {
	out := make([]string, 0, len(k))
	for n := range k {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
