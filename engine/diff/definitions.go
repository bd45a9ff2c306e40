package diff

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/record"
)

// A Mismatch is something that makes figures of matched cells say nothing beside each other: they are of another window, of
// another load, or of a metric of another definition.
type Mismatch struct {
	What  string   `json:"what"`  // in words
	Cells []string `json:"cells"` // in which; empty: in all
}

// mismatches looks at a run with results of both sides of each pair.
func (d *Diff) mismatches(pairs []pair) {
	found := &mismatches{}
	scenarios := map[string]bool{}
	for _, p := range pairs {
		a, b := sample(p.partsA), sample(p.partsB)
		if a == nil || b == nil {
			continue // no row of it will have a ratio
		}
		where := Place(p.coord())
		windows(found, where, a, b)
		d.knobs(p.coord().Target, a, b)
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
}

// sample is the first run of a cell that came to its end; else the first that has results; nil if none has.
func sample(parts []part) *record.Run {
	var early *record.Run
	for _, p := range parts {
		if p.set.Run == nil {
			continue
		}
		for _, id := range p.cell.Runs {
			switch r := p.set.Run(id); {
			case r.Status == record.Done:
				return r
			case r.Status.HasResults() && early == nil:
				early = r
			}
		}
	}
	return early
}

// beyond reports whether what only the other side has comes after the end of a run that its abort condition ended.
func beyond(has bool, r *record.Run) bool { return !has && r.Status == record.Aborted }

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
// figures have none: what they were measured in is not known. Nor has an aborted run those that it did not reach.
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
	index := func(r *record.Run) map[string]string {
		out := map[string]string{}
		for _, p := range r.Phases {
			if r.Status != record.Aborted || p.End > 0 {
				out["the window "+p.Name+" ("+p.Kind+")"] = words(p)
			}
		}
		return out
	}
	each(index(a), index(b), func(name, x, y string) {
		if x != y && !beyond(x != "", a) && !beyond(y != "", b) {
			m.add(where, name+": "+sides(x, y))
		}
	})
}

// knobs lists what a target was given in the runs, which says more than what the plan has: a number of workers may be computed
// of the machine's CPUs.
func (d *Diff) knobs(target string, a, b *record.Run) {
	if len(a.With) == 0 || len(b.With) == 0 {
		return
	}
	path := "targets." + target + ".with."
	d.Differences = slices.DeleteFunc(d.Differences, func(x Difference) bool {
		return strings.HasPrefix(x.Where, path) && strings.HasSuffix(x.Where, ".value")
	})
	each(a.With, b.With, func(name string, x, y any) {
		shows := func(x Difference) bool {
			return x.Where == path+name && x.A == text(a.With[name]) && x.B == text(b.With[name])
		}
		if len(changes(x, y)) > 0 && !slices.ContainsFunc(d.Differences, shows) {
			d.Differences = append(d.Differences, Difference{Targets, path + name, text(x), text(y), "the knob " + name + " of " + target + ": " + sides(text(x), text(y)), ""})
		}
	})
}

// note adds a difference of the environment that only runs show.
func (d *Diff) note(where, what, a, b string) {
	if a != b && !slices.ContainsFunc(d.Differences, func(x Difference) bool { return x.Where == where }) {
		d.Differences = append(d.Differences, Difference{Environment, where, a, b, what + ": " + sides(a, b), ""})
	}
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
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
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
