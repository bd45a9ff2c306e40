package dsl

import (
	"fmt"
	"slices"
	"strings"
)

func (p *Param) check(c *Check) {
	if !p.Value.IsSet() && p.Env == "" {
		c.Errorf("", "has no value").Hint = "write value, or env for an environment variable"
	}
}

func (b *Backend) check(c *Check) {
	for _, other := range []string{"builtin", "command"} {
		if c.Has("address") && c.Has(other) {
			c.Errorf(other, "it already runs at its address").Hint = "leave out address or " + other
		}
	}
	if c.Has("builtin") && c.Has("command") {
		c.Errorf("command", "builtin says already what it runs").Hint = "leave out one of them"
	}
	if c.Has("with") && c.Has("command") {
		c.Errorf("with", "these are settings of a builtin").Hint = "put them into the command, or into env"
	}
	if c.Has("address") && c.Has("replicas") {
		c.Errorf("replicas", "it already runs; each address is one").Hint = "leave it out"
	}
	for _, e := range b.Routes {
		for i, path := range e.Val {
			if !strings.HasPrefix(path, "/") {
				if n := textsOf(c.n.get("routes").get(e.Name)); i < len(n) && len(n[i].holes) == 0 {
					c.d.errorf(n[i], "%s: a path begins with /, have %q", e.Name, path).Hint = "write /" + path
				}
			}
		}
	}
}

func (t *Target) check(c *Check) {
	if c.d.l.published {
		c.d.notPublished(c.n, unpublishedTarget)
		return
	}
	if len(t.Install) == 0 && len(t.Endpoints) == 0 && !c.d.l.broken && c.Known("install") && c.Known("endpoints") {
		c.Errorf("", "nothing says where the target is").Hint = "add install (actions), or endpoints: {http: HOST:PORT} for something already running"
	}
}

func (e *Endpoint) check(c *Check) {
	if !c.Has("address") && !c.Has("object") {
		c.Errorf("", "no address").Hint = "write HOST:PORT"
	}
	if c.Has("port") && !c.Has("object") {
		c.Errorf("port", "an address has its port already").Hint = "leave it out"
	}
}

func (s *Stage) check(c *Check) {
	if c.d.l.published {
		c.d.notPublished(c.n, unpublishedStage)
	}
	if c.Has("seed") && s.Order != "random" && c.Known("order") {
		c.Errorf("seed", "only order: random uses it").Hint = "leave it out, or write order: random"
	}
	for _, key := range []string{"scenarios", "targets"} {
		var seen named
		for _, n := range textsOf(c.n.get(key)) {
			seen.add(c.d, strings.TrimSuffix(key, "s")+" in the stage", n.text, n)
		}
	}
}

func (m *Metric) check(c *Check) {
	if !m.Of.IsSet() && !c.d.l.published {
		c.Errorf("", "of is missing").Hint = "add of: its value; only a plan of published figures has metrics without"
	}
}

func (s *Scenario) check(c *Check) {
	c.figures()
	for _, axis := range s.Matrix {
		seen := map[string]bool{}
		for _, v := range axis.Val {
			key := fmt.Sprint(v.V)
			if seen[key] && v.Known() {
				c.d.errorf(v.n, "%s: the value %s stands twice", axis.Name, v.n.describe()).Hint = "each value makes a cell; remove one"
			}
			seen[key] = true
		}
		if len(axis.Val) == 0 && !c.n.get("matrix").get(axis.Name).hasHoles() {
			c.d.errorf(c.n.get("matrix").get(axis.Name), "%s: an axis without values", axis.Name).Hint = "write at least one value"
		}
	}
	var phases, actions named
	var before []string
	for i := range s.Phases {
		before = append(before, s.Phases[i].Val.Name)
		phases.add(c.d, "phase", s.Phases[i].Val.Name, s.Phases[i].nameNode())
	}
	for i := range s.Phases {
		for j := range s.Phases[i].Val.Do {
			a := &s.Phases[i].Val.Do[j]
			actions.add(c.d, "action", a.Val.Name, a.n.get("name"))
			if a.Val.Through != "" {
				c.d.through(a.n.get("through"), a.Val.Through, before, i)
			}
			c.d.outsidePhases("undo", a.Val.Undo)
		}
	}
}

// nameNode is what a phase is named by: its name, else its kind.
func (p *part) nameNode() *node {
	if n := p.body.get("name"); n != nil {
		return n
	}
	if p.n.kind == mapNode && len(p.n.fields) == 1 {
		return p.n.fields[0].key
	}
	return p.n
}

// through checks the phase with which an action of phase i ends.
func (d *decoder) through(n *node, name string, phases []string, i int) {
	switch at := slices.Index(phases, name); {
	case n == nil:
	case at < 0:
		d.errorf(n, "through: no phase is called %q", name).Hint = Suggest(name, phases, "phases")
	case at < i:
		d.errorf(n, "through: the phase %q is over before this one begins", name).Hint = "name this phase or a later one: " + list(phases[i:])
	}
}

func (p *Phase) check(c *Check) {
	if !c.Has("for") && len(p.Do) == 0 && c.Known("do") {
		c.Errorf("", "the phase does nothing").Hint = "write for: DURATION, or do: [...]"
	}
	for i := range p.Do {
		a := &p.Do[i]
		for _, key := range []string{"at", "every"} {
			if n := a.n.get(key); n != nil && !c.Has("for") {
				c.d.errorf(keyOf(a.n, key), "%s: the phase has no length, so its actions run one after another", key).Hint = "give the phase a for, or leave it out"
			}
		}
		if n := a.n.get("at"); n != nil && c.Has("for") && c.Known("for") && !n.hasHoles() && a.Val.At.In(p.For) >= p.For {
			c.d.errorf(n, "at: %s is not before the phase's end (%s)", n.text, c.n.get("for").text).Hint = "write an earlier time, or a longer for"
		}
	}
}

func (a *Action) check(c *Check) {
	if c.Has("for") && c.Has("through") {
		c.Errorf("through", "for says already how long it lasts").Hint = "leave out one of them"
	}
}

func (v *Verdict) check(c *Check) {
	switch {
	case !v.Pass.IsSet() && len(v.Cases) == 0:
		c.Errorf("", "nothing says when it passes").Hint = "write pass: EXPRESSION, or cases"
	case v.Pass.IsSet() && len(v.Cases) > 0:
		c.Errorf("cases", "pass says already when it passes").Hint = "leave out one of them"
	}
	for i := range v.Cases {
		if !v.Cases[i].When.IsSet() && i < len(v.Cases)-1 {
			if n := c.n.get("cases"); n != nil && i < len(n.items) {
				c.d.errorf(n.items[i], "cases: a case without when always holds, so those after it never do").Hint = "give it a when, or move it to the end"
			}
		}
	}
	if c.Has("gate-where") && (v.Gate == "" || v.Gate == "false") {
		c.Errorf("gate-where", "the verdict is no gate").Hint = "add gate: true or gate: fail-only"
	}
	if c.Has("mixed") && v.Each != "run" && v.Each != "round" {
		c.Errorf("mixed", "only runs and rounds can disagree").Hint = "add each: run or each: round, or leave it out"
	}
}

func (s *Section) check(c *Check) {
	kind, allowed := "", []string{}
	switch {
	case s.Section == "threads":
		kind, allowed = "section", []string{"where"}
	case c.Has("section"):
		kind = "section"
	case c.Has("table"):
		kind, allowed = "table", []string{"where", "rows", "columns", "metrics", "ratios", "losses", "aggregate"}
	case c.Has("chart"):
		kind, allowed = "chart", []string{"where", "rows", "as"}
	case c.Has("beside"):
		kind, allowed = "beside", []string{"label"}
	default:
		c.Errorf("", "want a section of the report").Hint = "write verdicts, threads, table: TITLE, chart: METRIC or beside: DIR"
		return
	}
	for _, e := range c.n.fields {
		if key := e.key.text; key != kind && !slices.Contains(allowed, key) && !strings.HasPrefix(key, "x-") && !e.val.gone {
			p := c.d.errorf(e.key, "%s has no meaning in a %s", key, kind)
			if p.Hint = "leave it out"; len(allowed) > 0 {
				p.Hint = fmt.Sprintf("a %s has %s", kind, list(allowed))
			}
		}
	}
	if kind == "table" && len(s.Metrics) == 0 && !c.Has("losses") {
		c.Errorf("", "the table has no metrics").Hint = "write metrics: [...]"
	}
	if c.Has("aggregate") && c.Has("losses") {
		c.Errorf("aggregate", "losses have no mean: they are a selection").Hint = "leave it out"
	}
}

func (t *RatioTo) check(c *Check) {
	if t.Target == "" && len(t.Best) == 0 {
		c.Errorf("", "nothing to compare with").Hint = "write a target, or {best: [...]}"
	}
}
