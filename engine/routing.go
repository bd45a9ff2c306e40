package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/task"
)

// A route leads what is asked of a host below a path to a backend.
type route struct{ host, path, backend string }

// routes are those that the plan's backends have, in its order.
func (p *Program) routes() (out []route) {
	for _, b := range p.backends {
		for _, r := range b.Val.Routes {
			for _, path := range r.Val {
				out = append(out, route{r.Name, path, b.Name})
			}
		}
	}
	return out
}

// byHost puts routes as templates have them: hosts in their order, and of each the longest path first, so that it is not
// hidden by a shorter one where a target takes the first that fits.
func byHost(routes []route) (out []task.Route) {
	for _, r := range routes {
		i := slices.IndexFunc(out, func(x task.Route) bool { return x.Host == r.host })
		if i < 0 {
			out = append(out, task.Route{Host: r.host})
			i = len(out) - 1
		}
		out[i].Paths = append(out[i].Paths, task.RoutePath{Path: r.path, Backend: r.backend})
	}
	for _, r := range out {
		slices.SortStableFunc(r.Paths, func(a, b task.RoutePath) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	}
	return out
}

// changed gives the routes with a change of one of them; the same ones if it is so already.
func changed(routes []route, c task.Routing) (out []route, what string, nothing bool) {
	i := slices.IndexFunc(routes, func(r route) bool { return r.host == c.Host && r.path == c.Path })
	name := c.Host + c.Path
	remove := c.Do == task.RouteRemove || c.Do == task.RouteToggle && i >= 0
	switch {
	case remove && i < 0:
		return routes, "remove the route " + name, true
	case remove:
		return slices.Delete(slices.Clone(routes), i, i+1), "remove the route " + name, false
	}
	what = fmt.Sprintf("add the route %s to %s", name, c.Backend)
	add := route{c.Host, c.Path, c.Backend}
	switch {
	case i < 0:
		return append(slices.Clone(routes), add), what, false
	case routes[i] == add:
		return routes, what, true
	}
	out = slices.Clone(routes)
	out[i] = add
	return out, what, false
}
