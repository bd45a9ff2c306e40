package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// sentInTime is the least share of the requests due in a window that are sent in it where nothing keeps them waiting.
const sentInTime = 0.98

// ownStall is the generator's own delay in sending, in milliseconds, above which it may be what kept requests waiting.
const ownStall = 500

// A crowd is requests of an open loop that waited because no connection was free.
type crowd struct {
	cell      *record.Cell
	phase     string
	spec      load.Spec
	sent, due int64
}

func (c crowd) share() float64 { return float64(c.sent) / float64(c.due) }

// mostCrowds bounds the cells that are named.
const mostCrowds = 3

// crowded says in the findings where requests were due and could not be sent, because all that the pool allows was in use:
// the phase of each cell in which least of them were sent in time.
func (b *builder) crowded() (items []Text) {
	var all []crowd
	for i := range b.res.Cells {
		if c, ok := b.crowd(&b.res.Cells[i]); ok {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(x, y crowd) int { return cmp.Compare(x.share(), y.share()) })
	for i, c := range all {
		if i == mostCrowds {
			return append(items, text(fmt.Sprintf("Nor was a connection free in %s more.", plural.Of(len(all)-mostCrowds, "cell"))))
		}
		items = append(items, text(strong("No connection was free in "+b.name(c.cell.Coord)), fmt.Sprintf(" (%s): in phase %s %s of %s that were due were sent (%s), the others waited. Requests a second count each where it was due.",
			pool(c.spec), oneLine(c.phase), grouped(float64(c.sent)), plural.Of(int(c.due), "request"), number(100*c.share(), series.Timing)+" %")))
	}
	return items
}

func (b *builder) crowd(cell *record.Cell) (worst crowd, ok bool) {
	if b.ownLag(cell) > ownStall {
		return worst, false
	}
	for _, id := range cell.Runs {
		r := b.runs[id]
		if r == nil {
			continue
		}
		for l, phase := range phasesOf(r) {
			n := l.Totals[phase]
			c := crowd{cell, phase, l.Spec, n.Sent, n.Due - n.Generator - n.Errors[load.Connect] - n.Errors[load.TLS]}
			if len(l.Spec.Rate) == 0 || record.IsBetween(phase) || !r.Counts(&l, phase) || c.due <= 0 || c.share() >= sentInTime || ok && c.share() >= worst.share() {
				continue
			}
			worst, ok = c, true
		}
	}
	return worst, ok
}
