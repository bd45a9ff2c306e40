package diff

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/report"
)

// Beside matches the cells of an earlier set, A, with those of another one, B, so that its figures can stand beside today's in a
// report. What makes them say nothing beside each other is said of the cells that it is about, not refused: the report
// shows both.
func Beside(then, now *Set, label string) (report.Beside, error) {
	out := report.NewBeside(label, then.Name, then.Results)
	if why := same(then, now); why != "" {
		return out, fmt.Errorf("%s beside %s: %s", then.Name, now.Name, why)
	}
	d := &Diff{A: then, B: now}
	pairs, left := match(then, now, nil)
	d.mismatches(pairs)
	for _, p := range pairs {
		var unlike []string
		for _, m := range d.Mismatches {
			if len(m.Cells) == 0 || slices.Contains(m.Cells, Place(p.coord())) {
				unlike = append(unlike, m.What)
			}
		}
		out.Match(p.b, p.a, unlike)
	}
	for _, m := range d.Mismatches {
		out.Unlike = append(out.Unlike, m.String())
	}
	for _, u := range left {
		where := "only in " + u.Side
		if u.Side == "both" {
			where = "without results"
		}
		out.Unmatched = append(out.Unmatched, fmt.Sprintf("%s, %s: %s", Place(u.Coord), where, u.Why))
	}
	for _, g := range then.Gaps {
		out.Unlike = append(out.Unlike, "A: "+g)
	}
	return out, nil
}
