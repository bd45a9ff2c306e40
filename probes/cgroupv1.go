package probes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	cgroupslib "github.com/containerd/cgroups/v3"
	"github.com/containerd/cgroups/v3/cgroup1"
	v1 "github.com/containerd/cgroups/v3/cgroup1/stats"
)

// cgroupVersion is the version that has controllers here; nil if none has.
func cgroupVersion() cgroups {
	switch cgroupslib.Mode() {
	case cgroupslib.Unified:
		return version2{mount: "/sys/fs/cgroup"}
	case cgroupslib.Hybrid, cgroupslib.Legacy:
		return version1{}
	}
	return nil
}

// version1 has a hierarchy for each controller; where a process has a cgroup of its own in only some of them, only those
// are read. Where is "controller=path" for each, separated by semicolons.
type version1 struct{}

var controllers1 = []cgroup1.Name{cgroup1.Cpu, cgroup1.Cpuacct, cgroup1.Memory}

func (version1) find(pid, engine int) (string, error) {
	its, ours := cgroup1.PidPath(pid), cgroup1.PidPath(engine)
	var where []string
	var shared []string
	for _, name := range controllers1 {
		path, err := its(name)
		if errors.Is(err, cgroup1.ErrControllerNotActive) {
			shared = append(shared, string(name))
			continue
		}
		if err != nil {
			return "", fmt.Errorf("finding its cgroup: %w", err)
		}
		if our, err := ours(name); err != nil || path == our || path == "/" {
			shared = append(shared, string(name))
			continue
		}
		where = append(where, string(name)+"="+path)
	}
	if len(shared) == 0 {
		return strings.Join(where, ";"), nil
	}
	return strings.Join(where, ";"), fmt.Errorf("it has no cgroup of its own for %s; limits would make one", strings.Join(shared, ", "))
}

func (version1) read(where string) (map[string]float64, error) {
	paths := make(map[cgroup1.Name]string)
	for part := range strings.SplitSeq(where, ";") {
		if name, path, ok := strings.Cut(part, "="); ok {
			paths[cgroup1.Name(name)] = path
		}
	}
	only := func() ([]cgroup1.Subsystem, error) {
		all, err := cgroup1.Default()
		return slices.DeleteFunc(all, func(s cgroup1.Subsystem) bool { return paths[s.Name()] == "" }), err
	}
	load := func(name cgroup1.Name) (string, error) { return paths[name], nil }
	group, err := cgroup1.Load(load, cgroup1.WithHierarchy(only))
	if err != nil {
		return nil, err
	}
	m, err := group.Stat()
	if err != nil {
		return nil, err
	}
	out := make(map[string]float64)
	if paths[cgroup1.Cpu] != "" {
		out[cgThrottled] = float64(m.CPU.Throttling.ThrottledTime) / 1e9
		out[cgThrottles] = float64(m.CPU.Throttling.ThrottledPeriods)
	}
	if paths[cgroup1.Cpuacct] != "" {
		out[cgCPU] = float64(m.CPU.Usage.Total) / 1e9
		out[cgCPUUser] = float64(m.CPU.Usage.User) / 1e9
		out[cgCPUKernel] = float64(m.CPU.Usage.Kernel) / 1e9
	}
	if paths[cgroup1.Memory] == "" || m.Memory == nil {
		return out, nil
	}
	return out, memory1(m, out)
}

// memory1 adds the memory. Version 1 counts socket buffers apart, and only from when a limit is set for them.
func memory1(m *v1.Metrics, out map[string]float64) error {
	out[cgNoSockets] = float64(m.Memory.Usage.Usage) / mib
	out[cgMemoryPeak] = float64(m.Memory.Usage.Max) / mib
	out[cgOOM] = float64(m.MemoryOomControl.OomKill)
	const unlimited = 1<<63 - 1<<13 // what the kernel prints for no limit is this or a page more
	if m.Memory.KernelTCP.Limit >= unlimited {
		return errors.New("its socket buffers are not counted, since there is no limit for them (memory.kmem.tcp.limit_in_bytes)")
	}
	out[cgSockets] = float64(m.Memory.KernelTCP.Usage) / mib
	out[cgMemory] = float64(m.Memory.Usage.Usage+m.Memory.KernelTCP.Usage) / mib
	return nil
}
