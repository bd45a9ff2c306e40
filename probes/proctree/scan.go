// Package proctree reads processes and adds up what whole trees of them used. One scan of /proc gives every process with
// its parent (scan.go); a Tree follows one tree from scan to scan and keeps what members that ended had used (tree.go).
package proctree

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// ticksPerSecond is USER_HZ: the unit of CPU times in /proc, 100 on every architecture that Linux runs Go on.
const ticksPerSecond = 100

// kernelThread is PF_KTHREAD of include/linux/sched.h, in the flags of /proc/PID/stat.
const kernelThread = 0x00200000

// An ID names one process for as long as the machine is up: process ids are used again, start times are not.
type ID struct {
	PID   int
	Start uint64 // in ticks since boot
}

// A Process as one scan saw it.
type Process struct {
	ID
	Parent  int // process id
	Name    string
	Own     CPU // its own threads, ended ones included
	Reaped  CPU // children that it waited for, with theirs
	RSS     int64
	Threads int
	Kernel  bool // a thread of the kernel, no program
	Zombie  bool // ended, and not yet waited for by its parent
}

// CPU is time used, in seconds, with the kernel's resolution of 10 ms.
type CPU struct{ User, Kernel float64 }

// Total is both together.
func (c CPU) Total() float64 { return c.User + c.Kernel }

func (c CPU) add(o CPU) CPU { return CPU{c.User + o.User, c.Kernel + o.Kernel} }
func (c CPU) sub(o CPU) CPU { return CPU{c.User - o.User, c.Kernel - o.Kernel} }
func (c CPU) positive() CPU { return CPU{max(0, c.User), max(0, c.Kernel)} }

// A Snapshot is every process that was visible at one moment.
type Snapshot struct {
	At       time.Time
	Host     procfs.Stat // the machine's own counters, read at the same moment
	byPID    map[int]*Process
	children map[int][]int
}

// FS is /proc.
var FS = sync.OnceValues(procfs.NewDefaultFS)

// Scan reads all processes. One that ends meanwhile is left out.
func Scan() (*Snapshot, error) {
	fs, err := FS()
	if err != nil {
		return nil, fmt.Errorf("opening /proc: %w", err)
	}
	procs, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	host, err := fs.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the CPU times of the machine: %w", err)
	}
	s := &Snapshot{At: time.Now(), Host: host, byPID: make(map[int]*Process, len(procs)), children: make(map[int][]int)}
	buf := make([]byte, 4096)
	for _, each := range procs {
		p, err := stat(each.PID, &buf)
		if Gone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading process %d: %w", each.PID, err)
		}
		s.add(p)
	}
	return s, nil
}

func (s *Snapshot) add(p *Process) {
	s.byPID[p.PID] = p
	s.children[p.Parent] = append(s.children[p.Parent], p.PID)
}

// Get gives the process of that id, or nil.
func (s *Snapshot) Get(pid int) *Process { return s.byPID[pid] }

// KernelThreads is the CPU time of all threads of the kernel that are visible from here.
func (s *Snapshot) KernelThreads() CPU {
	var sum CPU
	for _, p := range s.byPID {
		if p.Kernel {
			sum = sum.add(p.Own)
		}
	}
	return sum
}

// Gone reports whether reading /proc met a process that has ended.
func Gone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoSuchProcess)
}

// A Cache shares scans between probes that sample at about the same moment. The zero value is ready.
type Cache struct {
	mu   sync.Mutex
	last *Snapshot
}

// Get gives the last scan if it is not older than maxAge, else a new one. Its At says when it was made.
func (c *Cache) Get(maxAge time.Duration) (*Snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && time.Since(c.last.At) <= maxAge {
		return c.last, nil
	}
	s, err := Scan()
	if err != nil {
		return nil, err
	}
	c.last = s
	return s, nil
}
