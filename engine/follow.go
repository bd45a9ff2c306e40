package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/load"
)

// follow tells the workers of the boundaries that they do not know yet, in order.
func (x *loadRun) follow(ctx context.Context) error {
	x.following.Lock()
	defer x.following.Unlock()
	for _, b := range x.r.untold(x.told) {
		if x.stopped {
			return nil
		}
		x.told++
		if _, err := x.enter(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// enter says that requests that become due from b on belong to its phase.
func (x *loadRun) enter(ctx context.Context, b boundary) (due map[string]int64, err error) {
	x.mu.Lock()
	start := x.start
	x.mu.Unlock()
	due = map[string]int64{}
	var mu sync.Mutex
	err = each(x.workers, func(w task.Process) error {
		var reply load.ControlReply
		if err := w.Control(ctx, load.Control{Phase: b.phase, At: b.at.Sub(start)}, &reply); err != nil {
			return fmt.Errorf("telling load %q of the phase %q: %w", x.opts.Name, b.phase, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for p, n := range reply.Due {
			due[p] += n
		}
		return nil
	})
	return due, err
}

// settled reports whether all that was due in a phase has its outcome.
func (x *loadRun) settled(phase string, due int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.over || x.counts[phase].Due >= due
}

// pacing of an open loop: precise where the CPUs of the load are its own, else economical, so that it does not spin on a
// CPU that the target needs.
func (r *run) pacing(cpus []int, workers int) string {
	if len(cpus) == 0 || workers > len(cpus) || r.activeLoads() > 0 {
		return "economical"
	}
	for _, e := range r.p.Host.CPUs {
		if e.Name != "load" && slices.ContainsFunc(e.Val, func(c int) bool { return slices.Contains(cpus, c) }) {
			return "economical"
		}
	}
	return "precise"
}
