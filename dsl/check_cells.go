package dsl

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl/diag"
)

// A Pattern of only or skip that the plan itself says.
type Pattern struct {
	Text     string
	Pos, End diag.Pos
}

// Chosen are the patterns of only or skip that the plan itself says, whatever the command line said beside them.
func (p *Plan) Chosen(key string) (out []Pattern) {
	for _, n := range textsOf(p.chosen[key]) {
		out = append(out, Pattern{n.text, n.pos(), n.end()})
	}
	return out
}

// checkCells checks that only and skip name what the plan has. Values of axes are known once expressions are, and what the
// command line said is checked by whoever read it.
func (p *Plan) checkCells(d *decoder) {
	known := slices.Concat([]string{"*"}, p.Targets.Names(), p.Scenarios.Names())
	if len(p.Schedule) == 0 {
		known = append(known, "all")
	}
	var axes []string
	for i := range p.Schedule {
		known = append(known, p.Schedule[i].Val.Stage)
	}
	for i := range p.Scenarios {
		for _, axis := range p.Scenarios[i].Val.Matrix {
			axes = append(axes, axis.Name)
		}
	}
	for _, key := range []string{"only", "skip"} {
		for _, n := range p.Chosen(key) {
			for _, part := range strings.Split(n.Text, "/") {
				axis, _, is := strings.Cut(part, "=")
				if slices.Contains(known, part) || is && slices.Contains(axes, axis) {
					continue
				}
				x := d.probs.Addf(n.Pos, "%s: the plan has no stage, target, scenario or axis=value %q", key, part)
				x.Hint, x.End = Suggest(part, known[1:], "there are"), n.End
			}
		}
	}
}
