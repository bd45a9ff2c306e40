package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
)

// Route implements task.Backends.
func (x backends) Route(ctx context.Context, c task.Routing) error {
	t, over := x.in.change(ctx, x.r)
	if over == nil {
		return x.unmade(ctx, c.Do, c.Do+" "+c.Host+c.Path, t)
	}
	defer over()
	x.in.mu.Lock()
	routes, what, nothing := changed(x.in.moved.routes, c)
	x.in.moved.routes = routes
	x.in.mu.Unlock()
	change := &record.Change{Kind: c.Do, Backend: c.Backend, What: what, Nothing: nothing}
	defer x.begin(change, t)()
	if nothing {
		return nil
	}
	return x.tell(ctx, change, x.in.mark(ctx, c.Backend, c.Within), c.Within, nil, nil)
}

// errTelling says that the target could not be told of a change, which says more than that it took too long.
var errTelling = errors.New("telling the target")

// begin notes when a change begins; the function that it returns records it as it was then made.
func (x backends) begin(c *record.Change, t turn) (end func()) {
	c.Phase, c.Action, c.Start = x.phase, x.action, x.r.since(time.Now())
	x.in.mu.Lock()
	x.in.moved.newest = fmt.Sprintf("%s, which began at %.1f s", c.What, c.Start)
	x.in.mu.Unlock()
	return func() {
		if c.End = x.r.since(time.Now()); c.Why != "" {
			c.Why += t.words()
		}
		fields := map[string]any{"change": c.Kind, "start": c.Start}
		text := c.What
		switch {
		case c.Nothing:
			text += ": it was so already"
			fields["nothing"] = true
		case c.Arrived:
			text += fmt.Sprintf(": served after %.0f ms", c.Served)
			fields["arrived"], fields["served_ms"] = true, c.Served
		default:
			text += ": not seen to be served: " + c.Why
			fields["arrived"] = false
		}
		x.r.event("change", text, fields)
		x.r.mu.Lock()
		index := len(x.r.rec.Facts.Changes)
		x.r.rec.Facts.Changes = append(x.r.rec.Facts.Changes, *c)
		x.r.mu.Unlock()
		x.in.recorded(c, index)
		if c.Arrived {
			x.r.propagated(c.Served)
		}
	}
}

// unmade notes a change that was not made because its phase ended before its turn: behind a change that the target was slow
// to serve that is a result and no error.
func (x backends) unmade(ctx context.Context, kind, what string, t turn) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errStillRunning) {
		return cause
	}
	now := x.r.since(time.Now())
	why := "it was not made, " + phaseOver + t.words()
	x.r.event("change", what+": "+why, map[string]any{"change": kind, "start": now, "arrived": false, "unmade": true})
	x.r.mu.Lock()
	x.r.rec.Facts.Changes = append(x.r.rec.Facts.Changes, record.Change{Kind: kind, What: what, Phase: x.phase, Action: x.action, Start: now, End: now, Unmade: true, Why: why})
	x.r.mu.Unlock()
	return nil
}

// propagated keeps the time of the slowest change.
func (r *run) propagated(ms float64) {
	if slowest, ok := r.knownNow().value("values." + task.PropagationMetric); ok {
		if v, ok := slowest.(float64); ok {
			ms = max(ms, v)
		}
	}
	r.setValue(task.PropagationMetric, ms)
}

// tell lets the target know, and sees by the marker when it serves the change: routes, or replicas that came and those that
// are to leave then.
func (x backends) tell(ctx context.Context, c *record.Change, m *marker, within time.Duration, came, leave []task.Process) error {
	x.in.expect(ctx, came, c)
	begun := time.Now()
	for _, p := range came {
		replicaEvent(x.r.event, p, "announced", "is announced")
	}
	// A target that was told by halves would be none that anybody runs, so only an interrupt cuts this short, not the end of
	// a phase.
	err := x.in.tellTarget(x.in.session.ctx)
	if x.in.session.ctx.Err() != nil {
		c.Why = interruptedBefore
		return context.Cause(x.in.session.ctx)
	}
	said := "was told of"
	if err != nil {
		if err := x.untold(c, err); err != nil {
			return err
		}
		said = "did not take"
	}
	took := time.Since(begun)
	x.r.event("reload", fmt.Sprintf("the target %s %s, which took %.0f ms", said, c.What, milliseconds(took)),
		map[string]any{"start": x.r.since(begun), "seconds": took.Seconds(), "target": x.in.cell.Coord.Target, "taken": err == nil})
	if err != nil {
		return nil
	}
	at, why := m.await(ctx, within, c.Kind == "scale", came, leave)
	if c.Why = why; why == "" {
		c.Arrived, c.Served = true, milliseconds(at.Sub(begun))
	}
	return nil
}

// untold says why the target could not be told of a change. That it is gone, or did not take it, is a result; what is left
// is an error.
func (x backends) untold(c *record.Change, err error) error {
	if gone := x.in.targetGone(); gone != "" {
		c.Why = fmt.Sprintf("%s of the target does not run any more: %v", gone, err)
		return nil
	}
	if refused := (*task.Refused)(nil); errors.As(err, &refused) {
		c.Refused, c.Why = true, "the target did not take it: "+x.r.redact(short(err.Error()))
		return nil
	}
	c.Why = "it could not be told"
	return fmt.Errorf("%w of %s: %w", errTelling, c.What, err)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// tellTarget has the target learn of its backends and routes as they are now: builtins at once, others by its
// routes-changed.
func (in *installation) tellTarget(ctx context.Context) error {
	in.mu.Lock()
	follow := in.moved.follow
	in.mu.Unlock()
	for _, update := range follow {
		if err := update(ctx); err != nil {
			return err
		}
	}
	v := in.values()
	v.Call = nil // as at the installation
	target, list := in.cell.Target.Bind(in.eval.fill(ctx, in.knownNow(), v))
	if err := placedAt(list); err != nil {
		return err
	}
	if err := in.host().sequence(ctx, target.Val.RoutesChanged); err != nil {
		return fmt.Errorf("routes-changed: %w", err)
	}
	return nil
}

// targetGone names a process that the target had when it was installed and that does not run now; "" if all do.
func (in *installation) targetGone() string {
	alive := in.alive()
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(in.living)) {
		if alive[name] < in.living[name] && in.p.backends.Get(name) == nil {
			return name
		}
	}
	return ""
}

// expect notes replicas that came, so that it can be said whether requests reached them.
func (in *installation) expect(ctx context.Context, came []task.Process, change *record.Change) {
	before := requestsOf(ctx, came)
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, p := range came {
		in.moved.came = append(in.moved.came, newcomer{p: p, by: change, before: before[i]})
	}
}

// recorded says where a change stands in the run's record.
func (in *installation) recorded(change *record.Change, index int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range in.moved.came {
		if n := &in.moved.came[i]; n.by == change {
			n.change = index
		}
	}
}

// settle waits for replicas that were told to end, and says which of those that came got no request.
func (in *installation) settle(r *run) {
	in.leaving.Wait()
	in.mu.Lock()
	came := in.moved.came
	in.mu.Unlock()
	for _, n := range came {
		counted := served(context.Background(), n.p)
		r.mu.Lock()
		if n.change < len(r.rec.Facts.Changes) {
			c := &r.rec.Facts.Changes[n.change]
			if counted == nil {
				c.Uncounted = true
			} else if counted["requests"] <= n.before {
				c.Unseen = append(c.Unseen, replicaName(n.p.Name(), n.p))
			}
		}
		r.mu.Unlock()
	}
}
