package actions

import (
	"context"
	"fmt"
	"time"

	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/task"
)

// A stopWatch looks whether processes that got SIGSTOP are stopped, and stay so.
type stopWatch struct {
	look        func(pids []int) (alive int, halted bool) // proc.Halted
	trees       []stoppedTree
	begun       time.Time
	first, last time.Time // looks at which everything was stopped; zero: none yet
	unfelt      string
}

type stoppedTree struct {
	name string
	pids []int
}

// untilStopped is how long a process may take to stop, for which it needs a CPU, and how often is looked.
const (
	untilStopped = 5 * time.Second
	lookEvery    = 50 * time.Millisecond
)

// watchStopped begins to watch processes with all that they started.
func watchStopped(procs []task.Process) (*stopWatch, error) {
	w := &stopWatch{look: proc.Halted, begun: time.Now()}
	for _, p := range procs {
		pids := []int{p.PID()}
		if t, ok := p.(interface{ Tree() ([]int, error) }); ok {
			var err error
			if pids, err = t.Tree(); err != nil {
				return nil, fmt.Errorf("looking for the processes of %s/%d: %w", p.Name(), p.Replica(), err)
			}
		}
		w.trees = append(w.trees, stoppedTree{fmt.Sprintf("%s/%d", p.Name(), p.Replica()), pids})
	}
	return w, nil
}

// only leaves the first n processes to be watched.
func (w *stopWatch) only(n int) { w.trees = w.trees[:n] }

// see looks once. What ran again, or ended, is said; it is not watched further.
func (w *stopWatch) see(now time.Time) {
	if w.unfelt != "" {
		return
	}
	for _, t := range w.trees {
		alive, halted := w.look(t.pids)
		switch {
		case alive == 0:
			w.unfelt = t.name + " ended while it was to be stopped"
			return
		case halted:
		case !w.first.IsZero():
			w.unfelt = fmt.Sprintf("%s was running again after %.2f s, though the plan had not let it", t.name, now.Sub(w.begun).Seconds())
			return
		case now.Sub(w.begun) > untilStopped:
			w.unfelt = fmt.Sprintf("%s was not stopped within %v", t.name, untilStopped)
			return
		default:
			return
		}
	}
	if w.first.IsZero() {
		w.first = now
	}
	w.last = now
}

// effect is what was seen.
func (w *stopWatch) effect() task.Effect {
	e := task.Effect{Unfelt: w.unfelt, Stopped: w.last.Sub(w.first)}
	if e.Unfelt == "" && w.first.IsZero() {
		e.Unfelt = "it ended before everything was seen to be stopped"
	}
	return e
}

// during looks from time to time until ctx is done, or for so long; 0 is no bound.
func (w *stopWatch) during(ctx context.Context, length time.Duration) error {
	var over <-chan time.Time
	if length > 0 {
		over = time.After(length)
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		w.see(time.Now())
		select {
		case <-look.C:
		case <-over:
			return nil
		case <-ctx.Done():
			return ended(ctx)
		}
	}
}
