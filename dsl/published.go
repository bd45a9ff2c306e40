package dsl

import (
	"fmt"

	"github.com/planrun/planrun/dsl/diag"
)

// IsPublished reports whether the plan is one of figures that others published: nothing of it can be run.
func (p *Plan) IsPublished() bool { return p.l != nil && p.l.published }

// PosOf is the place of what a key at the top of the plan holds; the plan's file where it is not written.
func (p *Plan) PosOf(key string) diag.Pos {
	if n := p.root.get(key); n != nil {
		return n.pos()
	}
	return diag.Pos{File: p.File}
}

// What a plan of published figures has none of, because it would be run.
var (
	unpublishedPlan     = []string{"host", "setup", "backends", "relays", "loads", "probes", "fresh"}
	unpublishedTarget   = []string{"install", "routes-changed", "version", "endpoints", "limits"}
	unpublishedScenario = []string{"phases", "matrix", "vars", "with", "limits", "relays", "fresh", "when"}
	unpublishedStage    = []string{"order", "seed", "rounds", "together", "probes"}
)

// notPublished reports the keys of a mapping that have no meaning in a plan of published figures.
func (d *decoder) notPublished(n *node, keys []string) {
	for _, key := range keys {
		if n.get(key) != nil {
			d.errorf(keyOf(n, key), "%s has no meaning in a plan of published figures", key).Hint = "nothing of such a plan is run: leave it out, or leave out published"
		}
	}
}

// figures checks what a scenario has instead of phases where its plan is one of published figures, and only there.
func (c *Check) figures() {
	if !c.d.l.published {
		if c.Has("figures") {
			c.Errorf("figures", "only a plan of published figures has them").Hint = "add published: WHO PUBLISHED THEM to the plan, or write phases instead"
		} else if !c.Has("phases") {
			c.Errorf("", "phases is missing").Hint = "add phases: its phases, one after another"
		}
		return
	}
	c.d.notPublished(c.n, unpublishedScenario)
	if !c.Has("figures") {
		c.Errorf("", "figures is missing").Hint = "add figures: the metrics that were published of it"
	}
}

// checkPublished checks what goes beyond single parts of a plan of published figures. A row of a file of figures names a
// scenario and a target, so these have to be one cell.
func (p *Plan) checkPublished(d *decoder) {
	at := d.root.get("published")
	if at == nil {
		return
	}
	if p.Published == "" {
		d.errorf(at, "published: it does not say by whom").Hint = "write who measured and published the figures, where and when: the report says so"
	}
	d.notPublished(d.root, unpublishedPlan)
	in := map[string]string{} // scenario and target -> stage
	for i := range p.Schedule {
		s := &p.Schedule[i]
		scenarios, targets := s.Val.Scenarios, s.Val.Targets
		if len(scenarios) == 0 {
			scenarios = p.Scenarios.Names()
		}
		if len(targets) == 0 {
			targets = p.Targets.Names()
		}
		said := false
		for _, sc := range scenarios {
			for _, t := range targets {
				key := fmt.Sprintf("%q on %q", sc, t)
				if before, twice := in[key]; twice && !said {
					said = true
					d.errorf(s.n, "the stage %q has %s too, as %q has", s.Val.Stage, key, before).Hint = "figures of a scenario and a target belong to one stage; leave it out of one of them"
				}
				in[key] = s.Val.Stage
			}
		}
	}
}
