package verdict

import (
	"context"
	"slices"
)

// CustomMetric is a metric that a plan computes of every run: `metrics: {NAME: {of: EXPR}}`.
type CustomMetric struct {
	Name   string
	Of     string
	Across Across
}

// Custom is a compiled CustomMetric.
type Custom struct {
	CustomMetric
	Class    Class               // the most delicate of what it reads
	programs map[string]*Program // by scenario
}

// AddCustom compiles metrics in order (one may read those before it) and adds each to the scenarios that can have it:
// those whose runs have what it reads. A metric that no scenario can have is a problem; its Definition is the index of the
// metric, its Field "of".
func (s *Schema) AddCustom(ms []CustomMetric) (out []*Custom, problems []DefProblem) {
	for i, m := range ms {
		say := func(ps ...Problem) {
			for _, p := range ps {
				problems = append(problems, DefProblem{i, "of", p})
			}
		}
		c, err := NewCompiler(s)
		if err != nil {
			say(Problem{1, 1, err.Error(), ""})
			return out, problems
		}
		if _, taken := c.ix.metrics[m.Name]; taken || c.isNamespace(m.Name) {
			say(Problem{1, 1, quote(m.Name) + " is already the name of something else", "choose another name"})
			continue
		}
		x := &Custom{CustomMetric: m, programs: map[string]*Program{}}
		var why []Problem
		for _, sc := range c.ix.scenarios {
			p, ps := x.compile(c, sc)
			if ps == nil && p != nil {
				x.programs[sc] = p
			} else if why == nil {
				why = ps
			}
		}
		if len(x.programs) == 0 {
			say(why...)
			continue
		}
		for sc := range x.programs {
			s.Scenarios[sc].Metrics = append(slices.Clone(s.Scenarios[sc].Metrics), Metric{Name: m.Name, Class: x.Class, Across: m.Across})
		}
		out = append(out, x)
	}
	return out, problems
}

// compile compiles for one scenario; nil without problems where no stage runs it.
func (x *Custom) compile(c *Compiler, scenario string) (*Program, []Problem) {
	var base []Coord
	for _, cell := range c.ix.cells {
		if cell.Scenario == scenario {
			base = append(base, cell)
		}
	}
	if base == nil {
		return nil, nil
	}
	p, ps := c.Compile(x.Of, AtJudge, base)
	if ps != nil {
		return nil, ps
	}
	if m := p.Mismatch(Number); m != nil {
		return nil, []Problem{*m}
	}
	for _, name := range p.needs.Metrics {
		x.Class = delicate(x.Class, c.ix.metrics[name].Class)
		x.Class = delicate(x.Class, c.ix.replica[name].Class)
	}
	return p, nil
}

// delicate is the class that more guards taint. A latency makes the figure one: failures distort it.
func delicate(a, b Class) Class {
	for _, c := range []Class{Latency, Rate, CPU, Count} {
		if a == c || b == c {
			return c
		}
	}
	return OtherClass
}

// Eval computes the metric of one run; ok is false where the scenario does not have it.
func (x *Custom) Eval(ctx context.Context, at Coord, run *Run) (r Result, ok bool) {
	p := x.programs[at.Scenario]
	if p == nil {
		return Result{}, false
	}
	return p.Eval(ctx, Values{At: at, Round: max(1, run.Round), Repeat: max(1, run.Repeat), Now: run}), true
}
