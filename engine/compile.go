package engine

import (
	"context"
	"os"
	"slices"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/machine"
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

	backends    dsl.Parts[dsl.Backend] // bound with what the plan knows
	relays      dsl.Parts[dsl.Relay]
	params      map[string]*param
	order       []*param // as they depend on one another
	planned     known    // what is known before anything runs
	boot        *verdict.Compiler
	compiler    *verdict.Compiler
	schema      *verdict.Schema
	eval        *evaluator // of the plan, with everything declared
	verdicts    []verdict.Definition
	custom      []*verdict.Custom
	customDescs []series.Desc
	always      []dsl.Kind // probes that every run has
	readFile    func(path string) ([]byte, error)
	secrets     secrets
	tryOffer    func(feature string) machine.Offer
	offers      map[string]machine.Offer // that were tried out
}

// A Stage is an entry of the schedule.
type Stage struct {
	Name      string
	Part      dsl.Part[dsl.Stage]
	Scenarios []string
	Targets   []string
	Cells     []*Cell
	Rounds    int // 0 if it is known only when the stage begins
}

// Options of Compile.
type Options struct {
	Env      func(name string) (string, bool)   // nil: os.LookupEnv
	Always   []dsl.Kind                         // kinds of probes that every run has
	ReadFile func(path string) ([]byte, error)  // of the plan's files; nil: os.ReadFile
	Files    int                                // open files that a process may have; 0: this process's hard limit
	Offered  func(feature string) machine.Offer // tries out a feature of the machine, as task names it; nil: here
	Stored   bool                               // the plan is that of a result set: earlier sets that it names may be gone
}

// Compile binds what is known, lists the cells and checks every expression. The program is nil if a problem is more than
// a warning.
func Compile(plan *dsl.Plan, opt Options) (*Program, diag.List) {
	c := &compilation{Program: &Program{Plan: plan, params: map[string]*param{}, planned: known{}, always: opt.Always, readFile: opt.ReadFile}, opt: opt}
	if c.readFile == nil {
		c.readFile = os.ReadFile
	}
	c.offers, c.tryOffer = map[string]machine.Offer{}, opt.Offered
	if c.tryOffer == nil {
		c.tryOffer = offered
	}
	c.run()
	if !c.list.HasErrors() {
		c.checkParams()
	}
	c.list.Sort(plan.Files)
	if c.list.HasErrors() {
		return nil, c.list
	}
	return c.Program, c.list
}

// Check finds the problems of a plan beside those that loading it found, so that all can be told in one pass. Where the
// plan has problems it is incomplete, so a line of which something was found is left alone. Should compiling such a plan
// panic, that is one more problem: those that were found must be told.
func Check(plan *dsl.Plan, found diag.List, opt Options) (more diag.List) {
	if !plan.Whole() {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			more = diag.List{}
			more.Addf(diag.Pos{File: plan.File}, "the rest of the plan could not be checked, by a mistake in planrun: %v", p).Hint = "correct the other problems, and report this one with the plan"
		}
	}()
	_, all := Compile(plan, opt)
	said := map[diag.Pos]bool{}
	for _, p := range found {
		if !p.Warning {
			said[diag.Pos{File: p.Pos.File, Line: p.Pos.Line}] = true
		}
	}
	for _, p := range all {
		if !said[diag.Pos{File: p.Pos.File, Line: p.Pos.Line}] {
			more = append(more, p)
		}
	}
	return more
}

type compilation struct {
	figures, seriesNames map[string]bool // of any cell
	values               []string        // names that exec actions set
	*Program
	opt     Options
	list    diag.List
	bound   map[string]dsl.Part[dsl.Scenario] // bound with what the plan knows
	targets map[string]dsl.Part[dsl.Target]
}

func (c *compilation) run() {
	// Extend cannot fail here: names of the plan are identifiers and declared once.
	boot, err := verdict.NewCompiler(&verdict.Schema{Targets: c.targetNames(), Names: c.planNames(), Functions: planFunctions(nil, nil, nil)})
	if err != nil {
		c.list.Addf(diag.Pos{File: c.Plan.File}, "%v", err)
		return
	}
	c.boot = boot
	c.hostAndParams()
	c.bindParts()
	c.checkServers()
	c.stages()
	c.withAxes()
	c.cells()
	c.checkAxisValues()
	c.outsidePhases("setup", c.Plan.Setup)
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
	c.targets, c.bound = map[string]dsl.Part[dsl.Target]{}, map[string]dsl.Part[dsl.Scenario]{}
	for i := range c.Plan.Backends {
		p, l := c.Plan.Backends[i].Bind(c.planFill())
		c.add(l)
		c.backends = append(c.backends, p)
		if err := originSettings(p.Val.With, nil); err != nil && len(p.Val.Command) == 0 {
			c.list.Addf(p.PosOf("with"), "%v", err)
		}
		if p.Val.Builtin != "origin" {
			c.list.Addf(p.PosOf("builtin"), "the builtin %q is no backend", p.Val.Builtin).Hint = "use origin, or command"
		}
	}
	for i := range c.Plan.Relays {
		p, l := c.Plan.Relays[i].Bind(c.planFill())
		c.add(l)
		c.relays = append(c.relays, p)
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
	s := &verdict.Schema{Targets: c.targetNames(), Names: c.planNames(), Functions: planFunctions(nil, nil, nil), Scenarios: map[string]*verdict.Scenario{}}
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
