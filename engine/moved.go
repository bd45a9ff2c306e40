package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
)

// moved is what runs changed of an installation's backends and routes since it was made. It is put back before the next
// run, and not where the installation ends anyway. The journal has no entry for it: each replica is in it as a process, each
// file as a file, and the routes themselves are nowhere but here.
type moved struct {
	is      bool
	size    map[string]int // replicas of each backend as it was made
	routes  []route        // as they are now; those of the plan if nothing is moved
	changes int            // so far
	marker  *marker        // of the newest change; nil: none is in the routes
	lost    []*marker      // of backends that were scaled to nothing
	newest  string         // the newest change, in words
	follow  []func(context.Context) error

	// Of the run that goes on.
	ended []task.Process
	came  []newcomer

	served servers // what ended replicas had counted since the installation was made
}

// A newcomer is a replica that a change started.
type newcomer struct {
	p      task.Process
	by     *record.Change
	change int     // in the run's record, where it stands once it was made
	before float64 // requests that it had counted when it was announced: those of its readiness
}

// A turn says how long a change waited for another, and for which; the zero value: it did not.
type turn struct {
	waited time.Duration
	behind string
}

// words are for the reason why a change was not made or seen; "" if it did not wait for long.
func (t turn) words() string {
	if t.waited < 100*time.Millisecond {
		return ""
	}
	return fmt.Sprintf("; it had waited %.1f s for the change before (%s)", t.waited.Seconds(), t.behind)
}

// change waits until no other change is being made; the function that it returns ends its own. It is nil if ctx or the
// phase of r ended before: loads drain beyond that, and a change that begins then would be in no figure.
func (in *installation) change(ctx context.Context, r *run) (t turn, over func()) {
	begun := time.Now()
	select {
	case in.moving <- struct{}{}:
	default:
		in.mu.Lock()
		t.behind = in.moved.newest
		in.mu.Unlock()
		select {
		case in.moving <- struct{}{}:
		case <-ctx.Done():
			t.waited = time.Since(begun)
			return t, nil
		}
		t.waited = time.Since(begun)
	}
	if ctx.Err() != nil || r.phaseOver() {
		<-in.moving
		return t, nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.moved.is {
		in.moved.is, in.moved.routes, in.moved.size = true, in.p.routes(), map[string]int{}
		for name, all := range in.backends {
			in.moved.size[name] = len(all)
		}
	}
	return t, func() { <-in.moving }
}

// routes are those that the target is to have now, with the one by which the newest change is seen to arrive.
func (in *installation) routes() []route {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.moved.is {
		return in.p.routes()
	}
	out := slices.Clone(in.moved.routes)
	if m := in.moved.marker; m != nil {
		out = append(out, route{m.host, "/", m.backend})
	}
	return out
}

// replicas are those of a backend that the target is to use, by number.
func (in *installation) replicas(backend string) []task.Process {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.backends[backend])
}

func (in *installation) setReplicas(backend string, all []task.Process) {
	slices.SortFunc(all, func(a, b task.Process) int { return a.Replica() - b.Replica() })
	in.mu.Lock()
	in.backends[backend] = all
	in.mu.Unlock()
	in.readdress(backend)
}

// readdress lets expressions know where a backend is now.
func (in *installation) readdress(backend string) known {
	a := in.addresses(backend)
	if len(a) == 0 {
		return nil
	}
	where := known{"backends." + backend + ".address": a[0], "backends." + backend + ".addresses": a}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.known = in.known.with(where)
	return where
}

// follow has update called whenever backends or routes changed.
func (in *installation) follow(update func(context.Context) error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.moved.follow = append(in.moved.follow, update)
}

// gone keeps what a replica that has ended had counted.
func (in *installation) gone(ctx context.Context, p task.Process) {
	counted := served(ctx, p)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.moved.served == nil {
		in.moved.served = servers{}
	}
	in.moved.served.add(replicaName(p.Name(), p), counted)
	in.moved.ended = append(in.moved.ended, p)
}

// restarted puts a replica of a backend that was started again in the place of the one that it was.
func (in *installation) restarted(ctx context.Context, p task.Process) {
	all := in.replicas(p.Name())
	i := slices.IndexFunc(all, func(q task.Process) bool { return q.Replica() == p.Replica() })
	if i < 0 || all[i] == p {
		return
	}
	in.gone(ctx, all[i])
	all[i] = p
	in.setReplicas(p.Name(), all)
}

// endedReplicas are those that changes of this run ended.
func (in *installation) endedReplicas() []task.Process {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.moved.ended)
}

// servedBefore is what ended replicas had counted, so that the sums do not fall when they go.
func (in *installation) servedBefore() servers {
	in.mu.Lock()
	defer in.mu.Unlock()
	out := servers{}
	for name, counters := range in.moved.served {
		out[name] = maps.Clone(counters)
	}
	return out
}
