package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// A step is an action of a phase as it is to happen.
type step struct {
	index   int           // order in the file: decides between equal due times
	label   string        // for messages: its name or kind, with its place
	due     time.Duration // since the phase began
	every   time.Duration // 0: once
	lasts   time.Duration // of a lasting action; 0: to the end of its phase or of through
	lasting bool
	through string // a later phase with which it ends; "" is its own
	// start notes the start of the occurrence that is due then, in order; what it returns is run beside the others.
	start func(due time.Duration) func(ctx context.Context) error
	never func() // notes that its phase was over before it was due
	// prepare does what would make the beginning late (open connections); nil if there is nothing. It runs before the
	// phase begins, for steps that are due at 0.
	prepare func(ctx context.Context) error
	drains  bool // its end takes a while: a load's
}

// A dispatcher runs the steps of one phase.
type dispatcher struct {
	ctx      context.Context // of the run: steps that outlive the phase hang on it
	begin    time.Time       // when the phase began, if it already has; zero is when everything is prepared
	length   time.Duration   // 0: sequential, ends with the last step
	steps    []*step
	stop     <-chan string         // ends the phase early and says why; may be nil
	broken   <-chan error          // ends the phase with an error: what an earlier phase started has failed; may be nil
	outlives func(*running)        // takes a step that ends with a later phase
	started  func(begin time.Time) // called when the phase begins; may be nil
	never    []*step               // set by run: those of a phase without an error that were not due before its end
}

// run does all steps. It returns why the phase ended early ("" if it did not), and the first error. When it returns,
// what ends with the phase has ended.
//
// Steps of a timed phase start when they are due, in file order where equally due, and run side by side. An occurrence of
// a repeated step that is due while the one before still runs starts when that is over; its lateness shows in the record.
func (d *dispatcher) run() (string, error) {
	for i, s := range d.steps {
		if s.prepare != nil && s.due == 0 && (i == 0 || d.length > 0) {
			if err := s.prepare(d.ctx); err != nil {
				return "", fmt.Errorf("%s: %w", s.label, err)
			}
		}
	}
	if d.begin.IsZero() {
		d.begin = time.Now()
	}
	if d.started != nil {
		d.started(d.begin)
	}
	if d.length == 0 {
		return d.sequential()
	}
	return d.timed()
}

type occurrence struct {
	s  *step
	at time.Duration
}

func (d *dispatcher) timed() (why string, err error) {
	begin := d.begin
	var queue []occurrence
	for _, s := range d.steps {
		queue = append(queue, occurrence{s, s.due})
	}
	byDue := func(a, b occurrence) int {
		if a.at != b.at {
			return int(max(-1, min(1, a.at-b.at)))
		}
		return a.s.index - b.s.index
	}
	slices.SortStableFunc(queue, byDue)
	live, waiting := map[*step]*running{}, map[*step][]time.Duration{}
	finished := make(chan *running)
	launch := func(s *step, due time.Duration) {
		r := d.launch(s, due)
		live[s] = r
		go func() { <-r.done; finished <- r }()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
loop:
	for {
		next := d.length
		if len(queue) > 0 && queue[0].at < next {
			next = queue[0].at
		}
		timer.Reset(time.Until(begin.Add(next)))
		select {
		case <-timer.C:
			for len(queue) > 0 && queue[0].at < d.length && time.Since(begin) >= queue[0].at {
				o := queue[0]
				queue = queue[1:]
				if live[o.s] != nil {
					waiting[o.s] = append(waiting[o.s], o.at)
				} else {
					launch(o.s, o.at)
				}
				if o.s.every > 0 {
					o.at += o.s.every
					i, _ := slices.BinarySearchFunc(queue, o, byDue)
					queue = slices.Insert(queue, i, o)
				}
			}
			if time.Since(begin) >= d.length {
				break loop
			}
		case r := <-finished:
			delete(live, r.s)
			if r.err != nil {
				err = r.err
				break loop
			}
			if w := waiting[r.s]; len(w) > 0 {
				waiting[r.s] = w[1:]
				launch(r.s, w[0])
			}
		case why = <-d.stop:
			break loop
		case err = <-d.broken:
			break loop
		case <-d.ctx.Done():
			err = context.Cause(d.ctx)
			break loop
		}
	}
	for _, o := range queue {
		if err == nil && o.at == o.s.due {
			d.never = append(d.never, o.s)
		}
	}
	return why, d.endPhase(live, finished, why, err)
}

// endPhase ends what ends with the phase, and hands over what goes on. Errors of what was fine until now count too.
func (d *dispatcher) endPhase(live map[*step]*running, finished <-chan *running, why string, err error) error {
	var over, late []*running
	for _, s := range d.steps {
		r := live[s]
		if r == nil {
			continue
		}
		go func() { <-finished }()
		switch {
		case s.through != "" && err == nil:
			d.outlives(r)
		case s.lasting || err != nil || why != "":
			over = append(over, r)
		default:
			late = append(late, r)
		}
	}
	cause := error(task.ErrPhaseOver)
	if err != nil {
		cause = err
	}
	e := stopAll(over, cause)
	if e2 := stopAll(late, errStillRunning); e == nil {
		e = e2
	}
	if err == nil {
		err = e
	}
	return err
}

func (d *dispatcher) sequential() (string, error) {
	for _, s := range d.steps {
		r := d.launch(s, 0)
		if s.lasting && s.lasts == 0 && s.through != "" {
			d.outlives(r)
			continue
		}
		select {
		case <-r.done:
		case why := <-d.stop:
			return why, r.stop(task.ErrPhaseOver)
		case err := <-d.broken:
			r.stop(err)
			return "", err
		case <-d.ctx.Done():
			r.stop(context.Cause(d.ctx))
			return "", context.Cause(d.ctx)
		}
		if r.err != nil {
			return "", r.err
		}
	}
	return "", nil
}
