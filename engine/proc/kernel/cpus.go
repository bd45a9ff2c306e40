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

// Pinned calls f while the calling thread is pinned to the CPUs (nil: as it is), and then lets the thread run where it might
// before. The goroutine has to be locked to its thread. err is why it could not be pinned, in which case f was not called, or
// f's own; back is why the thread is still pinned.
func Pinned(cpus []int, f func() error) (err, back error) {
	if cpus == nil {
		return f(), nil
	}
	before, err := Affinity(0)
	if err != nil {
		return err, nil
	}
	if err := Pin(cpus); err != nil {
		return err, nil
	}
	err = f()
	return err, Pin(before)
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
