package diff

import (
	"fmt"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// hostSpeeds says of which cells the machine was slower on one side than on the other, as a fixed piece of work told: two
// differences at most, of the cells for which A was slower and of those for which B was.
func hostSpeeds(pairs []pair) (out []Difference) {
	inA, inB := slower{side: "A"}, slower{side: "B"}
	for _, p := range pairs {
		c, apart := compare.HostSpeed(p.sideB, p.sideA)
		switch {
		case !apart:
		case c.Ratio.Value < 1:
			inB.add(p, c)
		default:
			inA.add(p, c)
		}
	}
	for _, s := range []slower{inA, inB} {
		if len(s.cells) > 0 {
			out = append(out, s.difference())
		}
	}
	return out
}

// slower are the cells during which the machine was slower on one side, with its speeds on both.
type slower struct {
	side  string
	cells []string
	a, b  []float64
}

func (s *slower) add(p pair, c compare.Comparison) {
	s.cells, s.a, s.b = append(s.cells, Place(p.coord())), append(s.a, c.To.Value), append(s.b, c.Of.Value)
}

// difference puts it into words, of several cells by the medians of their speeds.
func (s *slower) difference() Difference {
	a, b := stats.Median(s.a), stats.Median(s.b)
	x, y := report.Number(a, series.Timing), report.Number(b, series.Timing)
	return Difference{Group: Environment, Where: "host_speed", A: x, B: y, Words: fmt.Sprintf(
		"the host was %.0f %% slower in %s (pieces of reference work in a millisecond of CPU time: %s), so CPU times and rates may differ for that alone, of %s",
		100*(1-min(a, b)/max(a, b)), s.side, sides(x, y), some(s.cells))}
}
