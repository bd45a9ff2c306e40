package verdict

import (
	"context"
	"fmt"
	"slices"
)

// Definition is a verdict as the plan has it; all expressions are texts.
type Definition struct {
	Name      string
	Where     string // at select, for every cell; "" is all
	Each      string // cell (also ""), run, round, target, plan
	When      string // where it is false the verdict is not judged
	Let       []Let  // in order; one may use those before it
	Pass      string
	Cases     []Case // instead of Pass
	Gate      string // "" (none), "true", "fail-only"
	GateWhere string // at select: the cells for which it gates; "" is all
	Mixed     string // "inconclusive": runs or rounds that disagree are noisy; "": a fail decides
}

// Let is a named sub-expression.
type Let struct{ Name, Text string }

// Case is one of cases: the first whose When holds. No When is the rest.
type Case struct {
	When, Is string
	Outcome  Outcome // Pass, Fail or Inconclusive
}

// DefProblem is a problem of a definition, at its place in the text of one field.
type DefProblem struct {
	Definition int    // its index
	Field      string // where, each, when, let.NAME, pass, cases, cases[1].when, cases[1].outcome, gate, gate-where, mixed
	Problem
}

func (p DefProblem) String() string {
	return fmt.Sprintf("verdict %d, %s: %s", p.Definition, p.Field, p.Problem)
}

// Rules are compiled definitions.
type Rules struct {
	c     *Compiler
	rules []*rule
}

// rule is one compiled definition.
type rule struct {
	Definition
	index  int
	cells  []Coord // that where selects
	gates  map[Coord]bool
	groups []group
	when   *Program
	pass   *Program
	cases  []*Program // nil: the rest
}

// group is what is judged together: a cell, or the cells of a target, or all.
type group struct {
	at    Coord // with the coordinates that all cells share
	cells []Coord
}

// NewRules compiles definitions. Those with a problem are left out of the rules.
func NewRules(c *Compiler, defs []Definition) (*Rules, []DefProblem) {
	r := &Rules{c: c}
	var all []DefProblem
	for i, d := range defs {
		b := &builder{c: c, rule: &rule{Definition: d, index: i}}
		b.build()
		if b.problems == nil {
			r.rules = append(r.rules, b.rule)
		}
		all = append(all, b.problems...)
	}
	return r, all
}

// CheckDefinitions gives every problem of the definitions. Its error is one of the schema.
func CheckDefinitions(s *Schema, defs []Definition) ([]DefProblem, error) {
	c, err := NewCompiler(s)
	if err != nil {
		return nil, err
	}
	_, ps := NewRules(c, defs)
	return ps, nil
}

// Select gives the cells for which a condition of select time holds; one that cannot be evaluated for a cell (an axis
// that the cell lacks) does not hold. The empty text holds for all.
func (c *Compiler) Select(text string) ([]Coord, []Problem) {
	cells, _, ps := c.selected(text)
	return cells, ps
}

func (c *Compiler) selected(text string) (cells []Coord, why *Reason, ps []Problem) {
	if text == "" {
		return c.ix.cells, nil, nil
	}
	p, ps := c.Compile(text, AtSelect, c.ix.cells)
	if ps != nil {
		return nil, nil, ps
	}
	if m := p.Mismatch(Bool); m != nil {
		return nil, nil, []Problem{*m}
	}
	for _, cell := range c.ix.cells {
		r := p.Eval(context.Background(), Values{At: cell})
		if r.Value == true {
			cells = append(cells, cell)
		} else if r.Err != nil {
			why = r.Err
		}
	}
	return cells, why, nil
}

type builder struct {
	*rule
	c        *Compiler
	problems []DefProblem
}

func (b *builder) say(field, hint, format string, args ...any) {
	b.problems = append(b.problems, DefProblem{b.index, field, Problem{1, 1, fmt.Sprintf(format, args...), hint}})
}

func (b *builder) add(field string, ps []Problem) {
	for _, p := range ps {
		b.problems = append(b.problems, DefProblem{b.index, field, p})
	}
}

func (b *builder) oneOf(field, value string, values ...string) bool {
	if slices.Contains(values, value) {
		return true
	}
	b.say(field, didYouMean(value, values[1:]), "unknown %s %q", field, value)
	return false
}

func (b *builder) build() {
	each := b.oneOf("each", b.Each, "", "cell", "run", "round", "target", "plan")
	b.oneOf("gate", b.Gate, "", "true", "fail-only")
	if b.oneOf("mixed", b.Mixed, "", "inconclusive") && b.Mixed != "" && b.Each != "run" && b.Each != "round" {
		b.say("mixed", "", "mixed is of runs or rounds that disagree; it needs each: run or each: round")
	}
	cells, why, ps := b.c.selected(b.Where)
	b.add("where", ps)
	if ps == nil && len(cells) == 0 {
		hint := ""
		if why != nil {
			hint = why.Text
		}
		b.say("where", hint, "no cell of the plan is selected")
	}
	b.cells = cells
	b.buildGate()
	if !each || len(cells) == 0 {
		return
	}
	b.groups = b.group()
	b.buildExpressions()
}

func (b *builder) buildGate() {
	b.gates = map[Coord]bool{}
	if b.GateWhere != "" && b.Gate == "" {
		b.say("gate-where", "add gate: true or gate: fail-only", "gate-where without gate has no effect")
	}
	cells, _, ps := b.c.selected(b.GateWhere)
	b.add("gate-where", ps)
	any := false
	for _, c := range cells {
		if slices.Contains(b.cells, c) {
			b.gates[c], any = true, true
		}
	}
	if ps == nil && !any && len(b.cells) > 0 {
		b.say("gate-where", "", "no cell that where selects is selected: the verdict would never gate")
	}
}

// group puts together what is judged together.
func (b *builder) group() (out []group) {
	switch b.Each {
	case "", "cell", "run":
		for _, c := range b.cells {
			out = append(out, group{c, []Coord{c}})
		}
	case "target", "round":
		for _, t := range b.c.ix.targets {
			g := group{}
			for _, c := range b.cells {
				if c.Target == t {
					g.cells = append(g.cells, c)
				}
			}
			if g.cells != nil {
				g.at = shared(g.cells)
				out = append(out, g)
			}
		}
	case "plan":
		out = append(out, group{shared(b.cells), b.cells})
	}
	return out
}

// shared keeps the coordinates that all cells have in common.
func shared(cells []Coord) Coord {
	s := cells[0]
	for _, c := range cells[1:] {
		for _, f := range []struct {
			have *string
			with string
		}{{&s.Stage, c.Stage}, {&s.Scenario, c.Scenario}, {&s.Target, c.Target}, {&s.Matrix, c.Matrix}} {
			if *f.have != f.with {
				*f.have = ""
			}
		}
	}
	if s.Scenario == "" {
		s.Matrix = ""
	}
	return s
}

func (b *builder) buildExpressions() {
	var base []Coord
	for _, g := range b.groups {
		base = append(base, g.at)
	}
	c := b.c
	for _, l := range b.Let {
		p, ps := c.Compile(l.Text, AtJudge, base)
		if ps == nil {
			b.oneRun("let."+l.Name, p)
			var next *Compiler
			if next, ps = c.WithLet(l.Name, p); ps == nil {
				c = next
			}
		}
		b.add("let."+l.Name, ps)
	}
	if b.problems != nil && len(b.Let) > 0 {
		return // a let that does not compile would be an unknown name everywhere
	}
	condition := func(field, text string) *Program {
		p, ps := c.Compile(text, AtJudge, base)
		b.add(field, ps)
		if p == nil {
			return nil
		}
		if m := p.Mismatch(Bool); m != nil {
			b.add(field, []Problem{*m})
			return nil
		}
		b.oneRun(field, p)
		return p
	}
	if b.When != "" {
		b.when = condition("when", b.When)
	}
	switch {
	case b.Pass != "" && len(b.Cases) > 0:
		b.say("cases", "", "a verdict has pass or cases, not both")
	case b.Pass != "":
		b.pass = condition("pass", b.Pass)
	case len(b.Cases) == 0:
		b.say("pass", "", "the verdict says nothing: give pass or cases")
	}
	for i, k := range b.Cases {
		field := fmt.Sprintf("cases[%d]", i)
		b.oneOf(field+".outcome", string(k.Outcome), "", string(Pass), string(Fail), string(Inconclusive))
		if k.Outcome == "" {
			b.say(field+".outcome", "outcome: pass, fail or inconclusive", "the case has no outcome")
		}
		if k.When == "" {
			if i < len(b.Cases)-1 {
				b.say(field+".when", "", "a case without when is the rest; the cases after it are never reached")
			}
			b.cases = append(b.cases, nil)
			continue
		}
		b.cases = append(b.cases, condition(field+".when", k.When))
	}
}

// oneRun refuses a series where several runs are judged together.
func (b *builder) oneRun(field string, p *Program) {
	if p.needs.Series && b.Each != "run" && b.Each != "round" {
		b.say(field, "add each: run", "a series is of one run, but %s judges several runs together", b.eachText())
	}
}

func (b *builder) eachText() string {
	if b.Each == "" {
		return "each: cell"
	}
	return "each: " + b.Each
}
