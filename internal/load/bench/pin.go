package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/internal/hostspeed"
)

// A cpu starts processes on one CPU: a thread that is pinned there, and stays for as long as this process, makes them, so
// that they inherit the pinning from before their first instruction on.
type cpu struct {
	id   int
	jobs chan func()
}

func newCPU(id int) (*cpu, error) {
	c := &cpu{id, make(chan func())}
	pinned := make(chan error)
	go func() {
		runtime.LockOSThread()
		pinned <- pin(0, id)
		for f := range c.jobs {
			f()
		}
	}()
	if err := <-pinned; err != nil {
		return nil, fmt.Errorf("pinning a thread to CPU %d: %w", id, err)
	}
	return c, nil
}

// start starts the command on the CPU. It is killed by that signal when this process ends without having waited for it.
func (c *cpu) start(cmd *exec.Cmd, death syscall.Signal) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: death}
	started := make(chan error)
	c.jobs <- func() { started <- cmd.Start() }
	return <-started
}

// holds checks that every thread of a process may run on this CPU and no other.
func (c *cpu) holds(pid int) error {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return fmt.Errorf("listing the threads of process %d: %w", pid, err)
	}
	for _, t := range threads {
		tid, _ := strconv.Atoi(t.Name())
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(tid, &set); err == unix.ESRCH {
			continue // it has ended
		} else if err != nil {
			return fmt.Errorf("asking where thread %d of process %d may run: %w", tid, pid, err)
		}
		if set.Count() != 1 || !set.IsSet(c.id) {
			return fmt.Errorf("thread %d of process %d is not pinned to CPU %d", tid, pid, c.id)
		}
	}
	return nil
}

// speedSamples are how many measurements make one speed: of the CPU's time they take some milliseconds.
const speedSamples = 15

// speed is how fast the CPU works at the moment, in pieces of a fixed work for each millisecond of its time.
func (c *cpu) speed() (float64, error) {
	all, failed := make([]float64, speedSamples), make(chan error)
	c.jobs <- func() {
		var err error
		for i := 0; i < len(all) && err == nil; i++ {
			all[i], err = hostspeed.Here()
		}
		failed <- err
	}
	if err := <-failed; err != nil {
		return 0, err
	}
	return mid(all), nil
}

func pin(tid, id int) error {
	var set unix.CPUSet
	set.Set(id)
	return unix.SchedSetaffinity(tid, &set)
}

// withdraw moves all threads of this process to a CPU; those to come inherit it.
func withdraw(id int) error {
	done := map[string]bool{}
	for again := true; again; {
		again = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range threads {
			if done[t.Name()] {
				continue
			}
			tid, _ := strconv.Atoi(t.Name())
			if err := pin(tid, id); err != nil && err != unix.ESRCH {
				return err
			}
			done[t.Name()], again = true, true
		}
	}
	return nil
}

// allowed lists the CPUs on which this process may run.
func allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var ids []int
	for id := 0; len(ids) < set.Count(); id++ {
		if set.IsSet(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// worked is how long the CPU has worked, or was taken away by the machine below, since the system started. Its steps are
// 10 ms.
func (c *cpu) worked() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(stat) {
		f := bytes.Fields(line)
		if len(f) < 9 || string(f[0]) != fmt.Sprintf("cpu%d", c.id) {
			continue
		}
		ticks := 0
		for i := range f[1:9] { // user nice system idle iowait irq softirq steal
			if i == 3 || i == 4 {
				continue
			}
			n, err := strconv.Atoi(string(f[1+i]))
			if err != nil {
				return 0, fmt.Errorf("reading /proc/stat: %w", err)
			}
			ticks += n
		}
		return time.Duration(ticks) * 10 * time.Millisecond, nil
	}
	return 0, fmt.Errorf("/proc/stat does not show CPU %d", c.id)
}
