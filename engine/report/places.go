package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// A place is a cell whose requests failed.
type place struct {
	cell   *record.Cell
	counts load.Counts // of all its runs
	runs   []*record.Run
	worst  *record.Run // the run in which most failed
	most   int64       // how many that were
}

// countsOf adds up what counts of a run: of all loads, what the metrics of the run count (record.Run.Counts).
func countsOf(r *record.Run) (sum load.Counts) {
	for _, l := range r.Loads {
		for phase, counts := range l.Totals {
			if r.Counts(&l, phase) {
				add(&sum, counts)
			}
		}
	}
	return sum
}

// places are the cells whose requests failed, the worst first, with what was counted in all and in how many runs.
func (b *builder) places() (places []place, all load.Counts, watched int) {
	for i := range b.res.Cells {
		p := place{cell: &b.res.Cells[i]}
		for _, id := range p.cell.Runs {
			r := b.runs[id]
			if r == nil || len(r.Loads) == 0 {
				continue
			}
			watched++
			counts := countsOf(r)
			add(&p.counts, counts)
			if n := failedOf(counts); n > 0 {
				p.runs = append(p.runs, r)
				if n > p.most {
					p.worst, p.most = r, n
				}
			}
		}
		add(&all, p.counts)
		if p.worst != nil {
			places = append(places, p)
		}
	}
	slices.SortStableFunc(places, func(x, y place) int { return cmp.Compare(failedOf(y.counts), failedOf(x.counts)) })
	return places, all, watched
}

// sideLoads reports whether there are loads that are not in the headline: failures count them, metrics of the headline do not.
func (b *builder) sideLoads() bool {
	return slices.ContainsFunc(b.in.Runs, func(r *record.Run) bool {
		return slices.ContainsFunc(r.Loads, func(l record.Load) bool { return !l.Headline })
	})
}

// ofAll says that a count is of all loads, where not all are in the headline; else "".
func (b *builder) ofAll() string {
	if b.sideLoads() {
		return ", by all loads, those that are not in the headline too"
	}
	return ""
}

// mostPlaces bounds the sentences about cells whose requests failed; the section of failures has more.
const mostPlaces = 4

// failed says in the findings how many requests failed, where most, and when.
func (b *builder) failed() (items []Text, err error) {
	places, all, watched := b.places()
	if watched == 0 {
		return []Text{text("No request was counted: there was no load, or nothing of it was recorded.")}, nil
	}
	if all.Generator > 0 {
		items = append(items, text(strong(plural.Of(int(all.Generator), "request")+" could not be sent by the load generator itself"), " (descriptors, ports, memory or CPU); no target is blamed for them."))
	}
	if len(places) == 0 {
		return append(append(items, text(fmt.Sprintf("No request failed, of %s due in recorded phases of %s%s.", grouped(float64(all.Due)), plural.Of(watched, "run"), b.ofAll()))), b.between()...), nil
	}
	share := "-"
	if all.Due > 0 {
		share = percent(float64(failedOf(all)) / float64(all.Due))
	}
	items = append(items, text(bad(plural.Of(int(failedOf(all)), "request")+" failed"), fmt.Sprintf(" of %s due in recorded phases of %s%s (%s), in %d of %s.",
		grouped(float64(all.Due)), plural.Of(watched, "run"), b.ofAll(), share, len(places), plural.Of(len(b.res.Cells), "cell"))))
	for i, p := range places {
		if i == mostPlaces {
			items = append(items, text(fmt.Sprintf("And in %s more; see Failures.", plural.Of(len(places)-mostPlaces, "cell"))))
			break
		}
		when, err := b.outbreak(p.worst)
		if err != nil {
			return nil, err
		}
		items = append(items, b.sayPlace(p, when))
	}
	return append(items, b.between()...), nil
}

// between says how many requests were due when a recorded phase had ended and before their load heard that it was to stop: no
// metric counts them, but the backends do. In a closed loop nothing is due but what is sent.
func (b *builder) between() []Text {
	var outside load.Counts
	var open, closed bool
	for _, r := range b.in.Runs {
		for _, l := range r.Loads {
			for _, p := range r.Phases {
				name := record.Between(p.Name)
				if n := l.Totals[name]; n.Due > 0 && p.Recorded && !r.Counts(&l, name) {
					add(&outside, n)
					open, closed = open || len(l.Spec.Rate) > 0, closed || len(l.Spec.Rate) == 0
				}
			}
		}
	}
	if outside.Due == 0 {
		return nil
	}
	failed := "none of them failed"
	if n := failedOf(outside); n > 0 {
		failed = grouped(float64(n)) + " of them failed"
	}
	how := "sent"
	switch {
	case open && closed:
		how = "due (in closed loops: sent)"
	case open:
		how = "due"
	}
	n := int(outside.Due)
	return []Text{text(fmt.Sprintf("%s %s %s after a phase had ended and before the load stopped, and %s in no metric (%s).",
		plural.Of(n, "more request"), plural.Verb(n, "was", "were"), how, plural.Verb(n, "counts", "count"), failed))}
}

// sayPlace: churn / nginx: 100 of 1,500 due (98 answered 502, 2 reset), in 2 of 3 runs; in repeat 2 in phase churn, at 5.0 s; ...
func (b *builder) sayPlace(p place, when *outbreak) Text {
	s := fmt.Sprintf("%s: %s of %s due (%s)", b.name(p.cell.Coord), grouped(float64(failedOf(p.counts))), grouped(float64(p.counts.Due)), classes(p.counts))
	if n := p.cell.Metrics[""].Value("failed_unexplained").Value; n > 0 && n < float64(failedOf(p.counts)) {
		s += fmt.Sprintf(", %s of them beside nothing that explains them", grouped(n))
	}
	in := ""
	if n := len(p.cell.Runs); n > 1 {
		s += fmt.Sprintf(", in %d of %s", len(p.runs), plural.Of(n, "run"))
		in = "in " + b.which(p.worst.Coord.Round, p.worst.Coord.Repeat) + ", "
		if len(p.runs) > 1 {
			in = "most " + in
		}
	}
	if when == nil {
		return text(s + "; " + in + failingPhases(p.worst) + ".")
	}
	return text(s+"; "+in, when.say(), ".")
}

// failingPhases says in which phases of a run, and behind which of them, requests failed that count: "in phase fault and after,
// between after and the next phase".
func failingPhases(r *record.Run) string {
	var phases, behind []string
	for l, phase := range phasesOf(r) {
		if !r.Counts(&l, phase) || failedOf(l.Totals[phase]) == 0 {
			continue
		}
		name, list := oneLine(record.PhaseWords(phase)), &phases
		if record.IsBetween(phase) {
			list = &behind
		}
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	if len(phases) > 0 {
		behind = append([]string{"in phase " + and(phases)}, behind...)
	}
	return strings.Join(behind, ", ")
}
