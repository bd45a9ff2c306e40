package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// An outbreak is when requests of a run failed. Times are begins of seconds, counted from the run's own begin.
type outbreak struct {
	first, last float64
	worst       float64 // the second in which most failed
	most        float64 // how many that were
	phase       string  // in which it began
	beside      []Text  // the first of them: see besideSecond
}

// outbreak says when requests of a run failed that count as outcomes of it; nil if no second that was recorded has any, which
// is so of loads that are not in the headline. It reads the run's seconds, so callers bound how many runs they ask for.
func (b *builder) outbreak(r *record.Run) (*outbreak, error) {
	if b.in.Failed == nil {
		return nil, nil
	}
	if o, ok := b.outbreaks[r.ID]; ok {
		return o, nil
	}
	all, err := b.in.Failed(r.ID)
	if err != nil {
		return nil, fmt.Errorf("reading run %s: %w", r.ID, err)
	}
	o := outbreakOf(all)
	if o != nil {
		if o.beside, err = b.besideSecond(r, all[0]); err != nil {
			return nil, err
		}
	}
	b.outbreaks[r.ID] = o
	return o, nil
}

// outbreakOf puts seconds together, those that two phases share too; nil if there are none.
func outbreakOf(all []record.FailedSecond) *outbreak {
	if len(all) == 0 {
		return nil
	}
	o := &outbreak{first: all[0].T}
	if !record.IsBetween(all[0].Phase) {
		o.phase = all[0].Phase
	}
	failed := 0.0
	for i, s := range all {
		if i == 0 || s.T >= o.last+0.5 {
			o.last, failed = s.T, 0
		}
		if failed += float64(failedOf(s.Counts)); failed > o.most {
			o.worst, o.most = o.last, failed
		}
	}
	return o
}

// phaseOf names the phase that a second which begins at t is mostly of; "" if none is.
func phaseOf(r *record.Run, t float64) string {
	for _, p := range r.Phases {
		if t+0.5 >= p.Start && t+0.5 < p.End {
			return p.Name
		}
	}
	return ""
}

// say tells when: "in phase fault, from 2.0 s to 5.0 s, most at 4.0 s (80); beside it: ...".
func (o *outbreak) say() Text {
	s := ""
	if o.phase != "" {
		s = "in phase " + oneLine(o.phase) + ", "
	}
	if o.first == o.last {
		s += "within " + second(o.first)
	} else {
		s += fmt.Sprintf("from %s to %s, most within %s (%s)", seconds(o.first), seconds(o.last+1), second(o.worst), grouped(o.most))
	}
	if len(o.beside) == 0 {
		return text(s + "; nothing was recorded beside it")
	}
	return text(s+"; beside it: ", join(o.beside, ", "))
}

// second is the second that begins at t: "1.1 to 2.1 s".
func second(t float64) string { return fmt.Sprintf("%.1f to %.1f s", t, t+1) }

// mostBeside bounds what is named beside a second.
const mostBeside = 6

// beside says what was done, or happened, beside requests that were due from t on and were over at another moment: what is
// near in time (up to record.Reach before), and what was in force. Phases are named only if there is nothing else.
func (b *builder) beside(r *record.Run, t, over float64) ([]Text, error) {
	var near, lasting []moment
	overlaps := func(from, to float64) bool { return from < over && to >= t-record.Reach }
	isNear := func(at float64) bool { return overlaps(at, at) }
	if b.in.Events != nil {
		events, _, err := b.in.Events(r.ID)
		if err != nil {
			return nil, fmt.Errorf("events of run %s: %w", r.ID, err)
		}
		near = momentsOf(slices.DeleteFunc(slices.Clone(events), func(e record.Event) bool { return !overlaps(e.Began(), e.T) }))
	}
	for i, c := range r.Facts.Changes {
		if overlaps(c.Start, r.InForce(i)) && !c.Nothing && !c.Unmade {
			near = append(near, moment{at: c.Start, what: text(oneLine(c.What))})
		}
	}
	happened := slices.Clone(near)
	for _, a := range r.Actions {
		what := oneLine(named(a))
		switch {
		case a.Kind == "load", a.Never:
		case isNear(a.Start):
			// An event tells more of the same thing than the action that made it.
			if !slices.ContainsFunc(happened, func(m moment) bool { return m.at >= a.Start-0.1 && m.at <= max(a.End, a.Start+0.5) }) {
				near = append(near, moment{at: a.Start, what: text("action " + what)})
			}
		case a.Start < t && a.End > t:
			lasting = append(lasting, moment{at: a.Start, what: text(what + " in force")})
		}
	}
	var out []Text
	for _, f := range r.Facts.Faults {
		if f.Kind != "" { // its action says it
			continue
		}
		what := moment{at: f.Start, what: text(oneLine(f.Name()) + " in force")}
		if f.Start < t-record.Reach && f.End > t {
			lasting = slices.DeleteFunc(lasting, func(m moment) bool { return strings.HasPrefix(plain(m.what), "toxic") })
			lasting = append(lasting, what)
		}
	}
	slices.SortStableFunc(near, func(x, y moment) int { return cmp.Compare(x.at, y.at) })
	for _, m := range nearest(near, t) {
		out = append(out, text(m.what, " (at "+seconds(m.at)+")"))
	}
	for _, m := range lasting[:min(mostBeside, len(lasting))] {
		out = append(out, text(m.what, " (since "+seconds(m.at)+")"))
	}
	if len(out) == 0 {
		for _, p := range r.Phases {
			if isNear(p.Start) && p.Start > 0 {
				out = append(out, text(fmt.Sprintf("phase %s began (at %s)", oneLine(p.Name), seconds(p.Start))))
			}
		}
	}
	return out, nil
}
