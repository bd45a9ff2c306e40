package actions

import (
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
Memory that it holds already counts. Under version 2 the kernel kills if it holds too much and cannot give it back; version 1 refuses the limit then, and the fault is not in force.`, func() *limit { return &limit{} })

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
		var seen proc.Pressure
		for _, p := range procs {
			if got := p.(adjustable).Limited(); unfelt == "" && !asRecorded(got).Holds(asRecorded(l.limits())) {
				select {
				case <-p.Exited(): // which is an event of its own
				default:
					unfelt = fmt.Sprintf("%s/%d was under other limits in the end", p.Name(), p.Replica())
				}
			}
		}
		for _, c := range slices.Backward(changed) {
			s, e := c.Restore()
			seen, err = seen.Add(s), errors.Join(err, e)
		}
		over(task.Effect{Unfelt: unfelt, Seen: l.seen(seen)})
	}()
	done := map[string]bool{} // cgroups: processes may share one
	for _, p := range procs {
		a := p.(adjustable)
		group := a.Cgroup()
		if group != "" && done[group] {
			continue
		}
		done[group] = true
		c, err := a.Limit(env.Journal, l.limits())
		if refusal := (*proc.Refusal)(nil); errors.As(err, &refusal) {
			unfelt = refusal.Reason
			break
		}
		if err != nil {
			return err
		}
		changed = append(changed, c)
	}
	over = env.Fault(task.Fault{What: "limit of " + named(procs) + ": " + l.words()})
	<-ctx.Done()
	return ended(ctx)
}

// seen says how often the limits were reached.
func (l *limit) seen(p proc.Pressure) string {
	var out []string
	if l.CPU > 0 {
		out = append(out, fmt.Sprintf("its CPUs were used up in %d of %d periods", p.HeldBack, p.Periods))
	}
	if l.Memory > 0 {
		if p.MemoryReached > 0 {
			out = append(out, fmt.Sprintf("its memory was used up %d times", p.MemoryReached))
		}
		out = append(out, fmt.Sprintf("the kernel killed %d processes for want of memory", p.Kills))
	}
	if l.Processes > 0 {
		out = append(out, fmt.Sprintf("%d more processes were refused", p.ForksRefused))
	}
	return "the limit was set; " + strings.Join(out, "; ")
}
