package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"

	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// sentInTime is the least share of the requests due in a window that are sent in it where nothing keeps them waiting.
const sentInTime = 0.98

// ownStall is the generator's own delay in sending, in milliseconds, above which it may be what kept requests waiting.
const ownStall = 500

// A crowd is requests of an open loop that waited because no connection was free: what was due in a phase of all runs of a cell,
// and what was sent in it.
type crowd struct {
	cell   *record.Cell
	load   string
	phase  string
	spec   load.Spec
	runs   []*record.Run
	counts load.Counts
}

// never are the requests that had no connection to come: they failed to connect, or the generator could not send them.
func (c crowd) never() int64 {
	return c.counts.Generator + c.counts.Errors[load.Connect] + c.counts.Errors[load.TLS]
}

// share is that of the requests with a connection to come which were sent in the phase.
func (c crowd) share() float64 { return float64(c.counts.Sent) / float64(c.counts.Due-c.never()) }

// mostCrowds bounds the cells that are named.
const mostCrowds = 3

// crowded says in the findings where requests were due and could not be sent, because all that the pool allows was in use:
// the phase of each cell in which least of them were sent in time.
func (b *builder) crowded() (items []Text) {
	all := b.crowds()
	for i, c := range all {
		if i == mostCrowds {
			return append(items, text(fmt.Sprintf("Nor was a connection free in %s more.", plural.Of(len(all)-mostCrowds, "cell"))))
		}
		items = append(items, text(strong("No connection was free in "+b.name(c.cell.Coord)), fmt.Sprintf(" (%s): of %s due in phase %s of its %s, %s were sent in it (%s), the others waited. Requests a second count each where it was due.",
			pool(c.spec), plural.Of(int(c.counts.Due), "request"), oneLine(c.phase), plural.Of(distinct(c.runs), "run"), c.sent(), percent(float64(c.counts.Sent)/float64(c.counts.Due)))))
	}
	return items
}

// sent says how many were sent in the phase, and of how many nothing of the kind was to be expected.
func (c crowd) sent() string {
	s := grouped(float64(c.counts.Sent))
	if n := c.never(); n > 0 {
		s = fmt.Sprintf("%s had no connection to come and %s", grouped(float64(n)), s)
	}
	return s
}

// crowds are the cells in which requests waited, those first in which the least of them were sent in time.
func (b *builder) crowds() (all []crowd) {
	for i := range b.res.Cells {
		if c, ok := b.crowd(&b.res.Cells[i]); ok {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(x, y crowd) int { return cmp.Compare(x.share(), y.share()) })
	return all
}

// crowd is the phase and load of a cell in which the least of what was due was sent in time, if that was clearly not all.
func (b *builder) crowd(cell *record.Cell) (worst crowd, ok bool) {
	if b.ownLag(cell) > ownStall {
		return worst, false
	}
	for _, c := range b.openPhases(cell) {
		if c.counts.Due > c.never() && c.share() < sentInTime && (!ok || c.share() < worst.share()) {
			worst, ok = c, true
		}
	}
	return worst, ok
}

// openPhases are the phases that count of a cell's loads that are open loops, each with what was due and sent in it in all runs.
func (b *builder) openPhases(cell *record.Cell) (all []crowd) {
	for _, id := range cell.Runs {
		r := b.runs[id]
		if r == nil {
			continue
		}
		for l, phase := range phasesOf(r) {
			if len(l.Spec.Rate) == 0 || record.IsBetween(phase) || !r.Counts(&l, phase) {
				continue
			}
			name := record.LoadName(l.Name)
			i := slices.IndexFunc(all, func(c crowd) bool { return c.load == name && c.phase == phase })
			if i < 0 {
				i, all = len(all), append(all, crowd{cell: cell, load: name, phase: phase, spec: l.Spec})
			}
			all[i].runs = append(all[i].runs, r)
			record.AddCounts(&all[i].counts, l.Totals[phase])
		}
	}
	return all
}
