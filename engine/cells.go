package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

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
				if n := product(scenario.Val.Matrix); n > mostCells || len(c.Cells) > mostCells {
					c.list.Addf(scenario.PosOf("matrix"), "the plan has more than %d cells", mostCells).Hint = "give the matrix fewer values, or split the plan"
					continue
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
	cell.Adjusts = adjusts(&cell.Scenario.Val)
	cell.Target, l = target.Bind(fill)
	c.add(l)
	// A var or knob that was an expression has its value now.
	for _, v := range cell.Scenario.Val.Vars {
		cell.known["vars."+v.Name] = v.Val
	}
	cell.Repeats = cell.Scenario.Val.Repeats
	if slices.ContainsFunc(cell.Scenario.Holes(), func(h *dsl.Hole) bool { return h.Field == "scenarios."+scenario.Name+".repeats" }) {
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
	var functions []verdict.Function
	if cell.declared != nil {
		functions = planFunctions(cell.declared.ports(), append(cell.declared.endpoints(), cell.Target.Val.Endpoints.Names()...), cell.declared.running())
	}
	out, err := base.Extend(names, functions)
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
	// The patterns of Only and Skip are those of the plan with those of the command line, which leaves out further cells.
	selects := func(p string) bool { return Selects(p, cell.Coord) }
	own := func(p dsl.Pattern) bool { return selects(p.Text) }
	only, skip := c.Plan.Chosen("only"), c.Plan.Chosen("skip")
	switch {
	case len(only) > 0 && !slices.ContainsFunc(only, own):
		return "left out by the plan's only"
	case len(c.Plan.Only) > 0 && !slices.ContainsFunc(c.Plan.Only, selects):
		return "left out by --only"
	case slices.ContainsFunc(skip, own):
		return "left out by the plan's skip"
	case slices.ContainsFunc(c.Plan.Skip, selects):
		return "left out by --skip"
	}
	return ""
}

// checkAxisValues finds values of axes in only and skip that no cell has: they would choose nothing without a word.
func (c *compilation) checkAxisValues() {
	axes, values := map[string]bool{}, []string{}
	for _, cell := range c.Cells {
		for _, a := range cell.Coord.Matrix {
			axes[a.Name] = true
			values = append(values, a.Name+"="+a.Value)
		}
	}
	for _, key := range []string{"only", "skip"} {
		for _, p := range c.Plan.Chosen(key) {
			for part := range strings.SplitSeq(p.Text, "/") {
				if axis, _, is := strings.Cut(part, "="); is && axes[axis] && !slices.Contains(values, part) {
					x := c.list.Addf(p.Pos, "%s: no cell has %s", key, part)
					x.Hint, x.End = dsl.Suggest(part, slices.Compact(slices.Sorted(slices.Values(values))), "there are"), p.End
				}
			}
		}
	}
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

// mostCells bounds a plan: each cell takes at least a second to run.
const mostCells = 10_000

// product is how many combinations a matrix has, or more than mostCells.
func product(matrix dsl.Map[[]dsl.Value]) int {
	n := 1
	for _, axis := range matrix {
		if n *= len(axis.Val); n > mostCells {
			return n
		}
	}
	return n
}
