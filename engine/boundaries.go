package engine

import (
	"context"
	"slices"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

// A boundary says that from a moment on requests that become due belong to a phase, or to what lies behind one
// (record.Between). It takes back earlier ones whose moment is after its own.
type boundary struct {
	at    time.Time
	phase string
}

// seamless reports whether the phase all[0] is followed by the next one at the very moment at which it ends: nothing has to
// be judged, prepared or drained between the two.
func (r *run) seamless(all []dsl.Part[dsl.Phase]) bool {
	ph := all[0].Val
	if len(all) == 1 || ph.For == 0 || ph.Require.IsSet() {
		return false
	}
	prepares := func(a dsl.Part[dsl.Action]) bool { return isLoad(a) && a.Val.At == (dsl.At{}) }
	drains := func(a dsl.Part[dsl.Action]) bool {
		return isLoad(a) && (a.Val.Through == "" || a.Val.Through == ph.Name)
	}
	if slices.ContainsFunc(all[1].Val.Do, prepares) || slices.ContainsFunc(ph.Do, drains) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(r.beyond, func(x *running) bool { return x.s.drains && x.s.through == ph.Name })
}

// isLoad reports whether an action is prepared before it begins, and drains when it ends.
func isLoad(a dsl.Part[dsl.Action]) bool {
	_, ok := a.Val.Spec.(task.Preparer)
	return ok
}

// announce tells every load that runs, and those that start later, of a boundary.
func (r *run) announce(ctx context.Context, b boundary) {
	r.mu.Lock()
	r.boundaries = append(r.boundaries, b)
	loads := slices.Clone(r.loads)
	r.mu.Unlock()
	if err := each(loads, func(x *loadRun) error { return x.follow(ctx) }); err != nil && ctx.Err() == nil {
		r.harness(err)
	}
}

// activate makes a load take part in the phases from now on. Of the boundaries that were announced before it began, the
// newest one that has passed still counts, and those to come.
func (r *run) activate(ctx context.Context, x *loadRun) {
	now := time.Now()
	r.mu.Lock()
	r.loads = append(r.loads, x)
	x.told = 0
	for i, b := range r.boundaries {
		if !b.at.After(now) {
			x.told = i
		}
	}
	r.mu.Unlock()
	if err := x.follow(ctx); err != nil && ctx.Err() == nil {
		r.harness(err)
	}
}

// untold gives the boundaries from the nth on.
func (r *run) untold(n int) []boundary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.boundaries[n:])
}

func (r *run) deactivate(x *loadRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, y := range r.loads {
		if x == y {
			r.loads = append(r.loads[:i:i], r.loads[i+1:]...)
			return
		}
	}
}

func (r *run) activeLoads() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.loads)
}

// upcoming is the phase in which a load that is prepared now will begin.
func (r *run) upcoming() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next != "" {
		return r.next
	}
	return r.phase
}
