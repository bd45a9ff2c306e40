package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
)

// backends changes the backends and routes of a run's installation, whose replicas are processes.
type backends struct {
	in            *installation
	r             *run
	phase, action string // where it is asked for, and the action's name
}

var _ task.Backends = backends{}

type noBackends struct{}

func (noBackends) Scale(context.Context, task.Scale) error   { return errNoRun }
func (noBackends) Route(context.Context, task.Routing) error { return errNoRun }

// Scale implements task.Backends.
func (x backends) Scale(ctx context.Context, s task.Scale) error {
	from := len(x.in.replicas(s.Backend))
	step, steps := 1, s.To-from
	if steps < 0 {
		step, steps = -1, -steps
	}
	if s.Over == 0 || steps < 2 {
		return x.scale(ctx, s, s.To)
	}
	begun := time.Now()
	for i := range steps {
		select {
		case <-time.After(time.Until(begun.Add(s.Over * time.Duration(i) / time.Duration(steps)))):
		case <-ctx.Done():
			return x.unmade(ctx, "scale", scaleWords(s.Backend, from+step*i, s.To), turn{})
		}
		if err := x.scale(ctx, s, from+step*(i+1)); err != nil {
			return err
		}
	}
	return nil
}

func scaleWords(backend string, from, to int) string {
	return fmt.Sprintf("scale %s %d -> %d", backend, from, to)
}

// scale starts and ends replicas at once.
func (x backends) scale(ctx context.Context, s task.Scale, to int) error {
	t, over := x.in.change(ctx, x.r)
	if over == nil {
		return x.unmade(ctx, "scale", fmt.Sprintf("scale %s to %d", s.Backend, to), t)
	}
	defer over()
	all := x.in.replicas(s.Backend)
	c := &record.Change{Kind: "scale", Backend: s.Backend, What: scaleWords(s.Backend, len(all), to), Nothing: len(all) == to}
	defer x.begin(c, t)()
	if c.Nothing {
		return nil
	}
	came, err := x.start(ctx, s.Backend, to-len(all), c)
	if errors.Is(err, errStillRunning) { // a result, as what is not made
		return nil
	}
	if err != nil {
		return err
	}
	stay, leave := all[:min(to, len(all))], all[min(to, len(all)):]
	for _, p := range leave {
		c.Left = append(c.Left, replicaName(s.Backend, p))
	}
	c.Gone = to == 0
	m := x.resize(ctx, s, slices.Concat(stay, came))
	if s.Drain != task.DrainAnnounceFirst {
		x.in.leave(leave, s.Grace, x.r.event)
		return x.tell(ctx, c, m, s.Within, came, nil)
	}
	err = x.tell(ctx, c, m, s.Within, came, leave)
	x.quiet(ctx, leave, s.Within)
	x.in.leave(leave, s.Grace, x.r.event)
	return err
}

// resize has the target use these replicas from the next telling on, which the marker sees. How a backend answers that is to
// have none must be asked before.
func (x backends) resize(ctx context.Context, s task.Scale, all []task.Process) (m *marker) {
	if len(all) == 0 {
		m = x.in.mark(ctx, s.Backend, s.Within)
		m.ends(ctx)
		x.in.mu.Lock()
		x.in.moved.lost = append(x.in.moved.lost, m)
		x.in.mu.Unlock()
	}
	x.in.setReplicas(s.Backend, all)
	x.learn(s.Backend)
	if m == nil {
		m = x.in.mark(ctx, s.Backend, s.Within)
	}
	return m
}

// start starts n replicas all at once and returns when they are ready.
func (x backends) start(ctx context.Context, backend string, n int, c *record.Change) ([]task.Process, error) {
	came, err := x.in.startReplicas(ctx, backend, n)
	if few := (*tooFew)(nil); errors.As(err, &few) {
		c.Why = fmt.Sprintf("%s %d of %d replicas were ready", phaseOver, few.ready, few.of)
		if errors.Is(few.cause, ErrInterrupted) {
			c.Why = interruptedBefore
		}
	} else if err != nil {
		c.Why = "a replica could not be started"
	}
	if err != nil {
		return nil, fmt.Errorf("starting a replica of %s: %w", backend, err)
	}
	for _, p := range came {
		c.Came = append(c.Came, replicaName(backend, p))
		x.r.noteProcess(p, x.in.wanted(p))
		replicaEvent(x.r.event, p, "ready", "is ready")
	}
	return came, nil
}

// startReplicas starts n replicas with the lowest numbers that are free. If one does not become ready none stays.
func (in *installation) startReplicas(ctx context.Context, backend string, n int) ([]task.Process, error) {
	if n <= 0 {
		return nil, nil
	}
	live, _ := in.group.Find(backend) // none lives: every number is free
	var numbers []int
	for i := 0; len(numbers) < n; i++ {
		if !slices.ContainsFunc(live, func(p task.Process) bool { return p.Replica() == i }) {
			numbers = append(numbers, i)
		}
	}
	came := make([]task.Process, n)
	some, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	var numbered []int
	for i := range came {
		numbered = append(numbered, i)
	}
	_ = each(numbered, inTurn(func(i int) (err error) {
		if some.Err() != nil {
			return nil
		}
		b, ports, err := in.bindReplica(some, backend, numbers[i])
		if err == nil {
			came[i], err = in.startReplica(some, backend, numbers[i], b, ports)
		}
		if err != nil {
			came[i] = nil
			in.release(ports)
			failed(err)
		}
		return err
	}))
	err := context.Cause(some)
	if err == nil {
		return came, nil
	}
	ready := slices.DeleteFunc(came, func(p task.Process) bool { return p == nil })
	if context.Cause(ctx) != nil {
		err = &tooFew{len(ready), n, context.Cause(ctx)}
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoBudget)
	defer cancel()
	return nil, errors.Join(err, each(ready, inTurn(func(p task.Process) error {
		defer in.release(p.Ports())
		return in.group.Stop(stop, p)
	})))
}

// tooFew says that replicas were not all ready when the context of their start ended.
type tooFew struct {
	ready, of int
	cause     error
}

func (e *tooFew) Error() string {
	return fmt.Sprintf("%d of %d were ready: %v", e.ready, e.of, e.cause)
}
func (e *tooFew) Unwrap() error { return e.cause }

// inTurn lets no more calls of f run at once than keep this machine busy: were all replicas to begin at once, none would be
// ready until nearly all are, and none could be left out when the time is over.
func inTurn[T any](f func(T) error) func(T) error {
	busy := make(chan struct{}, max(4, 2*runtime.NumCPU()))
	return func(v T) error {
		busy <- struct{}{}
		defer func() { <-busy }()
		return f(v)
	}
}

func (in *installation) release(ports map[string]int) {
	for _, port := range ports {
		in.group.Release(port)
	}
}

// leave tells replicas to end, and takes leave of each when it has.
func (in *installation) leave(all []task.Process, grace time.Duration, event func(string, string, map[string]any)) {
	for _, p := range all {
		ended := false
		select {
		case <-p.Exited():
			ended = true
			status, _ := p.Exit()
			replicaEvent(event, p, "exited", "had ended before: "+status)
		default:
			replicaEvent(event, p, "leaving", "is told to end")
		}
		in.leaving.Go(func() {
			begun := time.Now()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			defer in.hurried(cancel)()
			if err := in.group.StopWithin(ctx, p, grace); err != nil {
				in.leftover(err)
				return
			}
			in.gone(ctx, p)
			in.release(p.Ports())
			if ended {
				return
			}
			status, _ := p.Exit()
			replicaEvent(event, p, "exited", fmt.Sprintf("ended after %.0f ms: %s", float64(time.Since(begun))/float64(time.Millisecond), status))
		})
	}
}

// replicaEvent notes what becomes of a replica.
func replicaEvent(event func(string, string, map[string]any), p task.Process, state, what string) {
	event("replica", fmt.Sprintf("%s %s", replicaName(p.Name(), p), what), map[string]any{"process": p.Name(), "replica": p.Replica(), "pid": p.PID(), "ports": p.Ports(), "state": state})
}

// wanted are the CPUs that a process was to have.
func (in *installation) wanted(p task.Process) []int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.wants[p]
}

// learn lets expressions of the run know where a backend is now.
func (x backends) learn(backend string) {
	where := x.in.readdress(backend)
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	x.r.known = x.r.known.with(where)
}

// quiet waits until replicas that are to leave get no more requests: none within two looks in a row. Those that do not count
// are not waited for.
func (x backends) quiet(ctx context.Context, leave []task.Process, within time.Duration) {
	const look, looks = 50 * time.Millisecond, 2
	deadline := time.Now().Add(within)
	for still, before := 0, requestsOf(ctx, leave); still < looks && time.Now().Before(deadline); {
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return
		}
		now := requestsOf(ctx, leave)
		if still++; !slices.Equal(before, now) {
			still = 0
		}
		before = now
	}
}

// requestsOf are the requests that each of the processes has counted; 0 where it does not count.
func requestsOf(ctx context.Context, all []task.Process) (out []float64) {
	for _, p := range all {
		out = append(out, served(ctx, p)["requests"])
	}
	return out
}
