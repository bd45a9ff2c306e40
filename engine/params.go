package engine

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/verdict"
)

// A param is a value of the plan's params. It belongs to the time of its own expression: one without an expression, or
// with one that needs nothing that only running brings, is known before anything starts.
type param struct {
	name  string
	part  dsl.Part[dsl.Param]
	time  verdict.Time
	typ   verdict.Type
	value any
	given *string // by the environment; nil if nothing is
}

// paramsIn are the names of the params that an expression reads.
func (p *Program) paramsIn(text string) (out []string) {
	for _, name := range p.boot.Mentions(text) {
		if name, ok := strings.CutPrefix(name, "params."); ok && !strings.Contains(name, ".") {
			out = append(out, name)
		}
	}
	return out
}

// inOrder puts params behind those that they depend on. A circle is reported.
func (c *compilation) inOrder() []*dsl.Part[dsl.Param] {
	var out []*dsl.Part[dsl.Param]
	state := map[string]int{} // 1: being visited, 2: done
	var visit func(p *dsl.Part[dsl.Param])
	visit = func(p *dsl.Part[dsl.Param]) {
		state[p.Name] = 1
		for _, h := range p.Holes() {
			for _, name := range c.paramsIn(h.Text) {
				q := c.Plan.Params.Get(name)
				switch {
				case q == nil: // reported with the expression
				case state[q.Name] == 1:
					c.list.Addf(h.Pos(1, 0), "the param %s depends on itself", q.Name).Hint = "break the circle: give one of them a value"
				case state[q.Name] == 0:
					visit(q)
				}
			}
		}
		state[p.Name] = 2
		out = append(out, p)
	}
	for i := range c.Plan.Params {
		if p := &c.Plan.Params[i]; state[p.Name] == 0 {
			visit(p)
		}
	}
	return out
}

// hostAndParams binds the host section and the params that are known before anything runs, and extends the compiler by
// their names.
func (c *compilation) hostAndParams() {
	c.planned["host.cpus"] = floats(machine.Allowed())
	// Params without an expression come first, all at once: most plans have many of them.
	var plain []verdict.Name
	ordered := c.inOrder()
	slices.SortStableFunc(ordered, func(a, b *dsl.Part[dsl.Param]) int { return min(1, len(a.Holes())) - min(1, len(b.Holes())) })
	fill := c.planFill()
	for i, part := range ordered {
		if len(part.Holes()) > 0 {
			fill = c.planFill()
		}
		p := &param{name: part.Name}
		c.params[p.name], c.order = p, append(c.order, p)
		var l diag.List
		p.part, l = part.Bind(fill)
		c.add(l)
		if c.environment(p) || p.part.Val.Value.Known() {
			p.time = verdict.AtPlan
			if p.value == nil {
				p.value = p.part.Val.Value.V
				c.planned["params."+p.name] = p.part.Val.Value
			} else {
				c.planned["params."+p.name] = p.value
			}
			if p.part.Val.Secret {
				c.secrets.add(p.value)
				c.secrets.add(p.part.Val.Value.Written)
			}
		} else if p.part.Val.Value.IsSet() {
			p.time = c.timeOf(p)
		}
		plain = append(plain, p.declare())
		if len(part.Holes()) > 0 || i == len(ordered)-1 || len(ordered[i+1].Holes()) > 0 {
			c.extendBoot(part, plain)
			plain = nil
		}
	}
	host, l := c.Plan.Host.Bind(c.planFill())
	c.add(l)
	c.Host = host.Val
	// The host is bound after the params, so its names come last.
	names := c.cpuNames()
	for _, n := range names {
		c.planned[n.Name] = n.Value
	}
	if out, err := c.boot.Extend(names, nil); err == nil {
		c.boot = out
	}
}

// cpuNames declares cpus.ROLE: what host.cpus says, else all CPUs that planrun may use.
func (c *compilation) cpuNames() (out []verdict.Name) {
	cpus := map[string][]int{}
	for _, role := range []string{"sut", "backends", "load"} {
		cpus[role] = machine.Allowed()
	}
	for _, e := range c.Host.CPUs {
		cpus[e.Name] = e.Val
	}
	for _, role := range slices.Sorted(maps.Keys(cpus)) {
		out = append(out, verdict.Name{Name: "cpus." + role, In: verdict.Always, Value: floats(cpus[role]), Doc: "the CPUs of the role " + role})
	}
	return out
}

func floats(in []int) []float64 {
	out := make([]float64, len(in))
	for i, v := range in {
		out[i] = float64(v)
	}
	return out
}

// environment reads a param that the environment gives. It reports one that is missing, and whether there is a value.
func (c *compilation) environment(p *param) bool {
	name := p.part.Val.Env
	if name == "" {
		return false
	}
	env := c.opt.Env
	if env == nil {
		env = os.LookupEnv
	}
	if v, ok := env(name); ok {
		p.value, p.given = dsl.ScalarValue(v), &v
		switch {
		case p.part.Val.Secret:
			c.secrets.add(v)
		case !utf8.ValidString(v):
			w := c.list.Addf(p.part.PosOf("env"), "what the environment variable %s gives is no UTF-8, so the plan that is stored with the results is without it", name)
			w.Hint, w.Warning = "set it in the same way to run the stored plan again, or give it UTF-8", true
		}
		return true
	}
	if !p.part.Val.Value.IsSet() {
		c.list.Addf(p.part.PosOf("env"), "the environment variable %s is not set", name).Hint = "set it, write a value beside it, or use --set " + p.name + "=..."
	}
	return false
}

// fromEnvironment is what environment variables gave to params, by the names of these.
func (p *Program) fromEnvironment() map[string]string {
	out := map[string]string{}
	for _, q := range p.order {
		if q.given != nil {
			out[q.name] = *q.given
		}
	}
	return out
}

// timeOf says when a param's expression is known: at the stage, else when a run begins. Its errors are found later.
func (c *compilation) timeOf(p *param) verdict.Time {
	for _, h := range p.part.Holes() {
		if x, _ := c.boot.Compile(h.Text, verdict.AtRun, nil); x != nil {
			if early := x.Needs().Earliest; early >= verdict.AtRun {
				return verdict.AtRun
			}
		}
	}
	return verdict.AtStage
}

func (c *compilation) extendBoot(part *dsl.Part[dsl.Param], names []verdict.Name) {
	out, err := c.boot.Extend(names, nil)
	if err != nil {
		c.list.Addf(part.Pos(), "%v", err)
		return
	}
	c.boot = out
}

func (p *param) declare() verdict.Name {
	return verdict.Name{Name: "params." + p.name, Type: p.typ, Value: p.value, In: verdict.Since(max(p.time, verdict.AtPlan)), Secret: p.part.Val.Secret, Doc: p.part.Val.About}
}

// paramNames declares params and CPUs.
func (c *compilation) paramNames() []verdict.Name {
	var out []verdict.Name
	for _, p := range c.order {
		out = append(out, p.declare())
	}
	return append(out, c.cpuNames()...)
}

// fieldTimes are the times of the language for the params of each time.
var fieldTimes = map[verdict.Time]dsl.Time{verdict.AtStage: dsl.TimeStage, verdict.AtRun: dsl.TimeRun}

// bindParams evaluates the needed params of one time, in order, and adds them to k. Those that were computed from figures
// that a guard taints are added to tainted, with what the guard said.
func (p *Program) bindParams(ctx context.Context, t verdict.Time, e *evaluator, k known, v verdict.Values, needed map[string]bool, tainted map[string]string) diag.List {
	var list diag.List
	for _, q := range p.order {
		if q.time != t || !needed[q.name] {
			continue
		}
		for _, h := range q.part.Holes() {
			for _, name := range p.paramsIn(h.Text) {
				if why, ok := tainted[name]; ok {
					tainted[q.name] = why
				}
			}
		}
		part, l := q.part.Bind(e.filling(ctx, k, v, fieldTimes[t], func(r verdict.Result) {
			for _, t := range r.Tainted {
				tainted[q.name] = t.Guard + ": " + t.Message
			}
		}))
		list = append(list, l...)
		if l.HasErrors() {
			continue
		}
		for _, h := range part.Holes() {
			list.Addf(h.Pos(1, 0), "params.%s cannot be known now: %s", q.name, h.Text).Hint = "run the stages that it reads, or use --set " + q.name + "=..."
		}
		if part.Val.Value.Known() {
			k["params."+q.name] = part.Val.Value
			if part.Val.Secret {
				p.secrets.add(part.Val.Value.V)
			}
		}
	}
	return list
}
