package probes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

var cgroupKind = kind("cgroup",
	`CPU, memory and kills of cgroups: those in which the processes of a name or role run. A process has one of its own when
limits are set for it (or where a container runtime made one). Processes that share a cgroup are one source. A cgroup that
planrun itself is in too says nothing about a process: then there are no samples, and an event says why.`,
	"of", func() *cgroup { return &cgroup{Of: "sut"} })

type cgroup struct {
	Of string `yaml:"of" default:"sut" doc:"the name of a process, or a role"`
	pace

	groups map[string][]task.Process // by where they are
	said   said
}

const (
	cgCPU        = "cgroup_cpu_s"
	cgCPUUser    = "cgroup_cpu_user_s"
	cgCPUKernel  = "cgroup_cpu_kernel_s"
	cgThrottled  = "cgroup_throttled_s"
	cgThrottles  = "cgroup_throttled_periods"
	cgMemory     = "cgroup_memory_mib"
	cgMemoryPeak = "cgroup_memory_peak_mib"
	cgSockets    = "cgroup_socket_mib"
	cgNoSockets  = "cgroup_memory_without_sockets_mib"
	cgOOM        = "cgroup_oom_kills"
)

func (c *cgroup) Produces() []series.SeriesDesc {
	timing, count := series.Timing, series.Count
	return []series.SeriesDesc{
		{Name: cgCPU, Unit: "s", Shape: series.Counter, Class: timing, Doc: "CPU time of the cgroup"},
		{Name: cgCPUUser, Unit: "s", Shape: series.Counter, Class: timing, Doc: "CPU time of the cgroup in user space"},
		{Name: cgCPUKernel, Unit: "s", Shape: series.Counter, Class: timing, Doc: "CPU time of the cgroup in the kernel"},
		{Name: cgThrottled, Unit: "s", Shape: series.Counter, Class: timing, Doc: "time for which the cgroup was held back by its CPU limit, of all CPUs together"},
		{Name: cgThrottles, Shape: series.Counter, Class: timing, Doc: "periods (100 ms, if not set otherwise) in which the CPU limit was reached"},
		{Name: cgMemory, Unit: "MiB", Shape: series.Gauge, Class: count, Doc: "memory of the cgroup with its socket buffers; cached files are part of it"},
		{Name: cgNoSockets, Unit: "MiB", Shape: series.Gauge, Class: count, Doc: "memory of the cgroup without its socket buffers; cached files are part of it"},
		{Name: cgSockets, Unit: "MiB", Shape: series.Gauge, Class: count, Doc: "socket buffers of the cgroup"},
		{Name: cgMemoryPeak, Unit: "MiB", Shape: series.Gauge, Class: count, Doc: "highest memory of the cgroup since it was made; under version 1 without socket buffers"},
		{Name: cgOOM, Shape: series.Counter, Class: count, Doc: "processes of the cgroup that the kernel killed for want of memory"},
		gapsDesc,
	}
}

// Fresh implements task.Fresh.
func (c *cgroup) Fresh() task.Probe { return &cgroup{Of: c.Of, pace: pace{Every: c.Every}} }

func (c *cgroup) Sample(ctx context.Context, env *task.ProbeEnv) error {
	c.step("cgroup", env)
	ps := pick(env.Processes.All(), c.Of)
	if len(ps) == 0 && len(c.groups) == 0 {
		return c.said.once("nobody", nobody(c.Of, env))
	}
	version := cgroupVersion()
	if version == nil {
		return c.said.first(errors.New("this machine has no cgroups that count anything"))
	}
	errs := c.find(version, ps, env.Engine)
	for _, where := range slices.Sorted(maps.Keys(c.groups)) {
		members := c.groups[where]
		if err := ctx.Err(); err != nil {
			return err
		}
		values, err := version.read(where)
		if err != nil && !slices.ContainsFunc(members, alive) {
			delete(c.groups, where) // it went with its processes
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cgroup of %s: %w", members[0].Name(), err))
		}
		at := whose(members)
		for name, v := range values {
			at.T, at.Series, at.V = env.Now, name, v
			env.Emit(at)
		}
	}
	return c.said.first(errs...)
}

// find notes where processes are. A cgroup is read for as long as it is there: what killed its last process is still
// to be seen in it.
func (c *cgroup) find(version cgroups, ps []task.Process, engine int) (errs []error) {
	if c.groups == nil {
		c.groups = make(map[string][]task.Process)
	}
	for _, p := range ps {
		if over(p) {
			continue
		}
		where, err := version.find(p.PID(), engine)
		if err != nil && !over(p) {
			errs = append(errs, fmt.Errorf("%s: %w", p.Name(), err))
		}
		if where != "" && !slices.Contains(c.groups[where], p) {
			c.groups[where] = append(c.groups[where], p)
		}
	}
	return errs
}

func alive(p task.Process) bool { return !over(p) }

// whose names the source of a cgroup: its one process or replica, else what its members have in common.
func whose(members []task.Process) series.Point {
	first := members[0]
	pt := series.Point{Source: first.Name(), Replica: first.Replica(), Role: first.Role()}
	var names []string
	for _, m := range members {
		if m.Role() != pt.Role {
			pt.Role = ""
		}
		if m.Replica() != pt.Replica {
			pt.Replica = 0
		}
		names = append(names, m.Name())
	}
	slices.Sort(names)
	pt.Source = strings.Join(slices.Compact(names), "+")
	return pt
}

// A cgroups reads one version of cgroups. Where is what find gives and read takes; an error beside it says what of the
// figures will be missing, an empty where that all will.
type cgroups interface {
	find(pid, engine int) (where string, err error)
	read(where string) (map[string]float64, error)
}
