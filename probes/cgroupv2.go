package probes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/cgroups/v3/cgroup2"
)

// version2 has one hierarchy; where is a path in it.
type version2 struct{ mount string }

func (version2) find(pid, engine int) (string, error) {
	path, err := cgroup2.PidGroupPath(pid)
	if err != nil {
		return "", fmt.Errorf("finding its cgroup: %w", err)
	}
	our, err := cgroup2.PidGroupPath(engine)
	if err != nil {
		return "", fmt.Errorf("finding planrun's cgroup: %w", err)
	}
	if path == our || path == "/" {
		return "", fmt.Errorf("it has no cgroup of its own but is in %s, where planrun is too; limits would make one", path)
	}
	return path, nil
}

// read leaves out what the cgroup has no controller for. The library gives zeros for files that are not there, so that
// has to be asked first.
func (v version2) read(path string) (map[string]float64, error) {
	group, err := cgroup2.Load(path, cgroup2.WithMountpoint(v.mount))
	if err != nil {
		return nil, err
	}
	has, err := group.Controllers()
	if err != nil {
		return nil, fmt.Errorf("reading its controllers: %w", err)
	}
	exists := func(file string) bool {
		_, err := os.Stat(filepath.Join(v.mount, path, file))
		return err == nil
	}
	m, err := group.StatFiltered(cgroup2.StatCPU | cgroup2.StatMemory | cgroup2.StatMemoryEvents)
	if err != nil {
		return nil, err
	}
	out := make(map[string]float64)
	var missing []string
	if exists("cpu.stat") { // the time is counted without a controller too
		out[cgCPU] = float64(m.CPU.UsageUsec) / 1e6
		out[cgCPUUser] = float64(m.CPU.UserUsec) / 1e6
		out[cgCPUKernel] = float64(m.CPU.SystemUsec) / 1e6
	}
	if slices.Contains(has, "cpu") {
		out[cgThrottled] = float64(m.CPU.ThrottledUsec) / 1e6
		out[cgThrottles] = float64(m.CPU.NrThrottled)
	} else {
		missing = append(missing, "cpu")
	}
	if slices.Contains(has, "memory") && exists("memory.current") {
		out[cgMemory] = float64(m.Memory.Usage) / mib
		out[cgSockets] = float64(m.Memory.Sock) / mib
		out[cgNoSockets] = (float64(m.Memory.Usage) - float64(m.Memory.Sock)) / mib
		if exists("memory.peak") {
			out[cgMemoryPeak] = float64(m.Memory.MaxUsage) / mib
		}
		if m.MemoryEvents != nil {
			out[cgOOM] = float64(m.MemoryEvents.OomKill)
		}
	} else {
		missing = append(missing, "memory")
	}
	if len(missing) > 0 {
		return out, errors.New("it lacks the controllers " + strings.Join(missing, ", "))
	}
	return out, nil
}
