package proctree

import (
	"fmt"
	"os"
	"strings"
)

// A Thread is one thread's CPU time since it began.
type Thread struct {
	PID, TID int
	Name     string  // as the kernel knows it, at most 15 bytes
	Seconds  float64 // user and kernel
}

// Threads reads the threads of a process. The only thread of a process is taken from p itself, without reading anything.
// Names are asked of known first (they cost a read each, and a label has to stay): the name under which a thread id is
// known, or "".
func Threads(p *Process, known func(tid int) string) ([]Thread, error) {
	if p.Threads <= 1 {
		return []Thread{{p.PID, p.PID, p.Name, p.Own.Total()}}, nil
	}
	fs, err := FS()
	if err != nil {
		return nil, err
	}
	tasks, err := fs.AllThreads(p.PID)
	if err != nil {
		return nil, fmt.Errorf("listing threads of process %d: %w", p.PID, err)
	}
	out := make([]Thread, 0, len(tasks))
	for _, task := range tasks {
		st, err := task.Schedstat() // nanoseconds, and a shorter line than stat
		if Gone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading thread %d of process %d: %w", task.PID, p.PID, err)
		}
		name := known(task.PID)
		if name == "" {
			if name, err = task.Comm(); err != nil {
				continue
			}
		}
		out = append(out, Thread{p.PID, task.PID, strings.TrimSpace(name), float64(st.RunningNanoseconds) / 1e9})
	}
	if len(out) == 0 {
		if _, err := os.Stat("/proc/self/schedstat"); err != nil {
			return nil, fmt.Errorf("the kernel does not account for threads (CONFIG_SCHED_INFO): %w", err)
		}
	}
	return out, nil
}
