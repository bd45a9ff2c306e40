package engine

import (
	"fmt"
	"time"

	"github.com/planrun/planrun/dsl"
)

// checkProcesses finds actions on replicas that there are not, and those that last longer than their phase.
func (c *compilation) checkProcesses(cell *Cell, d *declared) {
	for _, p := range cell.Scenario.Val.Phases {
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) {
			c.checkReplica(cell, d, a)
			c.checkLength(&p, a)
		})
	}
	walkActions(cell.Target.Val.Install, func(a *dsl.Part[dsl.Action]) { c.checkReplica(cell, d, a) })
}

// checkReplica finds a replica that its process does not have at any time, if its replicas are known.
func (c *compilation) checkReplica(cell *Cell, d *declared, a *dsl.Part[dsl.Action]) {
	m, ok := a.Val.Spec.(interface {
		OnReplica() (process string, replica int, one bool)
	})
	if !ok {
		return
	}
	process, replica, one := m.OnReplica()
	if n, known := d.mostReplicas(cell, process); one && known && n > 0 && replica >= n {
		has := fmt.Sprintf("has %d, counted from 0", n)
		if n == 1 {
			has = "has one, which is replica 0"
		}
		c.list.Addf(a.PosOf(a.Val.Kind, "replica"), "there is no replica %d of %s: it %s", replica, process, has).Hint = fmt.Sprintf("write 0 to %d, or leave replica out for all of them", n-1)
	}
}

// mostReplicas is how many replicas a process has at most; 0 if there is no such process.
func (d *declared) mostReplicas(cell *Cell, process string) (n int, known bool) {
	for _, p := range d.processes {
		if p.Name != process {
			continue
		}
		if p.Replicas == 0 {
			return 0, false
		}
		n = max(n, p.Replicas)
	}
	known = true
	for _, p := range cell.Scenario.Val.Phases {
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) {
			s, scales := a.Val.Spec.(interface{ Scales() string })
			if !scales || s.Scales() != process {
				return
			}
			if len(a.Holes()) > 0 {
				known = false
			} else if to, ok := a.Val.Spec.(interface {
				Size() (to int, over time.Duration)
			}); ok {
				size, _ := to.Size()
				n = max(n, size)
			}
		})
	}
	return n, known
}

// checkLength finds actions that take as long as what is left of their phase, or longer: they would still be running when it
// ends, which is an error of the run.
func (c *compilation) checkLength(p *dsl.Part[dsl.Phase], a *dsl.Part[dsl.Action]) {
	s, ok := a.Val.Spec.(interface{ Takes() time.Duration })
	if !ok || p.Val.For == 0 || s.Takes() == 0 {
		return
	}
	at := a.Val.At.In(p.Val.For)
	if a.Val.Every > 0 && at < p.Val.For { // the last time
		at += (p.Val.For - at - 1) / a.Val.Every * a.Val.Every
	}
	if at < p.Val.For && at+s.Takes() >= p.Val.For {
		c.list.Addf(a.PosOf(a.Val.Kind, "for"), "it begins at %v and goes on for %v, but its phase %s ends after %v", at, s.Takes(), p.Val.Name, p.Val.For).Hint =
			"write a shorter for, give the phase more time, or leave for out: it ends with its phase then"
	}
}
