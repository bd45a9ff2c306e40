package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/task"
)

// A step is an action of a phase as it is to happen.
type step struct {
	index   int           // order in the file: decides between equal due times
	label   string        // for messages: its name or kind
	pos     diag.Pos      // for errors; zero is no place
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

// failed is an error of a step with its name and its place.
func (s *step) failed(err error) error { return fmt.Errorf("%s: %w", s.label, place(s.pos, err)) }

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
				return "", s.failed(err)
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

// timed runs the steps of a phase that has a length, until that is over or something ends it.
func (d *dispatcher) timed() (why string, err error) {
	t := d.timetable()
	timer := time.NewTimer(0)
	defer timer.Stop()
loop:
	for {
		timer.Reset(time.Until(d.begin.Add(t.next())))
		select {
		case <-timer.C:
			t.startDue()
			if time.Since(d.begin) >= d.length {
				break loop
			}
		case r := <-t.finished:
			if err = t.over(r); err != nil {
				break loop
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
	if err == nil {
		d.never = t.never()
	}
	return why, d.endPhase(t.live, t.finished, why, err)
}

// A timetable is what is still to come in a timed phase, and what goes on.
type timetable struct {
	*dispatcher
	queue    []occurrence // by their due times, equal ones in the order of the file
	live     map[*step]*running
	waiting  map[*step][]time.Duration // when what waits for the occurrence before was due
	finished chan *running
}

type occurrence struct {
	s  *step
	at time.Duration
}

func byDue(a, b occurrence) int {
	return cmp.Or(cmp.Compare(a.at, b.at), a.s.index-b.s.index)
}

func (d *dispatcher) timetable() *timetable {
	t := &timetable{dispatcher: d, live: map[*step]*running{}, waiting: map[*step][]time.Duration{}, finished: make(chan *running)}
	for _, s := range d.steps {
		t.queue = append(t.queue, occurrence{s, s.due})
	}
	slices.SortStableFunc(t.queue, byDue)
	return t
}

// next is when something is due, or the phase over.
func (t *timetable) next() time.Duration {
	if len(t.queue) > 0 {
		return min(t.length, t.queue[0].at)
	}
	return t.length
}

// startDue starts what is due by now.
func (t *timetable) startDue() {
	for len(t.queue) > 0 && t.queue[0].at < t.length && time.Since(t.begin) >= t.queue[0].at {
		o := t.queue[0]
		t.queue = t.queue[1:]
		if t.live[o.s] != nil {
			t.waiting[o.s] = append(t.waiting[o.s], o.at)
		} else {
			t.start(o.s, o.at)
		}
		if o.s.every > 0 {
			o.at += o.s.every
			i, _ := slices.BinarySearchFunc(t.queue, o, byDue)
			t.queue = slices.Insert(t.queue, i, o)
		}
	}
}

func (t *timetable) start(s *step, due time.Duration) {
	r := t.launch(s, due)
	t.live[s] = r
	go func() { <-r.done; t.finished <- r }()
}

// over takes note of an occurrence that has ended, and starts the one that waited for it.
func (t *timetable) over(r *running) error {
	delete(t.live, r.s)
	if r.err != nil {
		return r.err
	}
	if w := t.waiting[r.s]; len(w) > 0 {
		t.waiting[r.s] = w[1:]
		t.start(r.s, w[0])
	}
	return nil
}

// never are the steps that did not begin.
func (t *timetable) never() (out []*step) {
	for _, o := range t.queue {
		if o.at == o.s.due {
			out = append(out, o.s)
		}
	}
	return out
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
