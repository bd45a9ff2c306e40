package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/task"
)

// Limited tells which limits the process is under, as the kernel says now: those of its cgroup, if it is in it.
func (p *Process) Limited() task.Limits {
	if p.cgroup == nil {
		return task.Limits{}
	}
	return p.cgroup.limits(p.PID())
}

// Cgroup names the cgroup that limits the process; "" if it has none of its own.
func (p *Process) Cgroup() string {
	if p.cgroup == nil || len(p.cgroup.dirs) == 0 {
		return ""
	}
	return p.cgroup.dirs[0]
}

// limits reads the limits that hold for a process.
func (c *cgroup) limits(pid int) (l task.Limits) {
	for _, d := range c.dirs {
		read := func(name string) []string {
			b, _ := os.ReadFile(filepath.Join(d, name))
			return strings.Fields(string(b))
		}
		number := func(name string) int64 {
			f := read(name)
			if len(f) == 0 {
				return 0
			}
			n, err := strconv.ParseInt(f[0], 10, 64)
			if err != nil || n < 0 || n >= 1<<62 { // "max", -1, or what version 1 prints for no limit
				return 0
			}
			return n
		}
		if !slices.Contains(read("cgroup.procs"), strconv.Itoa(pid)) {
			continue
		}
		l.Memory = max(l.Memory, number("memory.max"), number("memory.limit_in_bytes"))
		l.Processes = max(l.Processes, int(number("pids.max")))
		quota, period := number("cpu.cfs_quota_us"), number("cpu.cfs_period_us")
		if f := read("cpu.max"); len(f) == 2 {
			quota, _ = strconv.ParseInt(f[0], 10, 64) // 0 of "max"
			period, _ = strconv.ParseInt(f[1], 10, 64)
		}
		if quota > 0 && period > 0 {
			l.CPU = float64(quota) / float64(period)
		}
	}
	return l
}

// A Pressure is how often limits of a cgroup were reached since it was made.
type Pressure struct {
	Periods, HeldBack int64 // of CPU time: all, and those in which the limit was reached
	MemoryReached     int64 // how often memory was at its limit
	Kills             int64 // processes that the kernel killed for want of memory
	ForksRefused      int64 // for the limit of processes
}

// pressure is that of now; of a cgroup that went with its process, what there was until then.
func (c *cgroup) pressure() Pressure {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return c.last
	}
	return c.readPressure()
}

func (c *cgroup) readPressure() (p Pressure) {
	for _, d := range c.dirs {
		counter := func(file, name string) int64 {
			n, _ := counterIn(filepath.Join(d, file), name)
			return n
		}
		p.Periods += counter("cpu.stat", "nr_periods")
		p.HeldBack += counter("cpu.stat", "nr_throttled")
		p.MemoryReached += counter("memory.events", "max") + single(filepath.Join(d, "memory.failcnt")) // version 2, version 1
		p.Kills += counter("memory.events", "oom_kill") + counter("memory.oom_control", "oom_kill")
		p.ForksRefused += counter("pids.events", "max")
	}
	return p
}

// single reads a file of one number; 0 if there is none.
func single(path string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// None reports whether no limit was reached.
func (p Pressure) None() bool {
	return p.HeldBack == 0 && p.MemoryReached == 0 && p.Kills == 0 && p.ForksRefused == 0
}

// of is what came of these limits alone, without others that the cgroup has.
func (p Pressure) of(l task.Limits) Pressure {
	if l.CPU == 0 {
		p.Periods, p.HeldBack = 0, 0
	}
	if l.Memory == 0 {
		p.MemoryReached, p.Kills = 0, 0
	}
	if l.Processes == 0 {
		p.ForksRefused = 0
	}
	return p
}

// Add adds two up.
func (p Pressure) Add(q Pressure) Pressure {
	return Pressure{p.Periods + q.Periods, p.HeldBack + q.HeldBack, p.MemoryReached + q.MemoryReached, p.Kills + q.Kills, p.ForksRefused + q.ForksRefused}
}

// Since is what came after an earlier reading.
func (p Pressure) Since(before Pressure) Pressure {
	return Pressure{p.Periods - before.Periods, p.HeldBack - before.HeldBack, p.MemoryReached - before.MemoryReached, p.Kills - before.Kills, p.ForksRefused - before.ForksRefused}
}
