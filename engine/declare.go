package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/verdict"
)

// declare makes the schema: which names and figures each scenario has, for each target.
func (c *compilation) declare() {
	sought := map[string]bool{} // installations whose programs were looked for
	for _, cell := range c.Cells {
		cell.declared = c.declaration(cell)
		c.values = append(c.values, cell.declared.values...)
		if cell.Unsupported == "" {
			c.checkCell(cell, sought)
		}
	}
	slices.Sort(c.values)
	c.values = slices.Compact(c.values)
	s := &verdict.Schema{Targets: c.targetNames(), Scenarios: c.declaredScenarios()}
	c.declareFigures(s)
	c.declareAnswers(s)
	c.declareUnsupported(s)
	for _, st := range c.Stages {
		s.Stages = append(s.Stages, verdict.Stage{Name: st.Name, Scenarios: c.existing(st.Scenarios), Targets: st.Targets, Rounds: st.Rounds, Without: st.Part.Val.Probes.Without})
	}
	s.Names = c.planNames()
	c.schema = s
	c.compileAll()
}

// checkCell checks what a cell is declared to do.
func (c *compilation) checkCell(cell *Cell, sought map[string]bool) {
	c.uses(cell, cell.declared)
	c.checkActions(cell)
	c.checkProcesses(cell, cell.declared)
	c.checkChurn(cell)
	if key := cell.installKey(); !sought[key] { // once for each installation, however many cells it has
		sought[key] = true
		c.checkPrograms(cell)
	}
	c.checkAddresses(cell)
	c.checkToxics(cell)
	c.checkDescriptors(cell)
	c.checkCrossChecks(cell)
	if !c.opt.Stored { // nothing is run, so it does not matter what this machine offers
		c.checkOffers(cell)
	}
}

// declaredScenarios are the scenarios with their axes, events and phases.
func (c *compilation) declaredScenarios() map[string]*verdict.Scenario {
	out := map[string]*verdict.Scenario{}
	for name, sc := range c.bound {
		out[name] = &verdict.Scenario{Axes: axesOf(sc)}
		if !c.Plan.IsPublished() {
			out[name].Events = measure.EventKinds
		}
		for _, p := range sc.Val.Phases {
			out[name].Phases = append(out[name].Phases, p.Val.Name)
		}
	}
	return out
}

// declareAnswers says of which loads answers are counted by who gave them; "" are those of the headline together.
func (c *compilation) declareAnswers(s *verdict.Schema) {
	for _, cell := range c.Cells {
		sc := s.Scenarios[cell.Coord.Scenario]
		for _, l := range cell.declared.loads {
			if l.counts {
				sc.Answers = append(sc.Answers, l.name)
			}
			if l.counts && l.headline {
				sc.Answers = append(sc.Answers, "")
			}
		}
	}
}

// declareUnsupported says which scenarios a target cannot do, and why: of several cells the last one says it. What the target
// itself says goes before.
func (c *compilation) declareUnsupported(s *verdict.Schema) {
	unsupported := map[string]map[string]string{}
	for _, cell := range c.Cells {
		if cell.Unsupported != "" {
			if unsupported[cell.Coord.Target] == nil {
				unsupported[cell.Coord.Target] = map[string]string{}
			}
			unsupported[cell.Coord.Target][cell.Coord.Scenario] = cell.Unsupported
		}
	}
	for i := range s.Targets {
		for sc, why := range unsupported[s.Targets[i].Name] {
			s.Targets[i].Unsupported[sc] = cmp.Or(s.Targets[i].Unsupported[sc], why)
		}
	}
}

// declareFigures says which figures the runs of each scenario have: those of every target are the scenario's, the others
// belong to the targets. Cells that bring the same share what is made of it.
func (c *compilation) declareFigures(s *verdict.Schema) {
	kinds := map[string]*produced{}
	by := map[string]map[string]*produced{} // scenario -> target
	for _, cell := range c.Cells {
		name, target := cell.Coord.Scenario, cell.Coord.Target
		if by[name] == nil {
			by[name] = map[string]*produced{}
		}
		if by[name][target] == nil {
			by[name][target] = c.produced(cell, kinds)
		}
	}
	own := map[string]map[string][]verdict.Metric{} // target -> scenario
	for name, targets := range by {
		for target, metrics := range shareFigures(s.Scenarios[name], targets) {
			if own[target] == nil {
				own[target] = map[string][]verdict.Metric{}
			}
			own[target][name] = metrics
		}
	}
	for i := range s.Targets {
		s.Targets[i].Metrics = own[s.Targets[i].Name]
	}
	c.figures, c.seriesNames = map[string]bool{}, map[string]bool{}
	for _, p := range kinds {
		for _, m := range p.run {
			c.figures[m.Name] = true
		}
		for _, m := range p.series {
			c.seriesNames[m.Name] = true
		}
	}
}

// shareFigures gives a scenario the metrics that all its targets have, and returns those that each has beside them. Loads,
// replicas and series of any target are the scenario's.
func shareFigures(sc *verdict.Scenario, targets map[string]*produced) (own map[string][]verdict.Metric) {
	all := slices.Collect(maps.Values(targets))
	sc.Loads, sc.Replicas, sc.Series = all[0].loads, all[0].replicas, all[0].series
	same := true
	for _, p := range all[1:] {
		if p != all[0] {
			same = false
			sc.Loads, sc.Replicas, sc.Series = union(sc.Loads, p.loads), union(sc.Replicas, p.replicas), join(sc.Series, p.series)
		}
	}
	if same {
		sc.Metrics = all[0].run
		return nil
	}
	have := map[string]int{}
	for _, p := range all {
		for _, m := range p.run {
			have[m.Name]++
		}
	}
	common := func(m verdict.Metric) bool { return have[m.Name] == len(all) }
	sc.Metrics = slices.DeleteFunc(slices.Clone(all[0].run), func(m verdict.Metric) bool { return !common(m) })
	own = map[string][]verdict.Metric{}
	for target, p := range targets {
		own[target] = slices.DeleteFunc(slices.Clone(p.run), common)
	}
	return own
}

func union(a, b map[string][]verdict.Metric) map[string][]verdict.Metric {
	out := maps.Clone(a)
	for k, v := range b {
		out[k] = join(out[k], v)
	}
	return out
}

// join is a with those of b that a has not.
func join(a, b []verdict.Metric) []verdict.Metric {
	have := map[string]bool{}
	for _, m := range a {
		have[m.Name] = true
	}
	out := slices.Clone(a)
	for _, m := range b {
		if !have[m.Name] {
			out = append(out, m)
		}
	}
	return out
}
