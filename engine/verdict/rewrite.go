package verdict

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// rewrite changes the parsed tree in place, before it is checked; ids and positions stay. It makes
//   - one number type: integer literals become doubles;
//   - == and != refuse values of different types, also where the types show only when they are read (equal);
//   - || and && evaluate every operand (logic);
//   - all, exists and exists_one look at every element, and not at an empty list; macros go through objects that have elements;
//   - scenario("x"), which is also a variable, a method of the current cell; functions of the plan methods of the plan;
//   - ratio(a, b) of two metrics know their cells.
func (p *pass) rewrite() {
	var todo []ast.Expr // collected first: a rewritten node is not visited again
	ast.PostOrderVisit(p.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) { todo = append(todo, e) }))
	for _, e := range todo {
		switch e.Kind() {
		case ast.LiteralKind:
			p.rewriteLiteral(e)
		case ast.CallKind:
			p.rewriteCall(e)
		case ast.ComprehensionKind:
			p.rewriteLoop(e)
		}
	}
}

// fresh is a new id at the position of another node.
func (p *pass) fresh(at ast.Expr) int64 {
	p.next++
	if r, ok := p.ast.SourceInfo().GetOffsetRange(at.ID()); ok {
		p.ast.SourceInfo().SetOffsetRange(p.next, r)
	}
	return p.next
}

func (p *pass) rewriteLiteral(e ast.Expr) {
	switch v := e.AsLiteral().(type) {
	case types.Int:
		if int64(float64(v)) != int64(v) {
			p.say(e.ID(), "", "%d is too large to be exact", int64(v))
		}
		e.SetKindCase(p.make.NewLiteral(e.ID(), types.Double(v)))
	case types.Uint:
		p.say(e.ID(), "", "%du: numbers have no suffix; write %d", uint64(v), uint64(v))
	case types.Bytes:
		p.say(e.ID(), "", "bytes are not offered; write text")
	case types.Null:
		p.say(e.ID(), "", "null is no value here")
	}
}

func (p *pass) rewriteCall(e ast.Expr) {
	call := e.AsCall()
	name, args := call.FunctionName(), call.Args()
	switch {
	case name == operators.LogicalOr:
		e.SetKindCase(p.make.NewCall(e.ID(), "@or", args...))
	case name == operators.LogicalAnd:
		e.SetKindCase(p.make.NewCall(e.ID(), "@and", args...))
	case name == operators.Equals:
		e.SetKindCase(p.make.NewCall(e.ID(), "@eq", args...))
	case name == operators.NotEquals:
		e.SetKindCase(p.make.NewCall(e.ID(), "@ne", args...))
	case call.IsMemberFunction():
	case addressers[name]:
		e.SetKindCase(p.make.NewMemberCall(e.ID(), name, p.make.NewIdent(p.fresh(e), "@here"), args...))
	case p.isPlanFunction(name):
		e.SetKindCase(p.make.NewMemberCall(e.ID(), name, p.make.NewIdent(p.fresh(e), "@plan"), args...))
	case (name == "ratio" || name == "noise_floor") && len(args) == 2:
		if a, m := p.metricRead(args[0]); a != nil {
			if b, n := p.metricRead(args[1]); b != nil {
				lit := func(s string) ast.Expr { return p.make.NewLiteral(p.fresh(e), types.String(s)) }
				e.SetKindCase(p.make.NewCall(e.ID(), "@"+name, args[0], args[1], a, lit(m), b, lit(n)))
				return
			}
		}
		hint := map[string]string{"ratio": "the ratio of other numbers is a / b", "noise_floor": "other numbers have no runs"}[name]
		p.say(e.ID(), hint, "%s() wants two metrics, such as %s(req_per_s, target(\"nginx\").req_per_s)", name, name)
	}
}

// ofMetrics are what the rewrite makes of functions of two metrics; their first two arguments are as they were written.
var ofMetrics = map[string]bool{"@ratio": true, "@noise_floor": true}

// metricRead takes p99_ms or target("x").p99_ms apart: a copy of the object and the metric.
func (p *pass) metricRead(e ast.Expr) (ast.Expr, string) {
	switch e.Kind() {
	case ast.IdentKind:
		if _, ok := p.ix.metrics[e.AsIdent()]; ok {
			return p.make.NewIdent(p.fresh(e), "@here"), e.AsIdent()
		}
	case ast.SelectKind:
		sel := e.AsSelect()
		op := sel.Operand()
		if op.Kind() == ast.IdentKind && p.isNamespace(op.AsIdent()) || sel.IsTestOnly() {
			return nil, ""
		}
		if k := op.Kind(); k == ast.IdentKind || k == ast.CallKind {
			return p.make.CopyExpr(op), sel.FieldName()
		}
	}
	return nil, ""
}

func (p *pass) rewriteLoop(e ast.Expr) {
	c := e.AsComprehension()
	over := "@items"
	m, ok := p.ast.SourceInfo().GetMacroCall(e.ID())
	if ok && slices.Contains([]string{"all", "exists", "exists_one"}, m.AsCall().FunctionName()) {
		c.LoopCondition().SetKindCase(p.make.NewLiteral(c.LoopCondition().ID(), types.True)) // look at every element
		if !complete(c.IterRange()) {
			over = "@nonempty"
		}
	}
	rng := p.make.NewCall(p.fresh(c.IterRange()), over, c.IterRange())
	e.SetKindCase(p.make.NewComprehension(e.ID(), rng, c.IterVar(), c.AccuVar(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()))
}

// complete says that an empty list is a result: events, also filtered.
func complete(e ast.Expr) bool {
	switch e.Kind() {
	case ast.CallKind:
		return e.AsCall().FunctionName() == "events" || e.AsCall().FunctionName() == "@items" && complete(e.AsCall().Args()[0])
	case ast.ComprehensionKind:
		return complete(e.AsComprehension().IterRange())
	}
	return false
}
