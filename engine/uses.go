package engine

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/dsl"
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
