package verdict

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
)

// address checks the names in stage("x"), axis("a", "v"), phase("x") ... and gives the new address.
func (p *pass) address(e ast.Expr, in *address) *address {
	call := e.AsCall()
	what, args := call.FunctionName(), call.Args()
	p.needs.result("")
	if p.time == AtLive && (what == "stage" || what == "scenario" || what == "target" || what == "axis") {
		p.say(e.ID(), "let a param read it: a param is evaluated when a stage begins", "other cells are not known %s", p.time)
		return nil
	}
	if what == "target" && p.ast.GetType(args[0].ID()).TypeName() == "@target" { // every one of them
		return p.move(e, in, func(pl place, t string) place { return pl.target(t, true) }, p.ix.targets...)
	}
	lit := make([]string, len(args))
	for i, a := range args {
		if a.Kind() != ast.LiteralKind {
			p.say(a.ID(), "names are checked before anything runs; target(t) also takes a loop variable over targets", "%s() wants a name in quotes", what)
			return nil
		}
		lit[i] = valueText(a.AsLiteral())
	}
	if what == "by" {
		p.answers(e, in)
		return nil
	}
	known := func(i int, what string, names []string) bool {
		if slices.Contains(names, lit[i]) {
			return true
		}
		p.say(args[i].ID(), didYouMean(lit[i], names), "%s %q", what, lit[i])
		return false
	}
	switch what {
	case "stage":
		if known(0, "unknown stage", names(p.ix.stages)) {
			return p.move(e, in, place.stage, lit[0])
		}
		return nil
	case "scenario":
		if known(0, "unknown scenario", p.ix.scenarios) {
			return p.move(e, in, func(pl place, s string) place { return pl.scenario(p.ix, s) }, lit[0])
		}
		return nil
	case "target":
		if known(0, "unknown target", p.ix.targets) {
			return p.move(e, in, func(pl place, t string) place { return pl.target(t, false) }, lit[0])
		}
		return nil
	case "axis":
		if known(0, "unknown axis", names(p.ix.axes)) && known(1, "unknown value of "+lit[0], p.ix.axes[lit[0]]) {
			return p.move(e, in, func(pl place, v string) place { return pl.axis(lit[0], v) }, lit[1])
		}
		return nil
	}
	return p.part(e, in, what, lit[0], known)
}

// move replaces one coordinate of every place.
func (p *pass) move(e ast.Expr, in *address, to func(place, string) place, values ...string) *address {
	if in == nil {
		return nil
	}
	out, seen := &address{}, map[place]bool{}
	for _, v := range values {
		for _, pl := range in.places {
			if n := to(pl, v); !seen[n] {
				seen[n] = true
				out.places = append(out.places, n)
			}
		}
	}
	return out
}

// part checks phase("x"), load("x"), series("x"), events("x") and replicas("x") in every cell that may be meant.
func (p *pass) part(e ast.Expr, in *address, what, name string, known func(int, string, []string) bool) *address {
	if in == nil {
		return nil
	}
	if why := p.noCells(in); why != "" {
		p.say(e.ID(), "", "no such cell: %s", why)
		return nil
	}
	seen := map[string]bool{}
	for _, pl := range in.places {
		sc := p.ix.Scenarios[pl.Scenario]
		if sc == nil || seen[pl.Scenario] {
			continue
		}
		seen[pl.Scenario] = true
		have := map[string][]string{"phase": sc.Phases, "load": names(sc.Loads), "events": sc.Events, "replicas": names(sc.Replicas)}[what]
		for _, m := range sc.Series {
			if what == "series" {
				have = append(have, m.Name)
			}
		}
		if what == "events" && slices.Contains(sc.Events, name) {
			continue
		}
		title := map[string]string{"phase": "phase", "load": "load", "events": "events of kind", "replicas": "replicas of", "series": "series"}[what]
		if !known(0, fmt.Sprintf("scenario %q has no %s", pl.Scenario, title), have) {
			return nil
		}
	}
	out := *in
	switch what {
	case "phase":
		out.phase = name
	case "load":
		out.load = name
	case "replicas":
		out.process = name
	case "series":
		p.needs.series[name] = true
		p.needs.result(name)
	case "events":
		p.needs.result("events " + name)
	}
	return &out
}

// answers checks that what by("x") may mean counts by who answered. Who will is not known before anything runs.
func (p *pass) answers(e ast.Expr, in *address) {
	if p.time == AtLive {
		p.say(e.ID(), "judge it in a verdict", "who answered is not known %s", p.time)
		return
	}
	if in == nil {
		return
	}
	if why := p.noCells(in); why != "" {
		p.say(e.ID(), "", "no such cell: %s", why)
		return
	}
	for _, pl := range in.places {
		sc := p.ix.Scenarios[pl.Scenario]
		switch {
		case sc == nil || slices.Contains(sc.Answers, in.load):
			continue
		case in.load != "":
			p.say(e.ID(), "write by: header(NAME) in the load", "load %q of scenario %q does not count by who answered", in.load, pl.Scenario)
		default:
			p.say(e.ID(), "write by: header(NAME) in a load", "no load in the headline of scenario %q counts by who answered", pl.Scenario)
		}
		return
	}
}

// noCells says why none of the places is a cell, or why one that was named is not.
func (p *pass) noCells(in *address) string {
	for _, pl := range in.places {
		if st := pl.resolve(p.ix).Stage; st != "" && !p.isHere(pl) {
			p.needs.stages[st] = true
		}
	}
	type group struct{ stage, scenario, matrix, named string }
	bad, good := map[group]string{}, map[group]bool{}
	for _, pl := range in.places {
		c := pl.resolve(p.ix)
		g := group{c.Stage, c.Scenario, c.Matrix, ""}
		if pl.named {
			g.named = c.Target
		}
		if why := p.ix.noCell(pl); why == "" {
			good[g] = true
		} else if bad[g] == "" {
			bad[g] = why
		}
	}
	for _, g := range sortedGroups(bad, func(a, b group) bool { return fmt.Sprint(a) < fmt.Sprint(b) }) {
		if !good[g] {
			return bad[g]
		}
	}
	return ""
}

// isHere says whether a place is a cell that the expression is evaluated for.
func (p *pass) isHere(pl place) bool {
	if p.heres == nil {
		p.heres = map[Coord]bool{}
		for _, c := range p.base {
			p.heres[c] = true
		}
	}
	return p.heres[pl.resolve(p.ix)]
}

func sortedGroups[G comparable](m map[G]string, less func(a, b G) bool) (out []G) {
	for g := range m {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b G) int {
		if less(a, b) {
			return -1
		}
		return 1
	})
	return out
}

// metric checks that every scenario that the expression may read has the metric, for some target at least: where only
// this target lacks it, the verdict will be unsupported.
func (p *pass) metric(id int64, in *address, name string) {
	p.needs.result(name)
	if _, ok := p.ix.metrics[name]; !ok {
		var near []string
		for _, pl := range in.at() {
			near = append(near, p.ix.scenarioMetrics(pl.Scenario)...)
		}
		if in == nil {
			near = names(p.ix.metrics)
		}
		slices.Sort(near)
		p.say(id, didYouMean(name, slices.Compact(near)), "unknown metric %q", name)
		return
	}
	if in == nil {
		return
	}
	if why := p.noCells(in); why != "" {
		p.say(id, "", "no such cell: %s", why)
		return
	}
	for _, pl := range in.places {
		if in.load != "" {
			if _, ok := p.ix.loadMetric(pl.Coord, in.load, name); !ok {
				p.say(id, "", "load %q of scenario %q does not produce the metric %q", in.load, pl.Scenario, name)
				return
			}
		} else if len(p.ix.has[pl.Scenario][name]) == 0 {
			p.say(id, didYouMean(name, p.ix.scenarioMetrics(pl.Scenario)), "scenario %q does not produce the metric %q", pl.Scenario, name)
			return
		}
	}
}
