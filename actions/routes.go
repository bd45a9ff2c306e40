package actions

import (
	"context"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

const routesDoc = " The target is told by its routes-changed, and asked until it serves the change, which is the metric route_propagation_ms. The end of the run undoes it."

var (
	addRouteKind    = kind("add-route", "Add a route: a host and a path that lead to a backend."+routesDoc, func() *addRoute { return &addRoute{} })
	removeRouteKind = kind("remove-route", "Remove a route."+routesDoc, func() *removeRoute { return &removeRoute{} })
	toggleRouteKind = kind("toggle-route", "Add a route if it is not there, else remove it: with every, it comes and goes."+routesDoc, func() *toggleRoute { return &toggleRoute{} })
)

type route struct {
	Host     string       `yaml:"host" required:"true" doc:"the host"`
	Path     string       `yaml:"path" default:"/" doc:"the path; what begins with it is meant"`
	Backends string       `yaml:"backends" required:"true" ref:"backends" doc:"the backend that it leads to"`
	Within   dsl.Duration `yaml:"within" default:"10s" min:"10ms" doc:"how long the target has to serve the change; after that the run goes on, and is inconclusive"`
}

type (
	addRoute    struct{ route }
	toggleRoute struct{ route }
)

type removeRoute struct {
	Host   string       `yaml:"host" required:"true" doc:"the host"`
	Path   string       `yaml:"path" default:"/" doc:"the path"`
	Within dsl.Duration `yaml:"within" default:"10s" min:"10ms" doc:"how long the target has to serve the change; after that the run goes on, and is inconclusive"`
}

// Check finds what the types do not.
func (r *route) Check(c *dsl.Check) { checkRoute(c, r.Host, r.Path) }

// Check finds what the types do not.
func (r *removeRoute) Check(c *dsl.Check) { checkRoute(c, r.Host, r.Path) }

func checkRoute(c *dsl.Check, host, path string) {
	if c.Known("host") && (host == "" || strings.ContainsAny(host, "/: ")) {
		c.Errorf("host", "%q is no host", host).Hint = "write a name such as bench.local, without scheme, port and path"
	}
	if c.Known("path") && !strings.HasPrefix(path, "/") {
		c.Errorf("path", "a path begins with /, have %q", path).Hint = "write /" + path
	}
}

// churns is what an action that changes backends or routes declares.
func churns(backend string) task.Declaration {
	return task.Declaration{
		Uses: []task.Use{{Kind: "backend", Name: backend, Field: "backends"}},
		Metrics: []series.Desc{{Name: task.PropagationMetric, Unit: "ms", Better: series.Lower, Across: series.Median, Class: series.Timing, Apart: true,
			Doc: "from the beginning of telling the target of a change of backends or routes until it served the change, known to about 5 ms; of the slowest change of the run"}},
	}
}

// Declares which backend it uses, and the metric.
func (r *route) Declares() task.Declaration { return churns(r.Backends) }

// Declares the metric.
func (r *removeRoute) Declares() task.Declaration { return churns("") }

// RoutedHost is a host that the target is to serve.
func (r *route) RoutedHost() string { return r.Host }

// Routes is the route that it changes.
func (r *route) Routes() (host, path string) { return r.Host, r.Path }

// Removes is the route that it takes away.
func (r *removeRoute) Removes() (host, path string) { return r.Host, r.Path }

// DefaultName is its name in the timeline.
func (r *addRoute) DefaultName() string { return routeName(task.RouteAdd, r.Host, r.Path) }

// DefaultName is its name in the timeline.
func (r *toggleRoute) DefaultName() string { return routeName(task.RouteToggle, r.Host, r.Path) }

// DefaultName is its name in the timeline.
func (r *removeRoute) DefaultName() string { return routeName(task.RouteRemove, r.Host, r.Path) }

func routeName(do, host, path string) string {
	if host == "" { // an expression that is not known yet
		return ""
	}
	return do + " " + host + path
}

func (r *addRoute) Run(ctx context.Context, env *task.Env) error {
	return env.Backends.Route(ctx, r.routing(task.RouteAdd))
}

func (r *toggleRoute) Run(ctx context.Context, env *task.Env) error {
	return env.Backends.Route(ctx, r.routing(task.RouteToggle))
}

func (r *route) routing(do string) task.Routing {
	return task.Routing{Do: do, Host: r.Host, Path: r.Path, Backend: r.Backends, Within: r.Within}
}

func (r *removeRoute) Run(ctx context.Context, env *task.Env) error {
	return env.Backends.Route(ctx, task.Routing{Do: task.RouteRemove, Host: r.Host, Path: r.Path, Within: r.Within})
}
