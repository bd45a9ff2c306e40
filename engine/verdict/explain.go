package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Operand is a part of an expression, as it was written, with its value or why it has none.
type Operand struct {
	Text  string
	Value string
	Err   string
}

func (o Operand) String() string {
	if o.Err != "" {
		return o.Text + ": " + o.Err
	}
	return o.Text + " = " + o.Value
}

// Explain lists operands, such as "p99_ms = 7.31, failed = 0".
func Explain(ops []Operand) string {
	var parts []string
	for _, o := range ops {
		parts = append(parts, o.String())
	}
	return strings.Join(parts, ", ")
}

// Explain lists the operands with their values.
func (r Result) Explain() string { return Explain(r.Operands) }

// operands lists the parts that are not operators, in the order of the text. The insides of macros are skipped, and calls that are
// the same wherever they stand, such as percent(4).
func (p *Program) operands(st interpreter.EvalState) (out []Operand) {
	seen := map[string]bool{}
	show := func(e ast.Expr) {
		v, ok := st.Value(e.ID())
		text := p.texts[e.ID()]
		if !ok || text == "" || seen[text] || text == strings.TrimSpace(p.text) {
			return
		}
		o := Operand{Text: text}
		if err, bad := v.(*types.Err); bad {
			o.Err = reasonOf(err).Text
		} else if o.Value = shown(v); o.Value == "" {
			return
		} else if p.hides(e) {
			o.Value = "(secret)"
		}
		seen[text] = true
		out = append(out, o)
	}
	var visit func(e ast.Expr)
	visit = func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind, ast.SelectKind, ast.ComprehensionKind:
			show(e)
		case ast.CallKind:
			call := e.AsCall()
			name, args := call.FunctionName(), call.Args()
			if _, operator := operators.FindReverse(name); ofMetrics[name] || !operator && name[0] != '@' && !constant(e) {
				show(e)
			}
			if ofMetrics[name] {
				args = args[:2]
			}
			for _, a := range args {
				visit(a)
			}
		case ast.ListKind:
			for _, x := range e.AsList().Elements() {
				visit(x)
			}
		}
	}
	visit(p.ast.Expr())
	return out
}

// constant reports whether nothing but literals is in a call.
func constant(e ast.Expr) bool {
	literal := true
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(x ast.Expr) {
		literal = literal && (x.Kind() == ast.LiteralKind || x.Kind() == ast.CallKind && !x.AsCall().IsMemberFunction())
	}))
	return literal
}

// shown writes a value for a report; "" where it is an object or too long to show.
func shown(v ref.Val) string {
	switch x := v.(type) {
	case types.Double:
		if math.Trunc(float64(x)) == float64(x) && math.Abs(float64(x)) < 1e21 {
			return number(float64(x))
		}
		if math.Abs(float64(x)) >= 1e4 && math.Abs(float64(x)) < 1e15 { // no exponent in numbers that a reader compares
			return fmt.Sprintf("%.0f", float64(x))
		}
		return fmt.Sprintf("%.4g", float64(x))
	case types.String:
		return fmt.Sprintf("%q", string(x))
	case types.Bool:
		return fmt.Sprint(bool(x))
	}
	return ""
}

// hides says whether a secret is in e.
func (p *Program) hides(e ast.Expr) (secret bool) {
	if len(p.secret) > 0 {
		ast.PostOrderVisit(e, ast.NewExprVisitor(func(x ast.Expr) { secret = secret || p.secret[x.ID()] }))
	}
	return secret
}

// broke says when a condition that is false broke first: all(x, ...) of a series, a comparison of its max or min, or one
// of the number of events.
func (p *Program) broke(st interpreter.EvalState, rec *recorder) string {
	first := ""
	ast.PostOrderVisit(p.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind && first == "" {
			first = p.brokenLoop(e.AsComprehension(), st, rec)
		}
		if e.Kind() != ast.CallKind || first != "" {
			return
		}
		call := e.AsCall()
		op, args := call.FunctionName(), call.Args()
		if v, ok := st.Value(e.ID()); !ok || v != ref.Val(types.False) || len(args) != 2 {
			return
		}
		for i := range 2 {
			limit, ok := st.Value(args[1-i].ID())
			if d, isNum := limit.(types.Double); ok && isNum && args[i].Kind() == ast.CallKind && args[i].AsCall().IsMemberFunction() {
				side := args[i].AsCall()
				of, _ := st.Value(side.Target().ID())
				if first = brokenSide(side.FunctionName(), op, i == 0, of, float64(d), p.texts[side.Target().ID()]); first != "" {
					return
				}
			}
		}
	}))
	return first
}

// brokenLoop is for all(x, ...) over a series; its step is an && that is evaluated once a sample.
func (p *Program) brokenLoop(c ast.ComprehensionExpr, st interpreter.EvalState, rec *recorder) string {
	rng := c.IterRange()
	if rng.Kind() != ast.CallKind || len(rng.AsCall().Args()) != 1 {
		return ""
	}
	of := rng.AsCall().Args()[0]
	v, _ := st.Value(of.ID())
	o, ok := v.(*object)
	if !ok {
		return ""
	}
	s, ok := o.v.(*Series)
	at := rec.steps[c.LoopStep().ID()]
	if !ok || at == nil || at.count != len(s.V) || at.broke == 0 {
		return ""
	}
	return brokenSample(p.texts[of.ID()], s, at.broke-1)
}

func brokenSample(text string, s *Series, i int) string {
	return fmt.Sprintf("%s first broke it at %s s with %s", text, number(s.T[i]), shown(types.Double(s.V[i])))
}

func brokenSide(f, op string, left bool, of ref.Val, limit float64, text string) string {
	if !left { // 5 > s.max() is s.max() < 5
		op = map[string]string{operators.Less: operators.Greater, operators.LessEquals: operators.GreaterEquals,
			operators.Greater: operators.Less, operators.GreaterEquals: operators.LessEquals}[op]
	}
	if list, ok := of.(eventList); ok && f == "size" && list.Size() != types.IntZero {
		at := list.Get(types.IntZero).(*object).get("at")
		return fmt.Sprintf("first of %s at %s s", text, shown(at))
	}
	o, ok := of.(*object)
	if !ok || f != "max" && f != "min" {
		return ""
	}
	s, ok := o.v.(*Series)
	if !ok {
		return ""
	}
	fits := map[string]func(v float64) bool{operators.Less: func(v float64) bool { return v < limit }, operators.LessEquals: func(v float64) bool { return v <= limit },
		operators.Greater: func(v float64) bool { return v > limit }, operators.GreaterEquals: func(v float64) bool { return v >= limit }}[op]
	if fits == nil || (f == "max") != (op == operators.Less || op == operators.LessEquals) {
		return ""
	}
	for i, v := range s.V {
		if !fits(v) {
			return brokenSample(text, s, i)
		}
	}
	return ""
}
