package verdict

import (
	"fmt"
	"maps"
	"strings"
	"sync"

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

// Compiler compiles the expressions of a plan. It is safe for concurrent use.
type Compiler struct {
	ix   *index
	base *Compiler // what it extends, or nil
	root *cel.Env
	own  struct {
		names     []Name
		metrics   map[string]Metric
		functions []Function
	}
	functions map[string]Function // of the plan, all
	lets      map[string]*Program

	mu   sync.Mutex
	envs map[Time]*cel.Env
}

// NewCompiler makes the environments of a schema. Its error says what is wrong with the schema (two things of one name).
func NewCompiler(s *Schema) (*Compiler, error) {
	ix, err := newIndex(s)
	if err != nil {
		return nil, err
	}
	root, err := newEnv(ix)
	if err != nil {
		return nil, fmt.Errorf("making the expression environment: %w", err)
	}
	c := &Compiler{ix: ix, root: root, functions: map[string]Function{}, envs: map[Time]*cel.Env{}}
	c.own.metrics = ix.metrics
	for _, n := range ix.names {
		c.own.names = append(c.own.names, n)
	}
	return c, c.addFunctions(s.Functions)
}

// Extend gives a compiler that knows more names: the knobs of a target (with.x), the vars of a scenario.
func (c *Compiler) Extend(names []Name, functions []Function) (*Compiler, error) {
	ix := *c.ix
	ix.names = maps.Clone(c.ix.names)
	if err := ix.add(names); err != nil {
		return nil, err
	}
	out := &Compiler{ix: &ix, base: c, functions: maps.Clone(c.functions), lets: c.lets, envs: map[Time]*cel.Env{}}
	for _, n := range names {
		out.own.names = append(out.own.names, ix.names[n.Name])
	}
	return out, out.addFunctions(functions)
}

func (c *Compiler) addFunctions(fs []Function) error {
	for _, f := range fs {
		if _, twice := c.functions[f.Name]; twice || addressers[f.Name] {
			return fmt.Errorf("the function %q is declared twice", f.Name)
		}
		c.functions[f.Name] = f
	}
	c.own.functions = fs
	return nil
}

// WithLet gives a compiler in which name stands for a compiled expression; it is evaluated when it is first used.
func (c *Compiler) WithLet(name string, p *Program) (*Compiler, []Problem) {
	taken := c.ix.names[name].Name != "" || c.isNamespace(name) || c.lets[name] != nil || c.functions[name].Name != ""
	if _, metric := c.ix.metrics[name]; metric || taken {
		return nil, []Problem{{1, 1, fmt.Sprintf("%q is already the name of something else", name), "choose another name"}}
	}
	env, err := c.env(p.time)
	if err == nil {
		env, err = env.Extend(cel.Variable(name, p.typ))
	}
	if err != nil {
		return nil, []Problem{{1, 1, err.Error(), ""}}
	}
	out := &Compiler{ix: c.ix, base: c, functions: c.functions, lets: map[string]*Program{name: p}, envs: map[Time]*cel.Env{p.time: env}}
	for n, l := range c.lets {
		out.lets[n] = l
	}
	return out, nil
}

// env is the environment of one time.
func (c *Compiler) env(t Time) (*cel.Env, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.envs[t]; e != nil {
		return e, nil
	}
	from, err := c.root, error(nil)
	if c.base != nil {
		if from, err = c.base.env(t); err != nil {
			return nil, err
		}
	}
	opts := declare(c.own.names, c.own.metrics, c.own.functions, t)
	if c.base == nil && t&(AtStage|AtLive|AtJudge) != 0 {
		opts = append(opts, cel.Variable("@here", cellT))
	}
	if c.base == nil {
		opts = append(opts, cel.Variable("@plan", planT))
	}
	e, err := from.Extend(opts...)
	if err != nil {
		return nil, err
	}
	c.envs[t] = e
	return e, nil
}

// isNamespace says whether name is the first part of a dotted name, such as params.
func (c *Compiler) isNamespace(name string) bool {
	for n := range c.ix.names {
		if n == name || strings.HasPrefix(n, name+".") {
			return true
		}
	}
	return false
}

func (c *Compiler) isPlanFunction(name string) bool { return c.functions[name].Name != "" }

// pass compiles one expression.
type pass struct {
	*Compiler
	env      *cel.Env
	time     Time
	base     []Coord
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
	prog, err := env.Program(checked, programOptions()...)
	if err != nil {
		return nil, []Problem{{1, 1, err.Error(), ""}}
	}
	return &Program{text: text, time: at, typ: checked.OutputType(), compiler: c, ast: p.ast, texts: texts, prog: prog, address: in,
		needs: p.needs.done(), secret: p.secret}, nil
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
