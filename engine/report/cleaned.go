package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// cleaned says of verdicts by a clean latency that it is not the latency of the other findings, and what it cannot have seen.
func (b *builder) cleaned(verdicts []string, byName map[string][]record.Judgement) (items []Text) {
	for _, name := range misread {
		all, clean := strings.CutSuffix(name, "_clean_ms")
		var by []Text
		var judged []record.Judgement
		for _, v := range verdicts {
			if slices.Contains(asks(byName[v]...), name) {
				by, judged = append(by, quoted(v)), append(judged, byName[v]...)
			}
		}
		if d, ok := b.define(name); ok && clean && len(by) > 0 {
			items = append(items, text(mono(name), " in ", join(by, " and "), " is not the ", mono(all+"_ms"), " of the other findings: it is "+d.Doc, b.unseen(judged), "."))
		}
	}
	return items
}

// unseen are the actions of headline phases that began in seconds which clean latencies are without, in one scenario: the latency
// may lack what they did at first.
type unseen struct {
	where   string
	n, all  int      // of those of headline phases that change something other than the load
	actions []string // each once
}

// unseen says of the scenarios that were judged which actions the clean latencies may lack; nil if none.
func (b *builder) unseen(judged []record.Judgement) (words Text) {
	places := map[string]bool{}
	for _, j := range judged {
		places[j.Coord.CellName()] = j.Outcome != record.NotJudged || places[j.Coord.CellName()]
	}
	var scenarios []*unseen
	for _, c := range b.res.Cells {
		if !places[c.Coord.CellName()] {
			continue
		}
		coord := c.Coord
		coord.Target = ""
		where := b.name(coord)
		i := slices.IndexFunc(scenarios, func(u *unseen) bool { return u.where == where })
		if i < 0 {
			i, scenarios = len(scenarios), append(scenarios, &unseen{where: where})
		}
		for _, id := range c.Runs {
			if r := b.runs[id]; r != nil {
				scenarios[i].add(r)
			}
		}
	}
	for _, u := range scenarios {
		if u.n > 0 {
			words = text(words, fmt.Sprintf("; in %s %s of %s that changed something began in a second that it is without (", u.where, grouped(float64(u.n)), plural.Of(u.all, "action")), some(u.actions, mostNamed), ")")
		}
	}
	return words
}

// add counts the actions of a run.
func (u *unseen) add(r *record.Run) {
	for _, a := range r.Actions {
		if !a.Touches() || a.Never || !slices.ContainsFunc(r.Phases, func(p record.Phase) bool { return p.Headline && p.Name == a.Phase }) {
			continue
		}
		u.all++
		if !slices.ContainsFunc(r.LeftOut, func(l record.LeftOut) bool { return beganIn(a, l) }) {
			continue
		}
		u.n++
		if name := oneLine(a.Name); !slices.Contains(u.actions, name) {
			u.actions = append(u.actions, name)
		}
	}
}

// beganIn reports whether an action began in a second of its own phase that is left out. Result sets that are older than these
// do not say of which phase a second is.
func beganIn(a record.Action, l record.LeftOut) bool {
	return (l.Phase == "" || l.Phase == a.Phase) && l.T <= a.Start && a.Start < l.T+1
}
