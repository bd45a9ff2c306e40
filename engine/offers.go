package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/task"
)

// A requirement is something that a cell needs of the machine beside programs, with what needs it.
type requirement struct {
	feature string // as task names it
	pos     diag.Pos
}

// offered tries out what this machine offers.
func offered(feature string) machine.Offer {
	switch feature {
	case task.Nftables:
		return machine.Nftables()
	case task.MemoryLimits:
		return machine.LimitMemory()
	case task.CPULimits:
		return machine.LimitCPU()
	case task.ProcessLimits:
		return machine.LimitProcesses()
	}
	return machine.Offer{Feature: feature, Detail: "planrun knows no such feature"}
}

// offer is tried out once.
func (p *Program) offer(feature string) machine.Offer {
	o, ok := p.offers[feature]
	if !ok {
		o = p.tryOffer(feature)
		p.offers[feature] = o
	}
	return o
}

// lacking says in words what a cell needs and this machine lacks; "" if nothing.
func (p *Program) lacking(c *Cell) string {
	var out []string
	for _, r := range c.declared.requires {
		if o := p.offer(r.feature); !o.OK {
			out = append(out, fmt.Sprintf("%s: %s", o.Feature, o.Detail))
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "; ")
}

// checkOffers warns of what this machine lacks, at what needs it: its cells are a result, unsupported.
func (c *compilation) checkOffers(cell *Cell) {
	for _, r := range cell.declared.requires {
		if o := c.offer(r.feature); !o.OK {
			w := c.list.Addf(r.pos, "this machine does not offer %s, so scenario %q will be unsupported for target %q: %s", o.Feature, cell.Coord.Scenario, cell.Coord.Target, o.Detail)
			w.Hint, w.Warning = "planrun env says what it offers", true
		}
	}
}

// requiresOf lists what limits need.
func requiresOf(l dsl.Limits, pos diag.Pos) (out []requirement) {
	for _, feature := range task.LimitsRequire(int64(l.Memory), l.CPU, l.Processes) {
		out = append(out, requirement{feature, pos})
	}
	return out
}

// requiresLimits adds what the cell's limits of roles and of its backends need.
func (c *compilation) requiresLimits(cell *Cell, d *declared) {
	for _, l := range cell.Limits {
		pos := cell.Target.PosOf("limits", l.Name)
		if slices.Contains(cell.Scenario.Val.Limits.Names(), l.Name) {
			pos = cell.Scenario.PosOf("limits", l.Name)
		}
		d.requires = append(d.requires, requiresOf(l.Val, pos)...)
	}
	for i := range c.backends {
		d.requires = append(d.requires, requiresOf(c.backends[i].Val.Limits, c.backends[i].PosOf("limits"))...)
	}
}

// adjusts finds whose limits a scenario changes while they run.
func adjusts(s *dsl.Scenario) map[string]task.Limits {
	out := map[string]task.Limits{}
	for _, p := range s.Phases {
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) {
			x, ok := a.Val.Spec.(interface {
				Adjusts() (process string, which task.Limits)
			})
			if !ok {
				return
			}
			name, l := x.Adjusts()
			was := out[name]
			out[name] = task.Limits{Memory: max(was.Memory, min(l.Memory, 1)), CPU: max(was.CPU, math.Ceil(min(l.CPU, 1))), Processes: max(was.Processes, min(l.Processes, 1))}
		})
	}
	return out
}

// A Wanted is a feature of the machine that cells need.
type Wanted struct {
	machine.Offer
	Cells int // that need it
}

// Wants lists the features of the machine that the plan's cells need, by name.
func (p *Program) Wants() (out []Wanted) {
	for _, feature := range []string{task.CPULimits, task.MemoryLimits, task.Nftables, task.ProcessLimits} {
		n := 0
		for _, c := range p.Cells {
			if slices.ContainsFunc(c.declared.requires, func(r requirement) bool { return r.feature == feature }) {
				n++
			}
		}
		if n > 0 {
			out = append(out, Wanted{p.offer(feature), n})
		}
	}
	return out
}
