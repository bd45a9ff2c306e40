package verdict

import (
	"fmt"
	"slices"
)

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

// oneRun notes the series that a program reads, and refuses them where several runs are judged together.
func (b *builder) oneRun(field string, p *Program) {
	b.series = append(b.series, p.needs.Series...)
	if len(p.needs.Series) > 0 && b.Each != "run" && b.Each != "round" {
		b.say(field, "add each: run", "a series is of one run, but %s judges several runs together", b.eachText())
	}
}

func (b *builder) eachText() string {
	if b.Each == "" {
		return "each: cell"
	}
	return "each: " + b.Each
}
