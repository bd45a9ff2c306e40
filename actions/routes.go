package actions

import (
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

const routesLater = "it comes with backend and route churn"

var (
	addRouteKind    = later("add-route", routesLater, "Add a route: a host and a path that lead to a backend, then do the target's routes-changed. The end of the run undoes it.", func() any { return &route{} })
	removeRouteKind = later("remove-route", routesLater, "Remove a route, then do the target's routes-changed. The end of the run undoes it.", func() any { return &removeRoute{} })
	toggleRouteKind = later("toggle-route", routesLater, "Add a route if it is not there, else remove it, then do the target's routes-changed. The end of the run undoes it.", func() any { return &route{} })
)

type route struct {
	Host     string `yaml:"host" required:"true" doc:"the host"`
	Path     string `yaml:"path" default:"/" doc:"the path; what begins with it is meant"`
	Backends string `yaml:"backends" required:"true" ref:"backends" doc:"the backend that it leads to"`
}

type removeRoute struct {
	Host string `yaml:"host" required:"true" doc:"the host"`
	Path string `yaml:"path" default:"/" doc:"the path"`
}

// Check finds what the types do not.
func (r *route) Check(c *dsl.Check) { checkRoutePath(c, r.Path) }

// Check finds what the types do not.
func (r *removeRoute) Check(c *dsl.Check) { checkRoutePath(c, r.Path) }

func checkRoutePath(c *dsl.Check, path string) {
	if c.Known("path") && !strings.HasPrefix(path, "/") {
		c.Errorf("path", "a path begins with /, have %q", path).Hint = "write /" + path
	}
}

// Declares which backend it uses.
func (r *route) Declares() task.Declaration {
	return task.Declaration{Uses: []task.Use{{Kind: "backend", Name: r.Backends, Field: "backends"}}}
}
