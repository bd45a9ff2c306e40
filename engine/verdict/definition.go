package verdict

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	series []string   // that these read
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

// Series are the names of the series that the rules read.
func (r *Rules) Series() (names []string) {
	for _, rule := range r.rules {
		names = append(names, rule.series...)
	}
	slices.Sort(names)
	return slices.Compact(names)
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
	// Cells that agree in what the condition reads are evaluated once.
	known := map[Coord]Result{}
	for _, cell := range c.ix.cells {
		key := p.readsOf(cell)
		r, ok := known[key]
		if !ok {
			r = p.Eval(context.Background(), Values{At: cell})
			known[key] = r
		}
		if r.Value == true {
			cells = append(cells, cell)
		} else if r.Err != nil {
			why = r.Err
		}
	}
	return cells, why, nil
}

// readsOf is a cell without the coordinates that the program does not read.
func (p *Program) readsOf(c Coord) (key Coord) {
	for _, n := range p.needs.Names {
		switch {
		case n == "stage":
			key.Stage = c.Stage
		case n == "scenario":
			key.Scenario = c.Scenario
		case n == "target":
			key.Target = c.Target
		case strings.HasPrefix(n, "matrix."): // the values of an axis have types that the scenario decides
			key.Scenario, key.Matrix = c.Scenario, c.Matrix
		}
	}
	return key
}
