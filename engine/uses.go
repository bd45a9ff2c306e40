package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/task"
)

// uses checks the names that actions refer to.
func (c *compilation) uses(cell *Cell, d *declared) {
	check := func(actions []dsl.Part[dsl.Action]) {
		walkActions(actions, func(a *dsl.Part[dsl.Action]) {
			s, ok := a.Val.Spec.(task.Declarer)
			if !ok {
				return
			}
			for _, u := range s.Declares().Uses {
				if u.Name == "" {
					continue
				}
				var names []string
				switch u.Kind {
				case "process":
					for _, p := range d.processes {
						names = append(names, p.Name)
					}
				case "endpoint":
					names = append(d.endpoints(), cell.Target.Val.Endpoints.Names()...)
				case "relay":
					names = cell.Relays
				case "backend":
					names = c.Plan.Backends.Names()
				case "address":
					names = c.Plan.Backends.Names()
					for _, p := range d.processes {
						names = append(names, p.Name)
					}
				default:
					continue
				}
				if !slices.Contains(names, u.Name) {
					p := c.list.Addf(a.PosOf(a.Val.Kind, u.Field), "%s", unknownUse(u, cell))
					p.Hint = didYouMean(u.Name, names)
				}
			}
		})
	}
	check(cell.Target.Val.Install)
	check(cell.Target.Val.RoutesChanged)
	for _, p := range cell.Scenario.Val.Phases {
		check(p.Val.Do)
	}
}

func unknownUse(u task.Use, cell *Cell) string {
	switch u.Kind {
	case "endpoint":
		return fmt.Sprintf("target %q has no endpoint %q", cell.Coord.Target, u.Name)
	case "relay":
		return fmt.Sprintf("the relay %q is not in the path of scenario %q; add it to the scenario's relays", u.Name, cell.Coord.Scenario)
	}
	return fmt.Sprintf("unknown %s %q", u.Kind, u.Name)
}

// checkRoles finds limits of roles that no process has.
func (c *compilation) checkRoles() {
	roles := []string{"sut", "backends", "load", "relays"}
	for _, cell := range c.Cells {
		for _, p := range cell.declared.processes {
			roles = append(roles, p.Role)
		}
	}
	check := func(limits dsl.Map[dsl.Limits], pos func(...string) diag.Pos) {
		for _, l := range limits {
			if !slices.Contains(roles, l.Name) {
				c.list.Addf(pos("limits", l.Name), "no process has the role %q", l.Name).Hint = didYouMean(l.Name, roles)
			}
		}
	}
	for i := range c.Plan.Targets {
		check(c.Plan.Targets[i].Val.Limits, c.Plan.Targets[i].PosOf)
	}
	for i := range c.Plan.Scenarios {
		check(c.Plan.Scenarios[i].Val.Limits, c.Plan.Scenarios[i].PosOf)
	}
}

// checkWithout finds names of probes that a stage leaves out, but that there are none of.
func (c *compilation) checkWithout() {
	names := []string{"all"}
	for _, k := range c.always {
		names = append(names, k.Name)
	}
	for _, p := range c.Plan.Probes {
		names = append(names, cmp.Or(p.Val.Name, p.Val.Kind))
	}
	for _, st := range c.Stages {
		for _, n := range st.Part.Val.Probes.Without {
			if !slices.Contains(names, n) {
				c.list.Addf(st.Part.PosOf("probes", "without"), "no probe is called %q", n).Hint = didYouMean(n, names)
			}
		}
	}
}
