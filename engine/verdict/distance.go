package verdict

import (
	"math"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
)

// distance is how far a comparison that makes a verdict fail is from its limit, where the whole expression is one:
//
//	a < b, a <= b, a > b, a >= b   that is false, or true in a case that fails
//	a == b, within(a, b, c)        that is false
//
// It is |ln(a/b)|, so that a limit of 10 that is missed by 5 counts more than one of 1000, and of a comparison with a 0 that is
// written in the plan the size of the other side. It is nil of other expressions; where a side, or the tolerance, is not a
// positive number; and where a secret is in it.
func (p *Program) distance(st interpreter.EvalState, holds bool) *float64 {
	e := p.ast.Expr()
	if e.Kind() != ast.CallKind || p.hides(e) {
		return nil
	}
	switch e.AsCall().FunctionName() {
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
	case "@eq", "within":
		if holds {
			return nil
		}
	default:
		return nil
	}
	args := e.AsCall().Args()
	a, okA := valueOf(st, args[0])
	b, okB := valueOf(st, args[1])
	var d float64
	switch {
	case !okA || !okB:
		return nil
	case isZero(args[1]):
		d = math.Abs(a)
	case isZero(args[0]):
		d = math.Abs(b)
	case a > 0 && b > 0:
		d = math.Abs(math.Log(a) - math.Log(b)) // a/b may be too large for a number
	default:
		return nil
	}
	return &d
}

// valueOf is the value of a part of an expression, where it is a finite number.
func valueOf(st interpreter.EvalState, e ast.Expr) (float64, bool) {
	if e.Kind() == ast.LiteralKind {
		v, ok := e.AsLiteral().(types.Double)
		return float64(v), ok
	}
	v, _ := st.Value(e.ID())
	d, ok := v.(types.Double)
	return float64(d), ok && !math.IsInf(float64(d), 0) && !math.IsNaN(float64(d))
}

// isZero reports whether a part of an expression is 0 as it was written.
func isZero(e ast.Expr) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.Double(0)
}
