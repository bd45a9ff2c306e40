package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/verdict"
)

// compileAll makes the compiler that knows everything, with the params of later times and the plan's own metrics.
func (c *compilation) compileAll() {
	c.checkFigures()
	// The plan's metrics may read params, so these are names of the schema before metrics are added.
	c.schema.Names = append(c.schema.Names, c.paramNames()...)
	c.addCustomMetrics()
	compiler, err := verdict.NewCompiler(c.schema)
	if err != nil {
		c.list.Addf(diag.Pos{File: c.Plan.File}, "%v", err)
		return
	}
	c.compiler = compiler
	if plan, err := compiler.Extend(nil, planFunctions(nil, nil, nil)); err == nil { // setup may start what it likes
		c.eval = newEvaluator(plan)
	}
	c.compileParams()
	byScenario := map[string][]verdict.Coord{}
	for _, cell := range c.Cells {
		byScenario[cell.Coord.Scenario] = append(byScenario[cell.Coord.Scenario], verdictCoord(cell.Coord))
	}
	extended := map[string]*evaluator{} // cells of the same names share their programs
	for _, cell := range c.Cells {
		key := cell.Coord.Scenario + "\x00" + cell.Coord.Target
		if extended[key] == nil {
			extended[key] = newEvaluator(c.extend(compiler, cell), byScenario[cell.Coord.Scenario]...)
		}
		cell.eval = extended[key]
	}
}

// addCustomMetrics adds the metrics that the plan computes to the schema.
func (c *compilation) addCustomMetrics() {
	var customs []verdict.CustomMetric
	var at []int // the index of each among the plan's metrics: those without `of` are published
	for i, m := range c.Plan.Metrics {
		if m.Val.Of.IsSet() {
			customs, at = append(customs, verdict.CustomMetric{Name: m.Name, Of: m.Val.Of.Text, Across: across(series.Across(m.Val.Across))}), append(at, i)
		}
	}
	custom, problems := c.schema.AddCustom(customs)
	for _, p := range problems {
		m := c.Plan.Metrics[at[p.Definition]]
		c.list.Addf(m.Val.Of.Pos(p.Line, p.Col-1), "%s", p.Msg).Hint = p.Hint
	}
	c.custom = custom
	for _, x := range custom {
		m := c.Plan.Metrics.Get(x.Name)
		d := series.Desc{Name: x.Name, Unit: m.Val.Unit, Better: series.Better(m.Val.Better), Across: series.Across(m.Val.Across), Class: series.Count, Doc: m.Val.About}
		if x.Class != verdict.Count && x.Class != verdict.OtherClass {
			d.Class = series.Timing
		}
		c.customDescs = append(c.customDescs, d)
	}
}

// compileParams compiles the params of later times, with their types.
func (c *compilation) compileParams() {
	for _, p := range c.order {
		if p.time == verdict.AtPlan {
			continue
		}
		when := dsl.TimeStage
		if p.time == verdict.AtRun {
			when = dsl.TimeRun
		}
		for _, h := range p.part.Holes() {
			reportAt(&c.list, c.eval.compile(h.Text, when).problems, h.Pos)
		}
	}
}

// checkExpressions compiles every hole that is still open and every condition.
func (c *compilation) checkExpressions() {
	if c.compiler == nil {
		return
	}
	seen := map[any]bool{}
	once := func(e *evaluator, holes []*dsl.Hole, exprs []dsl.Expr) {
		for _, h := range holes {
			if !seen[h] {
				seen[h] = true
				reportAt(&c.list, e.compile(h.Text, h.When).problems, h.Pos)
			}
		}
		for _, x := range exprs {
			if seen[x] || !x.IsSet() {
				continue
			}
			seen[x] = true
			got := e.compile(x.Text, x.When)
			reportAt(&c.list, got.problems, x.Pos)
			if got.prog != nil {
				checkKind(&c.list, x, got.prog, verdict.Bool)
			}
		}
	}
	for _, cell := range c.Cells {
		if cell.Unsupported != "" && strings.Contains(cell.Unsupported, "does not have") {
			continue
		}
		once(cell.eval, cell.Scenario.Holes(), cell.Scenario.Exprs())
		once(cell.eval, cell.Target.Holes(), cell.Target.Exprs())
		for i := range c.Plan.Probes {
			once(cell.eval, c.Plan.Probes[i].Holes(), c.Plan.Probes[i].Exprs())
		}
		for i := range c.backends {
			once(cell.eval, c.backends[i].Holes(), c.backends[i].Exprs())
		}
	}
	once(c.eval, c.Plan.Host.Holes(), c.Plan.Host.Exprs())
	for i := range c.Plan.Relays {
		once(c.eval, c.Plan.Relays[i].Holes(), c.Plan.Relays[i].Exprs())
	}
	for i := range c.Plan.Setup {
		once(c.eval, c.Plan.Setup[i].Holes(), c.Plan.Setup[i].Exprs())
	}
	for _, st := range c.Stages {
		once(c.eval, st.Part.Holes(), st.Part.Exprs())
	}
	// Of what a plan includes it need not run everything.
	for name, sc := range c.bound {
		if c.own(sc.Pos()) && !slices.ContainsFunc(c.Cells, func(x *Cell) bool { return x.Coord.Scenario == name }) {
			c.list.Addf(sc.Pos(), "no stage of the schedule runs the scenario %q", name).Warning = true
		}
	}
	c.checkVerdicts()
	c.checkSections()
	c.checkRoles()
	c.checkWithout()
}

// checkVerdicts compiles the verdicts.
func (c *compilation) checkVerdicts() {
	c.verdicts = definitions(c.Plan)
	_, problems := verdict.NewRules(c.compiler, c.verdicts)
	for _, p := range problems {
		v := c.Plan.Verdicts[p.Definition]
		c.list.Addf(fieldPos(&v, p), "%s", p.Msg).Hint = p.Hint
	}
}

// definitions are the verdicts of a plan as they are judged.
func definitions(plan *dsl.Plan) (out []verdict.Definition) {
	for i := range plan.Verdicts {
		v := plan.Verdicts[i].Val
		d := verdict.Definition{Name: v.Verdict, Where: v.Where.Text, Each: v.Each, When: v.When.Text, Pass: v.Pass.Text, GateWhere: v.GateWhere.Text}
		if v.Gate != "false" {
			d.Gate = v.Gate
		}
		if v.Mixed == "inconclusive" {
			d.Mixed = v.Mixed
		}
		for _, l := range v.Let {
			d.Let = append(d.Let, verdict.Let{Name: l.Name, Text: l.Val.Text})
		}
		for _, k := range v.Cases {
			d.Cases = append(d.Cases, verdict.Case{When: k.When.Text, Is: k.Is, Outcome: verdict.Outcome(k.Outcome)})
		}
		out = append(out, d)
	}
	return out
}

// fieldPos is the place in the plan of a problem in a field of a verdict.
func fieldPos(v *dsl.Part[dsl.Verdict], p verdict.DefProblem) diag.Pos {
	at := func(e dsl.Expr) diag.Pos {
		if e.IsSet() {
			return e.Pos(p.Line, p.Col-1)
		}
		return v.Pos()
	}
	switch name, rest, _ := strings.Cut(p.Field, "."); {
	case p.Field == "where":
		return at(v.Val.Where)
	case p.Field == "when":
		return at(v.Val.When)
	case p.Field == "pass":
		return at(v.Val.Pass)
	case p.Field == "gate-where":
		return at(v.Val.GateWhere)
	case name == "let":
		if e, ok := v.Val.Let.Get(rest); ok {
			return at(e)
		}
	case strings.HasPrefix(name, "cases["):
		i := 0
		fmt.Sscanf(name, "cases[%d]", &i)
		if rest == "when" && i < len(v.Val.Cases) {
			return at(v.Val.Cases[i].When)
		}
		return v.PosOf("cases")
	}
	return v.PosOf(p.Field)
}

// later collects what this build cannot run, of what would run.
func (c *compilation) later() {
	add := func(l diag.List) { c.Later = append(c.Later, l...) }
	for _, cell := range c.Cells {
		if cell.LeftOut == "" && cell.Unsupported == "" {
			add(cell.Scenario.Later())
			add(cell.Target.Later())
		}
	}
	for i := range c.Plan.Setup {
		add(c.Plan.Setup[i].Later())
	}
	for i := range c.backends {
		add(c.backends[i].Later())
	}
	for i := range c.Plan.Relays {
		add(c.Plan.Relays[i].Later())
	}
	for i := range c.Plan.Probes {
		add(c.Plan.Probes[i].Later())
	}
	for _, st := range c.Stages {
		add(st.Part.Later())
	}
	add(c.Plan.Host.Later())
	c.Later.Sort(c.Plan.Files)
}

func (c *Cell) values() verdict.Values { return verdict.Values{At: verdictCoord(c.Coord)} }
