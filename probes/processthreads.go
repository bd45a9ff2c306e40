package probes

import (
	"fmt"

	"github.com/planrun/planrun/probes/proctree"
)

type thread struct{ pid, tid int }

// counted is a thread that is followed. It gets its label when a second sample finds it under the same name, for threads
// and programs often get their names a moment after they began; what it used before is part of the rest.
type counted struct {
	name, label string
	base        float64 // used when it got its label
	seconds     float64 // since then
}

// byThread emits the CPU time of the threads that have a label, and of all the rest. At most bound threads are followed,
// those first seen; ended ones keep their place, so that a program which makes a thread for each connection does not make
// a series for each.
func (w *watched) byThread(live []*proctree.Process, bound int, total float64, emit func(string, string, float64)) error {
	for _, m := range live {
		threads, err := proctree.Threads(m, func(tid int) string {
			if c := w.threads[thread{m.PID, tid}]; c != nil && c.label != "" {
				return c.name
			}
			return ""
		})
		if proctree.Gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		for _, th := range threads {
			id := thread{th.PID, th.TID}
			c := w.threads[id]
			switch {
			case c == nil && len(w.threads) < bound:
				w.threads[id] = &counted{name: th.Name}
			case c == nil:
			case c.label != "":
				c.seconds = max(c.seconds, th.Seconds-c.base)
				emit("thread_cpu_s", c.label, c.seconds)
			case c.name == th.Name:
				c.label, c.base = fmt.Sprintf("%s/%d", th.Name, th.TID), th.Seconds
				emit("thread_cpu_s", c.label, 0)
			default:
				c.name = th.Name
			}
		}
	}
	rest := total
	for _, c := range w.threads {
		rest -= c.seconds
	}
	// Threads are read a moment after the scan that gave the total, and finer: the rest may seem to shrink.
	w.others = max(w.others, rest)
	emit("thread_cpu_s", "other", w.others)
	return nil
}
