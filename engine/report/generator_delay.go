package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/plural"
)

// mostDelayed bounds the cells that are named because the generator's own delay was above their p99.
const mostDelayed = 3

// mostDelay is the generator's longest own delay in sending, of open loops (in a closed one a request is due when it is sent), and
// where it was above the p99 beside it.
func (b *builder) mostDelay() Text {
	var most record.Seen
	var at *record.Cell
	var warnedIn, aboveIn []string
	of := 0
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		longest, warned, above := b.delays(c)
		if !b.loaded(c) || longest.Delay == 0 && !b.openLoop([]unit{{cell: c}}) {
			continue
		}
		of++
		if longest.Delay == 0 { // no guard tells of it: nothing was answered
			longest.Delay = b.ownLag(c)
		}
		if longest.Delay > most.Delay {
			most, at = longest, c
		}
		switch {
		case warned.Delay > 0:
			warnedIn = append(warnedIn, delayWords(b.name(c.Coord), warned))
		case above.Delay > 0:
			aboveIn = append(aboveIn, delayWords(b.name(c.Coord), above))
		}
	}
	if at == nil {
		return nil
	}
	return text("In open loops the load generator's own delay in sending reached "+delayWords(b.name(at.Coord), most), aboveWords(of, warnedIn, aboveIn))
}

// aboveWords says in how many of so many cells the generator's own delay was above the p99 of its run: where the guard own-delay
// warns of that, and where it was so of too few requests. Of how many it warns is for the plan to choose (host.guards.own-delay).
func aboveWords(of int, warnedIn, aboveIn []string) Text {
	if len(warnedIn)+len(aboveIn) == 0 {
		return nil
	}
	const few = "of no more requests than the guard own-delay lets pass"
	t := text(fmt.Sprintf(". It was above the p99 of its run in %d of %s: ", len(warnedIn)+len(aboveIn), plural.Of(of, "cell")))
	if len(warnedIn) == 0 {
		return text(t, few+" (", list(aboveIn, mostDelayed), ")")
	}
	t = text(t, fmt.Sprintf("in %d of these of more requests than the guard own-delay lets pass (", len(warnedIn)), list(warnedIn, mostDelayed), ")")
	if len(aboveIn) > 0 {
		t = text(t, fmt.Sprintf(", in %d %s (", len(aboveIn), few), list(aboveIn, mostDelayed), ")")
	}
	return t
}

// delays are of a cell the longest own delay of a run, of those of which the guard own-delay warned, and of the others that were
// above the p99 of their run; zero where there is none.
func (b *builder) delays(c *record.Cell) (longest, warned, above record.Seen) {
	keep := func(most *record.Seen, s *record.Seen) {
		if s.Delay > most.Delay {
			*most = *s
		}
	}
	for s, held := range b.sawOf(c, "own-delay") {
		keep(&longest, s)
		switch {
		case !held:
			keep(&warned, s)
		case s.Above > 0:
			keep(&above, s)
		}
	}
	return longest, warned, above
}

// delayWords: 43.0 ms in s / a, beside a p99 of 9.00 ms.
func delayWords(cell string, s record.Seen) string {
	words := fmt.Sprintf("%s ms in %s", number(s.Delay, series.Timing), cell)
	if s.P99 > 0 {
		words += fmt.Sprintf(", beside a p99 of %s ms", number(s.P99, series.Timing))
	}
	return words
}

// ownLag is the largest delay of the generator itself in sending a request of a cell, in milliseconds: after both the request
// and a connection were there.
func (b *builder) ownLag(c *record.Cell) (ms float64) {
	for _, id := range c.Runs {
		if r := b.runs[id]; r != nil {
			for _, l := range r.Loads {
				for phase, n := range l.Totals {
					if r.Counts(&l, phase) {
						ms = max(ms, float64(n.StalledLagNs)/1e6)
					}
				}
			}
		}
	}
	return ms
}
