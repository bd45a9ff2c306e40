package kernel

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// cpuSet makes the kernel's mask. A CPU that no mask can hold is an error.
func cpuSet(cpus []int) (unix.CPUSet, error) {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
		if !set.IsSet(c) {
			return set, fmt.Errorf("there is no CPU %d", c)
		}
	}
	return set, nil
}

func cpuList(set *unix.CPUSet) []int {
	var out []int
	for c := 0; len(out) < set.Count(); c++ {
		if set.IsSet(c) {
			out = append(out, c)
		}
	}
	return out
}

// Pin pins the calling thread to the CPUs; threads and processes that it makes inherit that.
func Pin(cpus []int) error {
	set, err := cpuSet(cpus)
	if err != nil {
		return err
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pinning to CPUs %v: %w", cpus, err)
	}
	return nil
}

// Affinity returns the CPUs on which a thread (0: the calling one) may run, sorted.
func Affinity(tid int) ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		return nil, fmt.Errorf("reading the CPUs of thread %d: %w", tid, err)
	}
	return cpuList(&set), nil
}

// Threads returns the CPUs of every thread of a process by thread id; threads that ended meanwhile are left out.
func Threads(pid int) (map[int][]int, error) {
	dir, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil, fmt.Errorf("reading the threads of process %d: %w", pid, err)
	}
	out := map[int][]int{}
	for _, e := range dir {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if cpus, err := Affinity(tid); err == nil {
			out[tid] = cpus
		}
	}
	return out, nil
}
