package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/verdict"
)

// A Program is a compiled plan: every expression type-checked, every cell listed, every name known.
type Program struct {
	Plan   *dsl.Plan
	Cells  []*Cell // in the order of the schedule, target by target
	Stages []*Stage
	Host   dsl.Host
	Later  diag.List // what the plan says that this build cannot run: Run refuses it

	params      map[string]*param
	order       []*param // as they depend on one another
	planned     known    // what is known before anything runs
	boot        *verdict.Compiler
	compiler    *verdict.Compiler
	schema      *verdict.Schema
	eval        *evaluator // of the plan, with everything declared
	verdicts    []verdict.Definition
	metrics     map[string]scenarioMetrics
	custom      []*verdict.Custom
	customDescs []series.Desc
	always      []dsl.Kind // probes that every run has
	readFile    func(path string) ([]byte, error)
	secrets     []string
}

// A Stage is an entry of the schedule.
type Stage struct {
	Name      string
	Part      dsl.Part[dsl.Stage]
	Scenarios []string
	Targets   []string
	Cells     []*Cell
	Rounds    int // 0 if it is known only when the stage begins
	known     known
}

// Options of Compile.
type Options struct {
	Only, Skip []string                          // patterns of cells: see selects
	Repeats    int                               // overrides every scenario's, if positive
	Env        func(name string) (string, bool)  // nil: os.LookupEnv
	Always     []dsl.Kind                        // kinds of probes that every run has
	ReadFile   func(path string) ([]byte, error) // of the plan's files; nil: os.ReadFile
}

// Compile binds what is known, lists the cells and checks every expression. The program is nil if a problem is more than
// a warning.
func Compile(plan *dsl.Plan, opt Options) (*Program, diag.List) {
	c := &compilation{Program: &Program{Plan: plan, params: map[string]*param{}, planned: known{}, metrics: map[string]scenarioMetrics{}, always: opt.Always, readFile: opt.ReadFile}, opt: opt}
	if c.readFile == nil {
		c.readFile = os.ReadFile
	}
	c.run()
	c.list.Sort(plan.Files)
	if c.list.HasErrors() {
		return nil, c.list
	}
	return c.Program, c.list
}

type compilation struct {
	values []string // names that exec actions set
	*Program
	opt      Options
	list     diag.List
	bound    map[string]dsl.Part[dsl.Scenario] // bound with what the plan knows
	targets  map[string]dsl.Part[dsl.Target]
	backends map[string]dsl.Part[dsl.Backend]
}

func (c *compilation) run() {
	// Extend cannot fail here: names of the plan are identifiers and declared once.
	boot, err := verdict.NewCompiler(&verdict.Schema{Targets: c.targetNames(), Names: c.planNames(), Functions: planFunctions})
	if err != nil {
		c.list.Addf(diag.Pos{File: c.Plan.File}, "%v", err)
		return
	}
	c.boot = boot
	c.hostAndParams()
	c.bindParts()
	c.stages()
	c.withAxes()
	c.cells()
	if c.list.HasErrors() {
		return // names would be unknown by the dozen
	}
	c.declare()
	c.checkExpressions()
	c.later()
}

// planFill fills what the plan knows.
func (c *compilation) planFill() dsl.Filler {
	return newEvaluator(c.boot).fill(context.Background(), c.planned, verdict.Values{})
}

func (c *compilation) add(l diag.List) { c.list = append(c.list, l...) }

func (c *compilation) bindParts() {
	c.targets, c.bound, c.backends = map[string]dsl.Part[dsl.Target]{}, map[string]dsl.Part[dsl.Scenario]{}, map[string]dsl.Part[dsl.Backend]{}
	for i := range c.Plan.Backends {
		p, l := c.Plan.Backends[i].Bind(c.planFill())
		c.add(l)
		c.backends[p.Name] = p
	}
	for i := range c.Plan.Targets {
		p, l := c.Plan.Targets[i].Bind(c.planFill())
		c.add(l)
		c.targets[p.Name] = p
	}
	for i := range c.Plan.Scenarios {
		p, l := c.Plan.Scenarios[i].Bind(c.planFill())
		c.add(l)
		c.bound[p.Name] = p
	}
}

func (c *compilation) stages() {
	if len(c.Plan.Schedule) == 0 {
		c.Stages = []*Stage{{Name: "all", Scenarios: c.Plan.Scenarios.Names(), Targets: c.Plan.Targets.Names(), Rounds: 1}}
	}
	for i := range c.Plan.Schedule {
		p, l := c.Plan.Schedule[i].Bind(c.planFill())
		c.add(l)
		s := &Stage{Name: p.Val.Stage, Part: p, Scenarios: p.Val.Scenarios, Targets: p.Val.Targets, Rounds: p.Val.Rounds}
		if len(s.Scenarios) == 0 {
			s.Scenarios = c.Plan.Scenarios.Names()
		}
		if len(s.Targets) == 0 {
			s.Targets = c.Plan.Targets.Names()
		}
		if len(p.Holes()) > 0 {
			s.Rounds = 0
		}
		c.Stages = append(c.Stages, s)
	}
}

// withAxes makes the compiler that knows cells, but no metrics yet.
func (c *compilation) withAxes() {
	s := &verdict.Schema{Targets: c.targetNames(), Names: c.planNames(), Functions: planFunctions, Scenarios: map[string]*verdict.Scenario{}}
	for name, sc := range c.bound {
		s.Scenarios[name] = &verdict.Scenario{Axes: axesOf(sc)}
	}
	for _, st := range c.Stages {
		s.Stages = append(s.Stages, verdict.Stage{Name: st.Name, Scenarios: c.existing(st.Scenarios), Targets: st.Targets, Rounds: st.Rounds})
	}
	boot, err := verdict.NewCompiler(s)
	if err == nil {
		boot, err = boot.Extend(c.paramNames(), nil)
	}
	if err != nil {
		c.list.Addf(diag.Pos{File: c.Plan.File}, "%v", err)
		return
	}
	c.boot = boot
}

func (c *compilation) existing(scenarios []string) []string {
	return slices.DeleteFunc(slices.Clone(scenarios), func(s string) bool { _, ok := c.bound[s]; return !ok })
}

func axesOf(sc dsl.Part[dsl.Scenario]) (out []verdict.Axis) {
	for _, a := range sc.Val.Matrix {
		axis := verdict.Axis{Name: a.Name}
		for _, v := range a.Val {
			axis.Values = append(axis.Values, v.V)
		}
		out = append(out, axis)
	}
	return out
}

// cells lists the cells: stage by stage, target by target, scenario by scenario.
func (c *compilation) cells() {
	for _, s := range c.Stages {
		for _, t := range s.Targets {
			for _, sc := range s.Scenarios {
				scenario, ok := c.bound[sc]
				target, ok2 := c.targets[t]
				if !ok || !ok2 {
					continue // reported by dsl
				}
				for _, axes := range combinations(scenario.Val.Matrix) {
					cell := c.cell(s, target, scenario, axes)
					s.Cells = append(s.Cells, cell)
					c.Cells = append(c.Cells, cell)
				}
			}
		}
	}
}

func (c *compilation) cell(s *Stage, target dsl.Part[dsl.Target], scenario dsl.Part[dsl.Scenario], axes []axisValue) *Cell {
	cell := &Cell{Coord: record.Coord{Stage: s.Name, Scenario: scenario.Name, Target: target.Name}, Relays: scenario.Val.Relays,
		Limits: mergeLimits(target.Val.Limits, scenario.Val.Limits), Fresh: cmp.Or(scenario.Val.Fresh, c.Plan.Fresh)}
	k := known{"stage": s.Name, "scenario": scenario.Name, "target": target.Name}
	for _, a := range axes {
		cell.Coord.Matrix = append(cell.Coord.Matrix, record.Axis{Name: a.name, Value: a.text()})
		k["matrix."+a.name] = a.value
	}
	for _, v := range scenario.Val.Vars {
		k["vars."+v.Name] = v.Val
	}
	cell.With, cell.Unsupported = mergeKnobs(target, scenario)
	for _, v := range cell.With {
		k["with."+v.Name] = v.Val.Value
	}
	if why, ok := target.Val.Unsupported.Get(scenario.Name); ok {
		cell.Unsupported = cmp.Or(why, "the plan says so")
	}
	cell.known = c.planned.with(k)
	at := verdictCoord(cell.Coord)
	cell.eval = newEvaluator(c.extend(c.boot, cell), at)
	fill := cell.eval.fill(context.Background(), cell.known, verdict.Values{At: at})
	var l diag.List
	cell.Scenario, l = scenario.Bind(fill)
	c.add(l)
	cell.Target, l = target.Bind(fill)
	c.add(l)
	// A var or knob that was an expression has its value now.
	for _, v := range cell.Scenario.Val.Vars {
		cell.known["vars."+v.Name] = v.Val
	}
	cell.Repeats = cell.Scenario.Val.Repeats
	if c.opt.Repeats > 0 {
		cell.Repeats = c.opt.Repeats
	} else if slices.ContainsFunc(cell.Scenario.Holes(), func(h *dsl.Hole) bool { return h.Field == "scenarios."+scenario.Name+".repeats" }) {
		cell.Repeats = 0
	}
	cell.LeftOut = c.leftOut(cell)
	return cell
}

// extend declares what only this cell's expressions know.
func (c *compilation) extend(base *verdict.Compiler, cell *Cell) *verdict.Compiler {
	var names []verdict.Name
	for _, n := range cell.known.names() {
		if strings.HasPrefix(n, "with.") || strings.HasPrefix(n, "vars.") {
			v, _ := cell.known.value(n)
			names = append(names, verdict.Name{Name: n, In: verdict.InCell, Value: v})
		}
	}
	out, err := base.Extend(names, nil)
	if err != nil {
		c.list.Addf(cell.Scenario.Pos(), "%v", err)
		return base
	}
	return out
}

func (c *compilation) leftOut(cell *Cell) string {
	if w := cell.Scenario.Val.When; w.IsSet() {
		x := cell.eval.compile(w.Text, w.When)
		if x.prog == nil {
			return "" // reported with the other expressions
		}
		r := x.prog.Eval(context.Background(), verdict.Values{Names: cell.known.plain(), At: verdictCoord(cell.Coord)})
		if r.Err != nil {
			c.list.Addf(w.Pos(1, 0), "%v", r.Err).Hint = "`when` reads params and coordinates"
		} else if r.Value != true {
			return fmt.Sprintf("when %s is false", w.Text)
		}
	}
	if len(c.opt.Only) > 0 && !slices.ContainsFunc(c.opt.Only, func(p string) bool { return selects(p, cell.Coord) }) {
		return "left out by --only"
	}
	if slices.ContainsFunc(c.opt.Skip, func(p string) bool { return selects(p, cell.Coord) }) {
		return "left out by --skip"
	}
	return ""
}

// mergeKnobs lays the scenario's knobs over the target's. A knob that the target does not have makes it unsupported.
func mergeKnobs(target dsl.Part[dsl.Target], scenario dsl.Part[dsl.Scenario]) (dsl.Map[dsl.Knob], string) {
	out, why := slices.Clone(target.Val.With), ""
	for _, k := range scenario.Val.With {
		i := slices.IndexFunc(out, func(e dsl.Entry[dsl.Knob]) bool { return e.Name == k.Name })
		if i < 0 {
			why = cmp.Or(why, fmt.Sprintf("the scenario sets the knob %s, which %s does not have", k.Name, target.Name))
			continue
		}
		out[i].Val = k.Val
	}
	return out, why
}

func mergeLimits(a, b dsl.Map[dsl.Limits]) dsl.Map[dsl.Limits] {
	out := slices.Clone(a)
	for _, l := range b {
		if i := slices.IndexFunc(out, func(e dsl.Entry[dsl.Limits]) bool { return e.Name == l.Name }); i >= 0 {
			out[i] = l
		} else {
			out = append(out, l)
		}
	}
	return out
}
