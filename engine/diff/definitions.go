package diff

import (
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
)

// A Mismatch is something that makes figures of matched cells say nothing beside each other: they are of another window, of
// another load, or of a metric of another definition.
type Mismatch struct {
	What  string   `json:"what"`  // in words
	Cells []string `json:"cells"` // in which; empty: in all
}

// mismatches looks at the first run with results of both sides of each pair.
func (d *Diff) mismatches(pairs []pair) error {
	found := &mismatches{}
	scenarios := map[string]bool{}
	for _, p := range pairs {
		a, errA := sample(d.A, p.a)
		b, errB := sample(d.B, p.b)
		if errA != nil || errB != nil {
			return fmt.Errorf("reading a run of %s: %w", Place(p.coord()), firstOf(errA, errB))
		}
		if a == nil || b == nil {
			continue // no row of it will have a ratio
		}
		where := Place(p.coord())
		windows(found, where, a, b)
		d.loads(found, where, a, b)
		if d.A.Plan != nil && d.B.Plan != nil {
			scenarios[p.a.Coord.Scenario] = true
			params(found, where, d.A.Plan, p.a.Coord.Scenario, a, b)
		}
	}
	if d.A.Plan != nil && d.B.Plan != nil {
		planned(found, d.A.Plan, d.B.Plan, scenarios)
	}
	d.Mismatches = found.list
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sample is the first run of a cell that has results; nil if none has.
func sample(s *Set, c *record.Cell) (*record.Run, error) {
	if !c.Status.HasResults() || s.Run == nil {
		return nil, nil
	}
	for _, id := range c.Runs {
		r, err := s.Run(id)
		if err != nil {
			return nil, err
		}
		if r.Status.HasResults() {
			return r, nil
		}
	}
	return nil, nil
}

// mismatches collects them: what is the same in several cells is one.
type mismatches struct{ list []Mismatch }

func (m *mismatches) add(where, what string) {
	i := slices.IndexFunc(m.list, func(x Mismatch) bool { return x.What == what })
	if i < 0 {
		m.list = append(m.list, Mismatch{What: what})
		i = len(m.list) - 1
	}
	if where != "" && !slices.Contains(m.list[i].Cells, where) {
		m.list[i].Cells = append(m.list[i].Cells, where)
	}
}

// windows compares the phases: their kinds, their asked lengths, whether they are recorded and of the headline. Published
// figures have none: what they were measured in is not known.
func windows(m *mismatches, where string, a, b *record.Run) {
	if len(a.Phases) == 0 || len(b.Phases) == 0 {
		return
	}
	words := func(p record.Phase) string {
		s := "as long as its actions take"
		if p.For > 0 {
			s = (time.Duration(p.For*1e9 + 0.5)).String()
		}
		switch {
		case !p.Recorded:
			s += ", not recorded"
		case p.Headline:
			s += ", headline"
		}
		return s
	}
	index := func(phases []record.Phase) map[string]string {
		out := map[string]string{}
		for _, p := range phases {
			out["the window "+p.Name+" ("+p.Kind+")"] = words(p)
		}
		return out
	}
	each(index(a.Phases), index(b.Phases), func(name, x, y string) {
		if x != y {
			m.add(where, name+": "+sides(x, y))
		}
	})
}

// loads compares what was sent, and notes how it was sent otherwise.
func (d *Diff) loads(m *mismatches, where string, a, b *record.Run) {
	index := func(r *record.Run) map[string]*record.Load {
		out := map[string]*record.Load{}
		for i := range r.Loads {
			out[r.Loads[i].Name] = &r.Loads[i]
		}
		return out
	}
	each(index(a), index(b), func(name string, x, y *record.Load) {
		if x == nil || y == nil {
			l, side := x, "A"
			if x == nil {
				l, side = y, "B"
			}
			m.add(where, fmt.Sprintf("the load %s (%s) is in %s only", name, report.LoadWords(*l), side))
			return
		}
		for _, c := range changes(definition(*x), definition(*y)) {
			m.add(where, "the load "+name+", "+loadWords(c))
		}
		d.note("load."+name+".wire", "what moves the bytes of the load "+name, x.Ready.Wire, y.Ready.Wire)
		d.note("load."+name+".workers", "workers of the load "+name, fmt.Sprint(x.Workers), fmt.Sprint(y.Workers))
		d.note("load."+name+".host", "where the load "+name+" goes", host(x.Spec.Address), host(y.Spec.Address))
	})
}

// note adds a difference of the environment that only runs show.
func (d *Diff) note(where, what, a, b string) {
	if a != b && !slices.ContainsFunc(d.Differences, func(x Difference) bool { return x.Where == where }) {
		d.Differences = append(d.Differences, Difference{Environment, where, a, b, what + ": " + sides(a, b)})
	}
}

// definition is a load as plain data, without what differs from run to run: ports, and by whom it is sent.
func definition(l record.Load) map[string]any {
	s := l.Spec
	if s.Host == s.Address {
		s.Host = ""
	}
	if h := host(s.Host); h == host(s.Address) {
		s.Host = h
	}
	s.Address, s.Worker, s.Workers, s.Phase, s.Wire = "", 0, 0, "", ""
	if s.Proxy != "" {
		s.Proxy = "a forward proxy"
	}
	b, err := json.Marshal(s)
	out := map[string]any{}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		out["unreadable"] = err.Error()
	}
	out["headline"] = l.Headline
	return out
}

func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}

// loadWords says one change of a load.
func loadWords(c change) string {
	name := dotted(c.path)
	value := func(v any) string {
		switch {
		case v == nil:
			return ""
		case name == "reuse" && v == true:
			return "connections are kept"
		case name == "reuse":
			return "a new connection for every request"
		case strings.HasSuffix(name, "timeout") || strings.HasSuffix(name, "over"):
			if ns, ok := v.(float64); ok {
				return time.Duration(ns).String()
			}
		case len(c.path) == 1 && name == "rate":
			return rates(v)
		}
		return shown(v)
	}
	a, b := value(c.a), value(c.b)
	switch {
	case name == "reuse":
		name = "keep-alive"
	case name == "rate" && (c.a == nil || c.b == nil):
		return "its rate: " + map[bool]string{true: "a closed loop in A, " + b + " in B", false: a + " in A, a closed loop in B"}[c.a == nil]
	case strings.HasPrefix(name, "rate[") && strings.HasSuffix(name, ".to"):
		name = "its rate at the end of a step, requests/s"
	case strings.HasPrefix(name, "rate[") && strings.HasSuffix(name, ".from"):
		name = "its rate at the beginning of a step, requests/s"
	}
	return name + ": " + sides(a, b)
}

// rates says the steps of a rate.
func rates(v any) string {
	steps, ok := v.([]any)
	if !ok {
		return shown(v)
	}
	var out []string
	for _, s := range steps {
		step := mapping(s)
		if step["from"] == step["to"] {
			out = append(out, fmt.Sprintf("%v requests/s", step["to"]))
		} else {
			out = append(out, fmt.Sprintf("%v to %v requests/s", step["from"], step["to"]))
		}
	}
	return strings.Join(out, ", then ")
}

// planned compares what the plans say of the scenarios of matched cells, of backends and relays, and of metrics of the
// plan's own. What targets are is what is compared, so it may differ.
func planned(m *mismatches, a, b map[string]any, scenarios map[string]bool) {
	add := func(path []string, x, y any) {
		for _, c := range changes(x, y) {
			full := append(slices.Clone(path), c.path...)
			if groupOf(full) != Texts {
				m.add("", dotted(full)+": "+sides(text(c.a), text(c.b)))
			}
		}
	}
	for _, key := range []string{"backends", "relays", "metrics"} {
		add([]string{key}, a[key], b[key])
	}
	for name := range scenarios {
		x, y := scenario(a, name), scenario(b, name)
		add([]string{"scenarios", name}, x, y)
	}
}

// scenario is what a plan says of one, without how often it runs, and the knobs that it gives targets.
func scenario(plan map[string]any, name string) any {
	s := mapping(mapping(plan["scenarios"])[name])
	if s == nil {
		return nil
	}
	out := map[string]any{}
	for k, v := range s {
		if !slices.Contains([]string{"repeats", "when", "with", "about", "matrix", "fresh"}, k) {
			out[k] = v
		}
	}
	return out
}

var paramRead = regexp.MustCompile(`\bparams\.([A-Za-z_][A-Za-z0-9_]*)`)

// params compares the params that a scenario, backends and relays read, as they were in the runs. Those of loads show in what
// was sent.
func params(m *mismatches, where string, plan map[string]any, name string, a, b *record.Run) {
	read, err := json.Marshal([]any{scenario(plan, name), plan["backends"], plan["relays"]})
	if err != nil {
		return
	}
	for _, g := range paramRead.FindAllStringSubmatch(string(read), -1) {
		x, inA := a.Params[g[1]]
		y, inB := b.Params[g[1]]
		if inA && inB && len(changes(x, y)) > 0 {
			m.add(where, "the param "+g[1]+" (--set "+g[1]+"=...): "+sides(shown(x), shown(y)))
		}
	}
}
