package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/load"
)

// runLoads runs the load workers of one run.
type runLoads struct{ r *run }

// A loadRun is one load action: its workers, and what they said.
type loadRun struct {
	r       *run
	spec    load.Spec
	opts    task.LoadOptions
	workers []task.Process
	index   int // of its record in run.Loads

	following sync.Mutex // held while workers are told of boundaries, and while they are told to stop
	told      int        // boundaries of the run that they know, or need not know
	stopped   bool       // they were told to stop: they need not know any more

	mu       sync.Mutex
	start    time.Time // zero until it runs
	final    int       // workers that reported their last sample
	reported map[int]bool
	counts   map[string]load.Counts // by phase
	over     bool
}

// Prepare starts the workers, all at once (the rate at which they connect is that of all together); each connects and verifies.
func (l runLoads) Prepare(ctx context.Context, spec load.Spec, opts task.LoadOptions) (task.PreparedLoad, error) {
	r := l.r
	process := opts.Name
	opts.Name = r.loadName(opts.Name)
	spec.Name, spec.Workers = opts.Name, opts.Workers
	if spec.Phase == "" {
		spec.Phase = r.upcoming()
	}
	cpus := opts.CPUs
	if cpus == nil {
		cpus, _ = r.p.Host.CPUs.Get("load")
	}
	if spec.Pacing == "" {
		spec.Pacing = r.pacing(cpus, opts.Workers)
	}
	x := &loadRun{r: r, spec: spec, opts: opts, reported: map[int]bool{}, counts: map[string]load.Counts{}, workers: make([]task.Process, opts.Workers)}
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed sync.Once
	var failure error // of the first worker that did not become ready; the others need not then
	var wg sync.WaitGroup
	for i := range opts.Workers {
		wg.Go(func() {
			if err := x.prepare(starting, process, i, cpus); err != nil {
				failed.Do(func() { failure = err })
				cancel()
			}
		})
	}
	wg.Wait()
	if failure != nil {
		x.abandon()
		return nil, failure
	}
	rec := record.Load{Name: opts.Name, Headline: opts.Headline, Spec: spec, Workers: opts.Workers, CPUs: cpus, Totals: map[string]load.Counts{}, CrossChecks: plannedChecks(opts.CrossCheck)}
	for i, p := range x.workers {
		r.noteProcess(p, cpus)
		var ready load.Ready
		if err := json.Unmarshal(p.ReadyBody(), &ready); err != nil {
			x.abandon()
			return nil, fmt.Errorf("reading what worker %d of load %q said when it was ready: %w", i, opts.Name, err)
		}
		addReady(&rec.Ready, ready)
	}
	x.index = r.addLoad(rec)
	return x, nil
}

// prepare starts one worker.
func (x *loadRun) prepare(ctx context.Context, process string, i int, cpus []int) error {
	r, s := x.r, x.spec
	s.Worker = i
	p, err := r.procs.Start(ctx, task.ProcessSpec{Name: process, Role: "load", Limits: r.inst.limits("load"), Replica: i, Builtin: "load", Config: s, Hold: true, Ready: task.Ready{Within: readyWithin(s)}, CPUs: cpus,
		Nice: r.p.Host.Nice, Dir: r.dirOf("load", x.opts.Name, i), Grace: s.Timeout + 5*time.Second, OnSample: func(b json.RawMessage) { x.sample(i, b) }})
	if err != nil {
		return fmt.Errorf("starting worker %d of load %q: %w", i, x.opts.Name, err)
	}
	x.workers[i] = p
	return nil
}

// addReady adds what a worker said when it was ready to what others said: numbers are added up, of words the first ones
// stay, of the wires the least one (workers may differ in what they may use), of the server's bounds on streams the smallest.
func addReady(sum *load.Ready, r load.Ready) {
	sum.Connections += r.Connections
	sum.Verified += r.Verified
	sum.Problem = cmp.Or(sum.Problem, r.Problem)
	sum.Shortage = cmp.Or(sum.Shortage, r.Shortage)
	sum.Refused = cmp.Or(sum.Refused, r.Refused)
	if sum.Wire == "" || slices.Index(load.Wires, r.Wire) > slices.Index(load.Wires, sum.Wire) {
		sum.Wire, sum.WireNote = r.Wire, r.WireNote
	}
	if r.StreamLimit > 0 && (sum.StreamLimit == 0 || r.StreamLimit < sum.StreamLimit) {
		sum.StreamLimit = r.StreamLimit
	}
}

// readyWithin is how long a worker has to open its connections, 30 s beyond what its connect-rate takes; the first answer has
// the load's timeout beside it, because a slow target is a result.
func readyWithin(s load.Spec) time.Duration {
	within := 30*time.Second + s.Timeout
	if s.ConnectRate > 0 {
		within += time.Duration(float64(s.Connections) / s.ConnectRate * float64(time.Second))
	}
	return within
}

// loadName is what the next load of that name is recorded as: see record.LoadName.
func (r *run) loadName(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 1
	for _, l := range r.rec.Loads {
		if record.LoadName(l.Name) == name {
			n++
		}
	}
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s#%d", name, n)
}

// abandon ends workers that will not run.
func (x *loadRun) abandon() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, w := range x.workers {
		if w != nil {
			x.r.procs.Stop(ctx, w)
		}
	}
}

// Run is the load from its time zero to the end of its drain.
func (x *loadRun) Run(ctx context.Context) error {
	r := x.r
	start := time.Now()
	x.mu.Lock()
	x.start = start
	x.mu.Unlock()
	if err := each(x.workers, func(w task.Process) error { return w.Begin(ctx) }); err != nil {
		x.abandon()
		return fmt.Errorf("starting load %q: %w", x.opts.Name, err)
	}
	r.activate(ctx, x)
	defer r.deactivate(x)
	r.editLoad(x.index, func(l *record.Load) { l.Start = r.since(start) })
	died := make(chan task.Process, len(x.workers))
	for _, w := range x.workers {
		go func() {
			select {
			case <-w.Exited():
				died <- w
			case <-ctx.Done():
			}
		}()
	}
	select {
	case w := <-died:
		x.finish(ctx, 0)
		status, _ := w.Exit()
		return fmt.Errorf("worker %d of load %q ended by itself (%s); its log is %s", w.Replica(), x.opts.Name, status, r.logOf(w))
	case <-ctx.Done():
	}
	r.editLoad(x.index, func(l *record.Load) { l.Stopped = r.since(time.Now()) })
	return x.finish(ctx, x.spec.Timeout+5*time.Second)
}

// finish stops the workers, which drain for as long as that, and notes what they said in all.
func (x *loadRun) finish(ctx context.Context, drain time.Duration) error {
	x.following.Lock()
	x.stopped = true
	x.following.Unlock()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	defer x.r.hurried(cancel)()
	err := each(x.workers, func(w task.Process) error { return x.r.procs.Stop(stopCtx, w) })
	x.mu.Lock()
	x.over = true
	final, reported, counts := x.final, len(x.reported), maps.Clone(x.counts)
	x.mu.Unlock()
	x.r.editLoad(x.index, func(l *record.Load) {
		l.End, l.Final, l.Reported, l.Totals = x.r.since(time.Now()), final == len(x.workers), reported, counts
	})
	if err != nil && drain > 0 {
		return fmt.Errorf("stopping load %q: %w", x.opts.Name, err)
	}
	return nil
}

// sample takes what a worker reports.
func (x *loadRun) sample(worker int, body json.RawMessage) {
	var s load.Sample
	if err := json.Unmarshal(body, &s); err != nil {
		x.r.harness(fmt.Errorf("reading a sample of worker %d of load %q: %w", worker, x.opts.Name, err))
		return
	}
	x.mu.Lock()
	start := x.start
	x.mu.Unlock()
	// What waits for a phase to be complete reads the record next, so the record comes first.
	x.r.takeSample(x.opts.Name, worker, x.r.since(start), s)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reported[worker] = true
	if s.Final {
		x.final++
	}
	for _, sec := range s.Seconds {
		c := x.counts[sec.Phase]
		record.AddCounts(&c, sec.Counts)
		x.counts[sec.Phase] = c
	}
}

// each does f for all at once and joins the errors.
func each[T any](all []T, f func(T) error) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, v := range all {
		wg.Go(func() { errs[i] = f(v) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
