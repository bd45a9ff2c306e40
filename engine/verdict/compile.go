package verdict

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// Problem is an error at its place in the expression; Line and Col count runes from 1.
type Problem struct {
	Line, Col int
	Msg       string
	Hint      string // what to do, or ""
}

func (p Problem) String() string {
	return fmt.Sprintf("%d:%d: %s%s", p.Line, p.Col, p.Msg, join(p.Hint))
}

// pass compiles one expression.
type pass struct {
	*Compiler
	env      *cel.Env
	time     Time
	base     []Coord
	heres    map[Coord]bool // the same, as a set
	text     string
	lines    []string
	ast      *ast.AST
	make     ast.ExprFactory
	next     int64
	nodes    map[int64]ast.Expr // before the checker replaced some
	parents  map[int64]ast.Expr
	said     map[[2]int]bool
	problems []Problem
	needs    *needs
	secret   map[int64]bool
}

// Compile parses, rewrites, checks and plans one expression, for evaluation at one time. base are the cells for which it
// will be evaluated (at judge those that `where` selects; with empty parts where a group is judged); nil is no cell.
func (c *Compiler) Compile(text string, at Time, base []Coord) (*Program, []Problem) {
	if at != at.earliest() || at == 0 {
		return nil, []Problem{{1, 1, "an expression has one time of evaluation", ""}}
	}
	env, err := c.env(at)
	if err != nil {
		return nil, []Problem{{1, 1, err.Error(), ""}}
	}
	p := &pass{Compiler: c, env: env, time: at, base: base, text: text, lines: strings.Split(text, "\n"), make: ast.NewExprFactory(),
		said: map[[2]int]bool{}, needs: newNeeds(at), secret: map[int64]bool{}}
	parsed, iss := env.Parse(text)
	if iss.Err() != nil {
		for _, e := range iss.Errors() {
			p.parseError(e)
		}
		return nil, p.problems
	}
	p.ast = parsed.NativeRep()
	p.next = ast.MaxID(p.ast)
	texts := p.texts()
	p.rewrite()
	p.remember()
	if p.problems != nil {
		return nil, p.problems
	}
	checked, iss := env.Check(parsed)
	if iss.Err() != nil {
		for _, e := range iss.Errors() {
			p.checkError(e)
		}
		return nil, p.problems
	}
	p.ast = checked.NativeRep()
	in := p.walk(p.ast.Expr(), map[string]*address{})
	if p.problems != nil {
		return nil, p.problems
	}
	prog, err := env.Program(checked, programOptions(at)...)
	if err != nil {
		return nil, []Problem{{1, 1, err.Error(), ""}}
	}
	return &Program{text: text, time: at, typ: checked.OutputType(), compiler: c, ast: p.ast, texts: texts, prog: prog, address: in,
		needs: p.needs.done(), secret: p.secret, loops: p.loops()}, nil
}

// loops reports whether the expression has a loop, or a let, whose expression may have one.
func (p *pass) loops() bool {
	found := len(p.lets) > 0
	ast.PostOrderVisit(p.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) { found = found || e.Kind() == ast.ComprehensionKind }))
	return found
}

// texts keeps how sub-expressions were written, before the rewrite turns 5 into 5.0.
func (p *pass) texts() map[int64]string {
	out := map[int64]string{}
	ast.PostOrderVisit(p.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind, ast.SelectKind, ast.CallKind, ast.ComprehensionKind:
			if s, err := parser.Unparse(e, p.ast.SourceInfo()); err == nil {
				out[e.ID()] = s
			}
		}
	}))
	return out
}

// remember keeps the nodes, because the checker replaces a.b by one identifier in place; ids stay.
func (p *pass) remember() {
	p.nodes, p.parents = map[int64]ast.Expr{}, map[int64]ast.Expr{}
	ast.PostOrderVisit(p.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		p.nodes[e.ID()] = e
		if e.Kind() == ast.SelectKind {
			p.parents[e.AsSelect().Operand().ID()] = e
		}
	}))
}

// Program is a compiled expression.
type Program struct {
	text     string
	time     Time
	typ      *cel.Type
	compiler *Compiler
	ast      *ast.AST
	texts    map[int64]string // sub-expressions as they were written
	prog     cel.Program
	address  *address // where an object's value comes from, for lets
	needs    Needs
	secret   map[int64]bool
	loops    bool // its evaluation has to be bounded
}

// Text is the expression as it was written.
func (p *Program) Text() string { return p.text }

// Type of its value.
func (p *Program) Type() Type { return Type{p.typ} }

// Mismatch says why the value cannot be one of the wanted kinds, or nil. A type that shows only when the value is read
// passes; who reads it checks again.
func (p *Program) Mismatch(want ...Kind) *Problem {
	if p.typ.Kind() == types.DynKind {
		return nil
	}
	var words []string
	for _, k := range want {
		if k == p.Type().Kind() {
			return nil
		}
		words = append(words, k.String())
	}
	have := p.Type().Kind().String()
	if p.Type().Kind() == Other {
		have = "a " + p.Type().String()
	}
	return &Problem{1, 1, fmt.Sprintf("%s is wanted here, but this is %s", strings.Join(words, " or "), have), ""}
}

// Needs says what the value depends on.
func (p *Program) Needs() Needs { return p.needs }
