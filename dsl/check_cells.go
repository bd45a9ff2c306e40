package dsl

import (
	"slices"
	"strings"
)

// checkCells checks that only and skip name what the plan has. What the command line said is checked by whoever read it.
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
		if p.Flagged(key) {
			continue
		}
		for _, n := range textsOf(d.root.get(key)) {
			for _, part := range strings.Split(n.text, "/") {
				axis, _, is := strings.Cut(part, "=")
				if slices.Contains(known, part) || is && slices.Contains(axes, axis) {
					continue
				}
				x := d.probs.Addf(n.pos(), "%s: the plan has no stage, target, scenario or axis=value %q", key, part)
				x.Hint, x.End = Suggest(part, known[1:], "there are"), n.end()
			}
		}
	}
}
