package verdict

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// The address functions are methods of a cell; the rewrite gives a call without a receiver the current cell.
var cellFunctions = []function{
	{Doc{"stage", "results", `stage("x")`, "The same cell in another stage. A stage is implied where exactly one runs the scenario.", `stage("fixed").p99_ms`, "4"}, moves("stage", text, place.stage)},
	{Doc{"scenario", "results", `scenario("x")`, "The same target and axes in another scenario.", `scenario("churn").changes`, "7"},
		[]cel.EnvOption{method("scenario", []*cel.Type{cellT, text}, cellT, func(v ...ref.Val) ref.Val {
			s := v[0].(*object).v.(spot)
			s.place = s.place.scenario(s.ix, string(v[1].(types.String)))
			return s.object()
		})}},
	{Doc{"target", "results", `target("x")`, "The same cell of another target; the name is a literal or a loop variable over targets.", `targets.measured.map(t, scenario("churn").target(t).p99_ms).max()`, "4"}, toTarget()},
	{Doc{"axis", "results", `axis("name", value)`, "The same cell at another value of a matrix axis.", `scenario("faults").axis("fault", "latency").phase("fault").p50_ms`, "21"}, toAxis()},
	{Doc{"phase", "results", `phase("x")`, "The figures of one phase; .seconds is its length.", `scenario("slowloris").phase("attack").seconds`, "60"},
		append(part("phase", cellT, phaseT, func(s spot, n string) ref.Val { s.phase = n; return s.object() }),
			part("phase", loadT, loadT, func(s spot, n string) ref.Val { s.phase = n; return s.object() })...)},
	{Doc{"load", "results", `load("x")`, "The figures of one of several loads; also of a phase.", `scenario("slowloris").load("honest").p99_ms`, "6"},
		append(part("load", cellT, loadT, func(s spot, n string) ref.Val { s.load = n; return s.object() }),
			part("load", phaseT, loadT, func(s spot, n string) ref.Val { s.load = n; return s.object() })...)},
	{Doc{"series", "results", `phase("x").series("y")`, "The samples of one run; use it with each: run.", `scenario("slowloris").phase("attack").series("sut_rss_mib").size()`, "60"},
		append(part("series", cellT, seriesT, spot.series), part("series", phaseT, seriesT, spot.series)...)},
	{Doc{"events", "results", `events("kind")`, "What happened, in order: .at (seconds since the run began), .process, .detail. An empty list means that nothing happened.", `events("exit").exists(e, e.at > 5)`, "true"},
		append(part("events", cellT, eventsT, spot.events), part("events", phaseT, eventsT, spot.events)...)},
	{Doc{"replicas", "results", `replicas("process")`, "The processes of one name: a field is the list of their values, and macros go through them.", `cv(target("nginx").scenario("fleet").axis("pods", 6).replicas("pod").cpu_cores_mean) > 2`, "true"},
		part("replicas", cellT, replicasT, spot.replicas)},
	{Doc{"by", "results", `by("x")`, "Answers that the value x of the header that a load counts by gave; 0 for one that gave none.", `scenario("slowloris").by("web-1")`, "30"},
		slices.Concat(part("by", cellT, num, spot.answeredBy), part("by", phaseT, num, spot.answeredBy), part("by", loadT, num, spot.answeredBy))},
	{Doc{"runs", "results", "runs.metric", "The values of all runs of the cell, as a list.", `runs.req_per_s.size()`, "3"}, nil},
}

// addressers are the functions that the rewrite turns into methods of the current cell.
var addressers = map[string]bool{"stage": true, "scenario": true, "target": true, "axis": true, "phase": true, "load": true, "series": true, "events": true, "replicas": true, "by": true}

func moves(name string, arg *cel.Type, to func(place, string) place) []cel.EnvOption {
	return []cel.EnvOption{method(name, []*cel.Type{cellT, arg}, cellT, func(v ...ref.Val) ref.Val {
		s := v[0].(*object).v.(spot)
		s.place = to(s.place, string(v[1].(types.String)))
		return s.object()
	})}
}

func toTarget() []cel.EnvOption {
	loop := method("target", []*cel.Type{cellT, targetT}, cellT, func(v ...ref.Val) ref.Val {
		s := v[0].(*object).v.(spot)
		s.place = s.place.target(v[1].(*object).v.(string), true)
		return s.object()
	})
	return append(moves("target", text, func(p place, t string) place { return p.target(t, false) }), loop)
}

func toAxis() (opts []cel.EnvOption) {
	for _, t := range []*cel.Type{text, num, boolean} {
		opts = append(opts, method("axis", []*cel.Type{cellT, text, t}, cellT, func(v ...ref.Val) ref.Val {
			s := v[0].(*object).v.(spot)
			value, _ := fromCEL(v[2])
			s.place = s.place.axis(string(v[1].(types.String)), valueText(value))
			return s.object()
		}))
	}
	return opts
}

// part declares a method that goes from an address to a part of it.
func part(name string, of, ret *cel.Type, to func(spot, string) ref.Val) []cel.EnvOption {
	return []cel.EnvOption{method(name, []*cel.Type{of, text}, ret, func(v ...ref.Val) ref.Val {
		return to(v[0].(*object).v.(spot), string(v[1].(types.String)))
	})}
}
