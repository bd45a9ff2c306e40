package verdict

import "github.com/google/cel-go/common/ast"

// Mentions lists the dotted names that an expression is written with, known or not, such as params.rate, each with those
// that it begins with; nil if it does not parse. What stands in quotes is text, and no name.
func (c *Compiler) Mentions(text string) (names []string) {
	env, err := c.env(AtPlan)
	if err != nil {
		return nil
	}
	parsed, iss := env.Parse(text)
	if iss.Err() != nil {
		return nil
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if name := dotted(e); name != "" {
			names = append(names, name)
		}
	}))
	return names
}

// dotted is a.b.c as it was written; "" for what is no such name.
func dotted(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if in := dotted(e.AsSelect().Operand()); in != "" {
			return in + "." + e.AsSelect().FieldName()
		}
	}
	return ""
}
