package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// muchResent is the share of a cell's requests above which it is said that they were sent again, also where nothing failed and
// nothing was disturbed.
const muchResent = 0.001

// mostResent bounds the cells that are named.
const mostResent = 3

// A resending is what was sent again of the requests of a cell.
type resending struct {
	cell      *record.Cell
	counts    load.Counts
	phases    map[string]int64 // of these, by phase
	disturbed bool             // the plan makes trouble in one of them
}

func resentOf(c *load.Counts) int64 { return c.Retried + c.Refused + c.ReuseRetried }

func (s resending) share() float64 { return float64(resentOf(&s.counts)) / float64(s.counts.Due) }

// resent says in the findings where requests were sent again, if something failed there too, the plan made trouble, or it was more
// than a few: to a client without a second try they would have failed, and no metric of failures has them.
func (b *builder) resent() []Text {
	var all []resending
	for i := range b.res.Cells {
		s := b.resending(&b.res.Cells[i])
		if resentOf(&s.counts) > 0 && (s.disturbed || failedOf(s.counts) > 0 || s.share() > muchResent) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(x, y resending) int { return cmp.Compare(y.share(), x.share()) })
	var parts []string
	for _, s := range all {
		parts = append(parts, fmt.Sprintf("%s, %s of %s due (%s), %s", b.name(s.cell.Coord), and(sentAgain(&s.counts)), grouped(float64(s.counts.Due)), percent(s.share()), s.where(b.phasesOfCell(s.cell))))
	}
	return []Text{text(strong("Requests were sent again"), " in recorded phases of all runs of a cell: ", list(parts, mostResent), ". Each counts once, as what it came to at last, and had failed without a second try.")}
}

// resending adds up the phases that count of a cell's runs.
func (b *builder) resending(c *record.Cell) resending {
	s := resending{cell: c, phases: map[string]int64{}}
	for _, id := range c.Runs {
		r := b.runs[id]
		if r == nil {
			continue
		}
		for l, phase := range phasesOf(r) {
			if n := l.Totals[phase]; r.Counts(&l, phase) {
				record.AddCounts(&s.counts, n)
				s.phases[phase] += resentOf(&n)
			}
		}
	}
	s.disturbed = slices.ContainsFunc(b.phasesOfCell(c), func(p record.Phase) bool { return isDisturbed(p) && s.phases[p.Name] > 0 })
	return s
}

// where names the phase in which most were sent again, with its kind if that is a disturbance: "all in phase storm (churn)".
func (s resending) where(phases []record.Phase) string {
	most := ""
	for _, phase := range sorted(s.phases) {
		if most == "" || s.phases[phase] > s.phases[most] {
			most = phase
		}
	}
	name := oneLine(record.PhaseWords(most))
	if !record.IsBetween(most) {
		name = "in phase " + name
	}
	for _, p := range phases {
		if p.Name == most && isDisturbed(p) && p.Name != p.Kind {
			name += " (" + p.Kind + ")"
		}
	}
	if s.phases[most] == resentOf(&s.counts) {
		return "all " + name
	}
	return fmt.Sprintf("most %s (%s)", name, grouped(float64(s.phases[most])))
}
