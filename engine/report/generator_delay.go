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
// where it was above the p99 beside it: apart where the guard own-delay warns of it, and where it does not. Of how many requests
// that says is for the plan to choose (host.guards.own-delay).
func (b *builder) mostDelay() string {
	var most record.Seen
	var at *record.Cell
	var warnedIn, aboveIn []string
	of := 0
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		if !b.loaded(c) || !b.openLoop([]unit{{cell: c}}) {
			continue
		}
		of++
		longest, warned, above := b.delays(c)
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
		return ""
	}
	s := "in open loops its own delay in sending reached " + delayWords(b.name(at.Coord), most)
	if len(warnedIn) > 0 {
		s += fmt.Sprintf("; in %d of %s it held up more requests for longer than the p99 than the guard own-delay lets pass (%s)", len(warnedIn), plural.Of(of, "cell"), list(warnedIn, mostDelayed))
	}
	if len(aboveIn) > 0 {
		s += fmt.Sprintf("; in %d of %s it was above the p99 too, of no more requests than the guard own-delay lets pass (%s)", len(aboveIn), plural.Of(of, "cell"), list(aboveIn, mostDelayed))
	}
	return s
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

// delayWords: 43.0 ms (s / a, beside a p99 of 9.00 ms).
func delayWords(cell string, s record.Seen) string {
	if s.P99 == 0 {
		return fmt.Sprintf("%s ms (%s)", number(s.Delay, series.Timing), cell)
	}
	return fmt.Sprintf("%s ms (%s, beside a p99 of %s ms)", number(s.Delay, series.Timing), cell, number(s.P99, series.Timing))
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
