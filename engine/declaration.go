package engine

import (
	"cmp"
	"os/exec"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

// A loadDecl is a load that a scenario runs.
type loadDecl struct {
	name     string
	headline bool
	counts   bool // by who answered
}

// declared is what the actions of one cell bring: before anything runs, names and figures are known from it.
type declared struct {
	processes []task.ProcessDecl
	loads     []loadDecl
	metrics   []series.Desc
	values    []string
	programs  []string // that the target, its backends and the setup cannot do without
	further   []string // likewise the scenario
	extras    []string // of optional actions
	faults    bool     // something is broken in its phases
	requires  []requirement
}

// endpoints lists the names of ports that the target's processes listen on.
func (d *declared) endpoints() (out []string) {
	for _, p := range d.processes {
		if p.Role == "" || p.Role == "sut" || p.Role == "balancer" {
			out = append(out, p.Listen...)
		}
	}
	return out
}

// ports lists the names of ports that any process listens on.
func (d *declared) ports() (out []string) {
	for _, p := range d.processes {
		out = append(out, p.Listen...)
		if p.Role == "backends" && len(p.Listen) == 0 {
			out = append(out, "http")
		}
	}
	return out
}

// running lists the names and roles of the processes of an installation. A target that already runs elsewhere has none, which
// is no mistake of a scenario that asks for them.
func (d *declared) running() (out []string) {
	out = []string{"sut"}
	for _, p := range d.processes {
		out = append(out, p.Name, cmp.Or(p.Role, "sut"))
	}
	return out
}

// own is which of planrun's own servers the target is; "" if it is anything else, or not that alone.
func (d *declared) own() (kind string) {
	for _, p := range d.processes {
		switch {
		case cmp.Or(p.Role, "sut") != "sut":
		case p.Builtin == "" || kind != "" && kind != p.Builtin:
			return ""
		default:
			kind = p.Builtin
		}
	}
	return kind
}

// walkActions calls f for every action, those in undo lists and in repeat included.
func walkActions(actions []dsl.Part[dsl.Action], f func(*dsl.Part[dsl.Action])) {
	for i := range actions {
		f(&actions[i])
		walkActions(actions[i].Val.Undo, f)
		if n, ok := actions[i].Val.Spec.(task.Nested); ok {
			walkActions(n.Actions(), f)
		}
	}
}

// declares collects what a list of actions brings; the programs that they cannot do without go into needed.
func (d *declared) declares(actions []dsl.Part[dsl.Action], needed *[]string) {
	walkActions(actions, func(a *dsl.Part[dsl.Action]) {
		if h, ok := a.Val.Spec.(interface{ InHeadline() bool }); ok {
			l := loadDecl{name: actionName(a), headline: h.InHeadline()}
			if by, ok := a.Val.Spec.(interface{ CountsAnswerers() bool }); ok {
				l.counts = by.CountsAnswerers()
			}
			d.loads = append(d.loads, l)
		}
		if s, ok := a.Val.Spec.(task.Declarer); ok {
			x := s.Declares()
			d.processes, d.metrics, d.values = append(d.processes, x.Processes...), append(d.metrics, x.Metrics...), append(d.values, x.Values...)
			for _, feature := range x.Requires {
				d.requires = append(d.requires, requirement{feature, a.PosOf(a.Val.Kind)})
			}
			into := needed
			if a.Val.Optional {
				into = &d.extras
			}
			*into = append(*into, x.Programs...)
			for _, p := range x.Processes {
				*into = append(*into, p.Programs...)
			}
		}
	})
}

// actionName is what load("...") and messages call an action.
func actionName(a *dsl.Part[dsl.Action]) string {
	if a.Val.Name != "" {
		return a.Val.Name
	}
	if n, ok := a.Val.Spec.(interface{ DefaultName() string }); ok && n.DefaultName() != "" {
		return n.DefaultName()
	}
	return a.Val.Kind
}

// declaration lists what a cell's actions bring, with the processes of its backends.
func (c *compilation) declaration(cell *Cell) *declared {
	d := &declared{}
	for _, b := range c.backends {
		v := b.Val
		if len(v.Address) == 0 {
			d.processes = append(d.processes, task.ProcessDecl{Name: b.Name, Role: "backends", Replicas: v.Replicas, Listen: v.Listen})
			d.programs = append(d.programs, v.Command[:min(1, len(v.Command))]...)
		}
	}
	d.declares(c.Plan.Setup, &d.programs)
	d.declares(cell.Target.Val.Install, &d.programs)
	for _, p := range cell.Scenario.Val.Phases {
		d.declares(p.Val.Do, &d.further)
		d.faults = d.faults || p.Val.Kind == "fault"
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) { d.faults = d.faults || measure.Breaks(a.Val.Kind) })
	}
	c.requiresLimits(cell, d)
	return d
}

// notHere lists those of some programs that are not on PATH.
func notHere(programs []string) (out []string) {
	for _, prog := range programs {
		if strings.Contains(prog, "/") {
			continue // it is found from where it is written, when it is started
		}
		if _, err := exec.LookPath(prog); err != nil && prog != "" && !slices.Contains(out, prog) {
			out = append(out, prog)
		}
	}
	return out
}
