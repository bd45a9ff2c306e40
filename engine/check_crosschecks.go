package engine

import (
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/crosscheck"
)

// checkCrossChecks warns of other load generators that are not on this machine, and of those that cannot do what a load
// does. The load runs all the same, and its report says so too.
func (c *compilation) checkCrossChecks(cell *Cell) {
	for _, p := range cell.Scenario.Val.Phases {
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) {
			x, ok := a.Val.Spec.(crossChecked)
			if !ok {
				return
			}
			names, spec := x.CrossChecks()
			for _, name := range names {
				g := crosscheck.Find(name)
				if g == nil {
					continue // its decoder has said so
				}
				msg, hint := "", ""
				if why := g.Cannot(spec); why != "" {
					able := slices.DeleteFunc(crosscheck.Names(), func(n string) bool { return crosscheck.Find(n).Cannot(spec) != "" })
					msg, hint = name+" "+why+", so it is not held against this load", "leave it out; these can: "+strings.Join(able, ", ")
					if len(able) == 0 {
						hint = "leave it out; no other generator can either"
					}
				} else if _, err := exec.LookPath(name); err != nil {
					msg, hint = "there is no program "+name+" on this machine, so it is not held against this load", "install it: "+g.Install
				} else {
					continue
				}
				w := c.list.Addf(a.PosOf(a.Val.Kind, "cross-check"), "cross-check: %s", msg)
				w.Hint, w.Warning = hint, true
			}
		})
	}
}

// crossCheckTime is how long the cross-checks of an action take at most that lasts for a while; 0 is not known.
func crossCheckTime(a *dsl.Part[dsl.Action], lasts time.Duration) time.Duration {
	x, ok := a.Val.Spec.(crossChecked)
	if !ok {
		return 0
	}
	names, _ := x.CrossChecks()
	return time.Duration(len(names)) * checkLength(lasts)
}

// CheckedBy are the params, lists all, that the plan's loads read for their cross-checks: an empty one leaves these out.
func (p *Program) CheckedBy() (out []string) {
	note := func(holes []*dsl.Hole) {
		for _, h := range holes {
			if !strings.HasSuffix(h.Field, ".cross-check") {
				continue
			}
			for _, name := range p.paramsIn(h.Text) {
				if q := p.params[name]; q != nil && !slices.Contains(out, name) {
					if _, list := q.part.Val.Value.V.([]any); list {
						out = append(out, name)
					}
				}
			}
		}
	}
	for i := range p.Plan.Loads {
		note(p.Plan.Loads[i].Holes())
	}
	for i := range p.Plan.Scenarios {
		note(p.Plan.Scenarios[i].Holes())
	}
	return out
}
