package engine

import (
	"slices"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/record"
)

// checkChurn finds changes of backends and routes that cannot be made, or of which nobody would tell the target.
func (c *compilation) checkChurn(cell *Cell) {
	told := len(cell.Target.Val.RoutesChanged) > 0 || slices.ContainsFunc(cell.Target.Val.Install, follows)
	for _, p := range cell.Scenario.Val.Phases {
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) {
			if !record.Churns(a.Val.Kind) {
				return
			}
			c.checkScale(cell, a)
			c.checkOver(&p, a)
			c.checkRemoved(cell, a)
			if told {
				return
			}
			told = true // said once
			c.list.Addf(a.Pos(), "target %q does not say how it learns of changed backends and routes, which scenario %q changes", cell.Coord.Target, cell.Coord.Scenario).Hint =
				"add routes-changed to it, or unsupported: {" + cell.Coord.Scenario + ": the reason}"
		})
	}
}

// follows reports whether planrun itself tells what an action starts.
func follows(a dsl.Part[dsl.Action]) bool {
	f, ok := a.Val.Spec.(interface{ FollowsChanges() bool })
	return ok && f.FollowsChanges()
}

// checkScale finds backends whose replicas are not planrun's to change.
func (c *compilation) checkScale(cell *Cell, a *dsl.Part[dsl.Action]) {
	s, ok := a.Val.Spec.(interface{ Scales() string })
	if !ok {
		return
	}
	b := c.backends.Get(s.Scales())
	if b == nil {
		return
	}
	if len(b.Val.Address) > 0 {
		c.list.Addf(a.Pos(), "the backend %s runs already somewhere: planrun cannot scale it", b.Name).Hint = "leave out its address, so that planrun starts it"
	}
	for _, name := range cell.Relays {
		if r := c.relays.Get(name); r != nil && r.Val.Of == b.Name {
			c.list.Addf(a.Pos(), "the relay %s stands in front of the replicas that %s has at first, so that it cannot be scaled in scenario %q", name, b.Name, cell.Coord.Scenario).Hint = "leave the relay out of this scenario"
		}
	}
}

// manyReplicas is from where on replicas of a backend, each a process, are worth a warning.
const manyReplicas = 64

// checkOver finds changes that would go on after their phase, and warns of those that start many processes.
func (c *compilation) checkOver(p *dsl.Part[dsl.Phase], a *dsl.Part[dsl.Action]) {
	s, ok := a.Val.Spec.(interface {
		Size() (to int, over time.Duration)
	})
	if !ok {
		return
	}
	to, over := s.Size()
	if at := a.Val.At.In(p.Val.For); p.Val.For > 0 && at < p.Val.For && at+over > p.Val.For {
		c.list.Addf(a.Pos(), "it begins at %v and goes on over %v, but its phase %s ends after %v", at, over, p.Val.Name, p.Val.For).Hint =
			"write a shorter over, or give the phase more time"
	}
	if to > manyReplicas {
		w := c.list.Addf(a.Pos(), "%d replicas are %d processes on this machine, all of which start before the target is told", to, to)
		w.Warning, w.Hint = true, "what is not ready when the phase ends is not made, and the run is inconclusive"
	}
}

// checkRemoved finds routes that are taken away and never were.
func (c *compilation) checkRemoved(cell *Cell, a *dsl.Part[dsl.Action]) {
	r, ok := a.Val.Spec.(interface{ Removes() (host, path string) })
	if !ok || len(a.Holes()) > 0 {
		return
	}
	host, path := r.Removes()
	known := c.routes()
	for _, p := range cell.Scenario.Val.Phases {
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) {
			if r, ok := a.Val.Spec.(interface{ Routes() (host, path string) }); ok {
				host, path := r.Routes()
				known = append(known, route{host: host, path: path})
			}
		})
	}
	var names []string
	for _, k := range known {
		if k.host == "" || k.host == host && k.path == path { // "" is not known yet
			return
		}
		names = append(names, k.host+k.path)
	}
	c.list.Addf(a.Pos(), "there is no route %s%s to be removed", host, path).Hint = didYouMean(host+path, names)
}
