package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
)

var limitKind = kind("limit", `Limit what a process may use until the phase ends, by cgroups, where these can be made (planrun env says so; elsewhere the scenario is unsupported). It limits the process with everything that it started, and all that share its cgroup: where the role has limits, all of the role.
A guard says whether the limits were set and read back, and the report how often they were reached: one that nobody came to was in force, and nobody can have felt it. Memory that it holds already counts. Under version 2 the kernel kills if it holds too much and cannot give it back; version 1 refuses the limit then, and the fault is not in force.
Controllers that a cgroup of version 2 has to give to those below it for this (cgroup.subtree_control) stay on when the cgroups are removed: whoever else has cgroups there may use them by then, and would lose its limits with them.`, func() *limit { return &limit{} })

type limit struct {
	OnProcess
	Memory    dsl.Size `yaml:"memory" min:"1MiB" doc:"memory of the process and of all that it started"`
	CPU       float64  `yaml:"cpu" min:"0.01" doc:"CPUs, as a number that may be fractional"`
	Processes int      `yaml:"processes" min:"1" doc:"processes and threads"`
}

// Lasting: it is in force until its phase ends.
func (l *limit) Lasting() bool { return true }

// Check finds what the types do not.
func (l *limit) Check(c *dsl.Check) {
	if !c.Has("memory") && !c.Has("cpu") && !c.Has("processes") {
		c.Errorf("", "nothing says what is limited").Hint = "write one or more of memory, cpu, processes"
	}
}

// DefaultName says what it does.
func (l *limit) DefaultName() string { return "limit of " + l.Process + ": " + l.words() }

func (l *limit) words() string { return asRecorded(l.limits()).Words() }

func asRecorded(l task.Limits) *record.Limits {
	return &record.Limits{Memory: l.Memory, CPU: l.CPU, Processes: l.Processes}
}

func (l *limit) limits() task.Limits {
	return task.Limits{Memory: int64(l.Memory), CPU: l.CPU, Processes: l.Processes}
}

// Adjusts says which limits of which process it changes, as far as is known: it gets a cgroup for them when it is started.
func (l *limit) Adjusts() (process string, which task.Limits) {
	if which = l.limits(); which == (task.Limits{}) {
		which = task.Limits{Memory: 1, CPU: 1, Processes: 1}
	}
	return l.Process, which
}

// Declares which process it uses, and what it needs of the machine.
func (l *limit) Declares() task.Declaration {
	d := l.OnProcess.Declares()
	d.Requires = task.LimitsRequire(int64(l.Memory), l.CPU, l.Processes)
	return d
}

// An adjustable process has limits that can be changed while it runs.
type adjustable interface {
	Limit(journal task.Journal, l task.Limits) (*proc.Changed, error)
	Limited() task.Limits
	Cgroup() string
}

func (l *limit) Run(ctx context.Context, env *task.Env) (err error) {
	procs, err := l.find(env)
	if err != nil {
		return err
	}
	for _, p := range procs {
		if _, ok := p.(adjustable); !ok {
			return fmt.Errorf("process %s was not started here, so its limits cannot be changed", p.Name())
		}
	}
	var changed []*proc.Changed
	over, unfelt := func(task.Effect) {}, ""
	defer func() {
		if unfelt == "" {
			unfelt = l.unheld(procs, "in the end")
		}
		var seen proc.Pressure
		for _, c := range slices.Backward(changed) {
			s, e := c.Restore()
			seen, err = seen.Add(s), errors.Join(err, e)
		}
		over(l.effect(unfelt, seen))
	}()
	if changed, unfelt, err = l.change(procs, env.Journal); err != nil {
		return err
	}
	if unfelt == "" {
		unfelt = l.unheld(procs, "after it was set")
	}
	over = env.Fault(task.Fault{What: "limit of " + named(procs) + ": " + l.words()})
	<-ctx.Done()
	return ended(ctx)
}

// change sets the limits; unfelt is why they cannot be set.
func (l *limit) change(procs []task.Process, journal task.Journal) (changed []*proc.Changed, unfelt string, err error) {
	done := map[string]bool{} // cgroups: processes may share one
	for _, p := range procs {
		a := p.(adjustable)
		group := a.Cgroup()
		if group != "" && done[group] {
			continue
		}
		done[group] = true
		c, err := a.Limit(journal, l.limits())
		if refusal := (*proc.Refusal)(nil); errors.As(err, &refusal) {
			return changed, refusal.Reason, nil
		}
		if err != nil {
			return changed, "", err
		}
		changed = append(changed, c)
	}
	return changed, "", nil
}

// unheld says which of the processes that live is under other limits than these, as the kernel says; "" if none is.
func (l *limit) unheld(procs []task.Process, when string) string {
	for _, p := range procs {
		got := asRecorded(p.(adjustable).Limited())
		if got.Holds(asRecorded(l.limits())) {
			continue
		}
		select {
		case <-p.Exited(): // which is an event of its own
		default:
			return fmt.Sprintf("%s/%d was under other limits %s, as the kernel says: %s", p.Name(), p.Replica(), when, cmp.Or(got.Words(), "none"))
		}
	}
	return ""
}

// effect is what the limit did; unfelt is why it was not in force, "" if it was.
func (l *limit) effect(unfelt string, p proc.Pressure) task.Effect {
	if unfelt != "" {
		return task.Effect{Unfelt: unfelt}
	}
	return task.Effect{Unreached: p.None(), Seen: l.seen(p)}
}

// seen says how often the limits were reached. One that nobody came to was in force, and nobody can have felt it.
func (l *limit) seen(p proc.Pressure) string {
	var out []string
	add := func(reached bool, never, format string, args ...any) {
		if reached {
			never = fmt.Sprintf(format, args...)
		}
		out = append(out, never)
	}
	if l.CPU > 0 {
		add(p.HeldBack > 0, "its CPUs were never used up", "its CPUs were used up in %d of %d periods", p.HeldBack, p.Periods)
	}
	if l.Memory > 0 {
		add(p.MemoryReached+p.Kills > 0, "its memory was never used up", "its memory was used up %d times, and the kernel killed %d processes for want of it", p.MemoryReached, p.Kills)
	}
	if l.Processes > 0 {
		add(p.ForksRefused > 0, "no process more was refused", "%d more processes were refused", p.ForksRefused)
	}
	is := "the limit was set and read back"
	if p.None() {
		is += ", but never reached"
	}
	return is + ": " + strings.Join(out, "; ")
}
