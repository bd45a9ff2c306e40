package engine

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/verdict"
)

// neededBy lists the params that the expressions of a stage's cells read, with those that these read.
func (p *Program) neededBy(st *Stage) map[string]bool {
	out := map[string]bool{}
	var need func(text string)
	need = func(text string) {
		for _, name := range p.paramsIn(text) {
			q := p.params[name]
			if q == nil || out[name] {
				continue
			}
			out[name] = true
			for _, h := range q.part.Holes() {
				need(h.Text)
			}
		}
	}
	holes := func(hs []*dsl.Hole, es []dsl.Expr) {
		for _, h := range hs {
			need(h.Text)
		}
		for _, e := range es {
			need(e.Text)
		}
	}
	holes(st.Part.Holes(), st.Part.Exprs())
	for _, c := range st.Cells {
		if c.LeftOut == "" {
			holes(c.Scenario.Holes(), c.Scenario.Exprs())
			holes(c.Target.Holes(), c.Target.Exprs())
		}
	}
	for i := range p.backends {
		holes(p.backends[i].Holes(), nil)
	}
	for i := range p.Plan.Probes {
		holes(p.Plan.Probes[i].Holes(), nil)
	}
	return out
}

// stagesLeftOut finds params that need results of cells that --only or --skip left out, before anything is done.
func (s *session) stagesLeftOut() diag.List {
	var list diag.List
	ran := map[string]bool{}
	for _, st := range s.p.Stages {
		included := slices.ContainsFunc(st.Cells, func(c *Cell) bool { return c.LeftOut == "" })
		if included {
			needed := s.p.neededBy(st)
			for _, p := range s.p.order {
				if p.time != verdict.AtStage || !needed[p.name] {
					continue
				}
				for _, h := range p.part.Holes() {
					x := s.p.eval.compile(h.Text, dsl.TimeStage)
					if x.prog == nil {
						continue
					}
					for _, stage := range x.prog.Needs().Stages { // implied ones too: scenario("x") is of the one stage that runs it
						if !ran[stage] {
							list.Addf(h.Pos(1, 0), "stage %q needs params.%s, which needs the results of stage %q, which is left out", st.Name, p.name, stage).Hint = fmt.Sprintf("run that stage too, or use --set %s=VALUE", p.name)
						}
					}
				}
			}
		}
		ran[st.Name] = included
	}
	return list
}
