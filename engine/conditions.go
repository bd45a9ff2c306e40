package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/verdict"
)

// conditionsEvery is how often live conditions are looked at. Figures change once a second.
const conditionsEvery = 500 * time.Millisecond

func abortText(ph dsl.Phase) string { return "abort: " + ph.Abort.When.Text }

// watchConditions ends the phase when its until holds, or when its abort has held for as long as it says. The function
// that it returns stops watching.
//
// A condition that cannot be evaluated does not hold: what is missing never ends a phase.
func (r *run) watchConditions(ctx context.Context, i int, ph dsl.Phase, stop chan<- string) func() {
	if !ph.Until.IsSet() && !ph.Abort.When.IsSet() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(conditionsEvery)
		defer tick.Stop()
		var since time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if ph.Until.IsSet() && r.holds(ctx, ph.Until, r.soFar(ph.Name)) {
				stop <- "until: " + ph.Until.Text
				return
			}
			if !ph.Abort.When.IsSet() {
				continue
			}
			if !r.holds(ctx, ph.Abort.When, r.lastSecond()) {
				since = time.Time{}
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			if time.Since(since) >= ph.Abort.After {
				r.event("abort", fmt.Sprintf("%s held for %v", ph.Abort.When.Text, ph.Abort.After), nil)
				stop <- abortText(ph)
				return
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

func (r *run) holds(ctx context.Context, e dsl.Expr, now *verdict.Run) bool {
	res, err := r.evaluate(ctx, e, now)
	if err != nil {
		r.harness(err)
		return false
	}
	ok, _ := res.Holds()
	return ok
}

// snapshotData is what was recorded so far. The other slices only grow, so the copy may be read without a lock.
func (r *run) snapshotData() *record.Data {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.data
	rec := *r.rec
	rec.Phases = slices.Clone(rec.Phases)
	rec.Actions = slices.Clone(rec.Actions)
	rec.Loads = slices.Clone(rec.Loads)
	rec.Processes = slices.Clone(rec.Processes)
	rec.Facts.Changes = slices.Clone(rec.Facts.Changes)
	d.Run = &rec
	return &d
}

// soFar is the run as of now, its figures those of a phase so far.
func (r *run) soFar(phase string) *verdict.Run {
	d := r.snapshotData()
	metrics, absent := measure.DerivePhase(d, phase, r.since(time.Now()))
	out := verdictRun(d.Run, samplesOf(d), false)
	out.Metrics, out.Absent = verdict.Numbers(metrics), absent
	return out
}

// lastSecond is the run as of now, its figures those of the last whole second that was reported.
func (r *run) lastSecond() *verdict.Run {
	d := r.snapshotData()
	now := r.since(time.Now())
	metrics, absent := measure.DeriveWindow(d, now-2, now)
	out := verdictRun(d.Run, samplesOf(d), false)
	out.Metrics, out.Absent = verdict.Numbers(metrics), absent
	return out
}

// settleFor bounds the wait for answers to requests of a phase that is over and has to be judged before the next begins.
const settleFor = 15 * time.Second

// require judges a finished phase. It waits until what was due in it has its outcome; requests that become due meanwhile
// belong to what lies between the two.
func (r *run) require(ctx context.Context, i int, ph dsl.Phase) error {
	r.mu.Lock()
	loads := append([]*loadRun(nil), r.loads...)
	end := r.rec.Phases[i].End
	r.mu.Unlock()
	deadline := time.Now().Add(settleFor)
	for _, x := range loads {
		due, err := x.enter(ctx, boundary{r.start.Add(time.Duration(end * float64(time.Second))), record.Between(ph.Name)})
		if err != nil {
			return err
		}
		for !x.settled(ph.Name, due[ph.Name]) && time.Now().Before(deadline) && ctx.Err() == nil {
			each(x.workers, func(w task.Process) error { return w.Sample(ctx, nil) })
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	res, err := r.evaluate(ctx, ph.Require, r.soFar(ph.Name))
	if err != nil {
		return err
	}
	ok, why := res.Holds()
	if ok {
		return nil
	}
	text := explain(res)
	if why != nil {
		text = why.Error()
	}
	return &placed{ph.Require.Pos(1, 0), fmt.Errorf("%w in phase %s: %s (%s)", errUnmet, ph.Name, ph.Require.Text, text)}
}

// explain lists operands with their values.
func explain(r verdict.Result) string {
	text := ""
	for i, o := range r.Operands {
		if i > 0 {
			text += ", "
		}
		text += o.Text + " = " + o.Value
	}
	return text
}
