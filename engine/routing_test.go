package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/task"
)

func TestChangedRoutes(t *testing.T) {
	a, b := route{"a", "/", "web"}, route{"b", "/", "web"}
	at := func(r route, backend string) route { r.backend = backend; return r }
	for _, tc := range []struct {
		name    string
		do      task.Routing
		want    []route
		what    string
		nothing bool
	}{
		{"a new host", task.Routing{Do: task.RouteAdd, Host: "c", Path: "/x", Backend: "db"}, []route{a, b, {"c", "/x", "db"}}, "add the route c/x to db", false},
		{"a path of a host", task.Routing{Do: task.RouteAdd, Host: "a", Path: "/x", Backend: "web"}, []route{a, b, {"a", "/x", "web"}}, "add the route a/x to web", false},
		{"one that is there", task.Routing{Do: task.RouteAdd, Host: "a", Path: "/", Backend: "web"}, []route{a, b}, "add the route a/ to web", true},
		{"to another backend", task.Routing{Do: task.RouteAdd, Host: "a", Path: "/", Backend: "db"}, []route{at(a, "db"), b}, "add the route a/ to db", false},
		{"away", task.Routing{Do: task.RouteRemove, Host: "a", Path: "/"}, []route{b}, "remove the route a/", false},
		{"away, and never there", task.Routing{Do: task.RouteRemove, Host: "a", Path: "/x"}, []route{a, b}, "remove the route a/x", true},
		{"it goes", task.Routing{Do: task.RouteToggle, Host: "b", Path: "/", Backend: "web"}, []route{a}, "remove the route b/", false},
		{"it comes", task.Routing{Do: task.RouteToggle, Host: "c", Path: "/", Backend: "web"}, []route{a, b, {"c", "/", "web"}}, "add the route c/ to web", false},
	} {
		before := []route{a, b}
		got, what, nothing := changed(before, tc.do)
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(route{})); diff != "" || what != tc.what || nothing != tc.nothing {
			t.Errorf("%s: %q, nothing %v\n%s", tc.name, what, nothing, diff)
		}
		if diff := cmp.Diff([]route{a, b}, before, cmp.AllowUnexported(route{})); diff != "" {
			t.Errorf("%s: the routes before are changed too:\n%s", tc.name, diff)
		}
	}
}

// A longer path stands before a shorter one, for targets that take the first that fits.
func TestRoutesByHost(t *testing.T) {
	got := byHost([]route{{"b", "/", "web"}, {"a", "/x", "db"}, {"b", "/x/y", "db"}, {"b", "/x", "web"}})
	want := []task.Route{
		{Host: "b", Paths: []task.RoutePath{{Path: "/x/y", Backend: "db"}, {Path: "/x", Backend: "web"}, {Path: "/", Backend: "web"}}},
		{Host: "a", Paths: []task.RoutePath{{Path: "/x", Backend: "db"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
