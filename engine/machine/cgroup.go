package machine

import "github.com/planrun/planrun/engine/proc"

// LimitMemory tells whether the memory of processes can be limited.
func LimitMemory() Offer { return controller("memory limits", "memory") }

// LimitCPU tells whether the CPU time of processes can be limited.
func LimitCPU() Offer { return controller("CPU limits", "cpu") }

// LimitProcesses tells whether the number of processes and threads can be limited.
func LimitProcesses() Offer { return controller("process limits", "pids") }

// controller looks for a place for cgroups as starting a process does, and makes none.
func controller(feature, name string) Offer {
	version, dir, err := proc.CanLimit(name)
	if err != nil {
		return no(feature, "%v", err)
	}
	return yes(feature, "by cgroups of version %d, in %s", version, dir)
}
