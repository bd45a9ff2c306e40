package report

import (
	"fmt"
	"math"

	"github.com/planrun/planrun/engine/series"
)

// A shaking is what a disturbance did to the p99.
type shaking struct {
	d disturbance
	c comparison
}

// size is how far the p99 went, as a factor of what it was in quiet; also where failures leave the two no ratio, so that the
// worst are not hidden because they are. Without any success it is unbounded; 0 where nothing is known of the quiet.
func (e shaking) size() float64 {
	switch {
	case e.c.Of.Why != "":
		return math.Inf(1)
	case e.c.To.Why != "" || e.c.To.Value <= 0:
		return 0
	}
	return e.c.Of.Value / e.c.To.Value
}

// say: of a went from 1.20 to 22.3 ms (18.6 times, beyond ...).
func (e shaking) say() string {
	target, now := oneLine(e.d.cell.Coord.Target), number(e.c.Of.Value, series.Timing)
	switch {
	case e.c.Of.Why != "":
		return fmt.Sprintf("of %s is not known (%s)", target, e.c.Of.Why)
	case e.c.To.Why != "":
		return fmt.Sprintf("of %s came to %s ms (not known in quiet: %s)", target, now, e.c.To.Why)
	}
	how := "no ratio: " + e.c.Ratio.NA
	if e.c.Ratio.NA == "" {
		how = times(e.c.Ratio.Value) + ", " + e.c.short()
	}
	return fmt.Sprintf("of %s went from %s to %s ms (%s)", target, number(e.c.To.Value, series.Timing), now, how)
}
