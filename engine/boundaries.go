package engine

import (
	"context"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

func needsPreparation(p dsl.Part[dsl.Phase]) bool {
	for _, a := range p.Val.Do {
		if _, ok := a.Val.Spec.(task.Preparer); ok && a.Val.At == (dsl.At{}) {
			return true
		}
	}
	return false
}

// announce tells every load that runs, and those that start before then, of a boundary.
func (r *run) announce(ctx context.Context, b boundary) {
	r.mu.Lock()
	r.boundaries = append(r.boundaries, b)
	loads := append([]*loadRun(nil), r.loads...)
	r.mu.Unlock()
	for _, x := range loads {
		if _, err := x.enter(ctx, b); err != nil && ctx.Err() == nil {
			r.harness(err)
		}
	}
}

// activate makes a load take part in the phases from now on.
func (r *run) activate(x *loadRun) {
	r.mu.Lock()
	r.loads = append(r.loads, x)
	todo := r.boundaries
	r.mu.Unlock()
	for _, b := range todo {
		if b.at.After(time.Now()) || b.phase == r.phase {
			if _, err := x.enter(context.Background(), b); err != nil {
				r.harness(err)
			}
		}
	}
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
