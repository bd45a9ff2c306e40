package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// mostRecoveries bounds the rows of a table of runs, or of phases, in which something was broken.
const mostRecoveries = 200

// recoveries say how long each run in which something was broken took to come back.
func (b *builder) recoveries() []Block {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "back after (s)", Right: true}, {Title: "rate alone", Right: true}, {Title: "p99 alone", Right: true}, {Title: "within"}}}
	more := 0
	for _, c := range b.res.Cells {
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			m := r.Metrics[""]
			_, known := m.Get("recovery_s")
			if why := r.Missing["recovery_s"]; !known && why == "" {
				continue
			}
			if len(t.Rows) == mostRecoveries {
				more++
				continue
			}
			value := func(name string) Text {
				if v, ok := m.Get(name); ok {
					return text(number(v, series.Timing))
				}
				if name == "recovery_s" && m.Value("not_recovered") == 1 {
					return text("not back", b.note(r.Missing[name]))
				}
				return text("n/a", b.note(r.Missing[name]))
			}
			t.Rows = append(t.Rows, row(b.runName(r), value("recovery_s"), value("recovery_rate_s"), value("recovery_p99_s"), boundWords(r.Recovery)))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	out := []Block{Heading{"How long it took to come back"}, t,
		Paragraph{text("From the end of the last fault to the first second from which on the rate and the p99 of single seconds were back, beside the medians of the seconds before the first fault. Up to a second too long, never too short: what follows the fault's end within its second is not judged.")}}
	if more > 0 {
		out = append(out, Paragraph{text(fmt.Sprintf("And %s more, in the runs' run.json.", plural.Of(more, "run")))})
	}
	return out
}

// boundWords: rate at least 90 %, p99 at most 200 % or 5 ms more, for 3 s.
func boundWords(r *record.Recovery) string {
	b := record.DefaultRecovery
	if r != nil {
		b = *r
	}
	s := fmt.Sprintf("rate at least %.4g %%, p99 at most %.4g %%", 100*b.Rate, 100*b.P99)
	if b.SlackMs > 0 {
		s += fmt.Sprintf(" or %.4g ms more", b.SlackMs)
	}
	return s + fmt.Sprintf(", for %.4g s", b.HoldS)
}

// ofPhase adds up what the headline loads of a cell's runs did in a phase.
func (b *builder) ofPhase(c *record.Cell, phase string) (sum load.Counts) {
	for _, id := range c.Runs {
		r := b.runs[id]
		if r == nil || !r.Status.HasResults() {
			continue
		}
		for _, l := range r.Loads {
			if l.Headline && r.Counts(&l, phase) {
				add(&sum, l.Totals[phase])
			}
		}
	}
	return sum
}

// phaseRow says what failed in a phase of a cell, or behind one.
func (b *builder) phaseRow(c *record.Cell, phase, kind string) []Text {
	n := b.ofPhase(c, phase)
	share := "no request was due"
	if n.Due > 0 {
		share = percent(float64(failedOf(n)) / float64(n.Due))
	}
	return row(b.name(c.Coord), record.PhaseWords(phase), kind, grouped(float64(n.Due)), grouped(float64(failedOf(n))), share, dash(classes(n)))
}

// phaseFailures are what failed in each recorded phase of cells in which something churned or was broken, those in which
// nothing did too. Of all runs of a cell, by the headline loads.
func (b *builder) phaseFailures(all []disturbance) []Block {
	t := Table{Columns: []Column{{Title: "of"}, {Title: "phase"}, {Title: "kind"}, {Title: "due in it", Right: true}, {Title: "failed of those due", Right: true}, {Title: "share", Right: true}, {Title: "by code and class"}}}
	type place struct {
		cell  *record.Cell
		phase string
	}
	seen := map[place]bool{}
	more := 0
	for _, d := range all {
		for _, p := range b.phasesOfCell(d.cell) {
			at := place{d.cell, p.Name}
			if !p.Recorded || seen[at] {
				continue
			}
			seen[at] = true
			if len(t.Rows) >= mostRecoveries {
				more++
				continue
			}
			t.Rows = append(t.Rows, b.phaseRow(d.cell, p.Name, p.Kind))
			if behind := record.Between(p.Name); failedOf(b.ofPhase(d.cell, behind)) > 0 {
				t.Rows = append(t.Rows, b.phaseRow(d.cell, behind, "-"))
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	out := []Block{Heading{"Failures in each phase"}, t, Paragraph{text("All runs of a cell together, by the loads of the headline. A request counts in the phase in which it was due, also if it failed after that.")}}
	if more > 0 {
		out = append(out, Paragraph{text(fmt.Sprintf("And %s more.", plural.Of(more, "phase")))})
	}
	return out
}
