package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

// A probing is a probe of a cell: those of the plan, and those that are always there.
type probing struct {
	name  string
	of    []string
	every time.Duration
	spec  task.Probe
}

// probes lists the probes of a cell: its processes and the host always, unless the stage leaves them out or the plan has
// one of that kind. What fill does not know is a problem.
func (p *Program) probes(cell *Cell, fill dsl.Filler) (out []probing, list diag.List) {
	has := map[string]bool{}
	for i := range p.Plan.Probes {
		part, l := p.Plan.Probes[i].Bind(fill)
		list = append(append(list, l...), unknown(part.Holes())...)
		has[part.Val.Kind] = true
		spec, ok := part.Val.Spec.(task.Probe)
		if !ok {
			continue // its whole value is not known
		}
		x := probing{name: cmp.Or(part.Val.Name, part.Val.Kind), every: part.Val.Every, spec: spec}
		if part.Val.Of != "" {
			x.of = []string{part.Val.Of}
		}
		out = append(out, x)
	}
	for _, k := range p.always {
		if !has[k.Name] {
			out = append(out, probing{name: k.Name, every: time.Second, spec: k.New().(task.Probe)})
		}
	}
	var without []string
	if st := p.stage(cell.Coord.Stage); st != nil {
		without = st.Part.Val.Probes.Without
	}
	return slices.DeleteFunc(out, func(x probing) bool { return slices.Contains(without, x.name) || slices.Contains(without, "all") }), list
}

func (p *Program) stage(name string) *Stage {
	for _, s := range p.Stages {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// sampling runs the probes of a run until stop is called, which takes a last sample, so that the end of the last phase is
// covered.
func (r *run) sampling(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	for _, p := range r.probes {
		r.rec.Series = append(r.rec.Series, p.spec.Produces()...)
		wg.Go(func() {
			due := r.start
			for {
				r.sample(p)
				due = due.Add(p.every)
				for time.Since(due) > p.every { // what is missed is missed; the probe counts it
					due = due.Add(p.every)
				}
				select {
				case <-ctx.Done():
					r.sample(p)
					return
				case <-time.After(time.Until(due)):
				}
			}
		})
	}
	return func() { cancel(); wg.Wait() }
}

// sample takes one sample of a probe, which may take as long as its interval.
func (r *run) sample(p probing) {
	ctx, cancel := context.WithTimeout(context.Background(), max(p.every, time.Second))
	defer cancel()
	env := &task.ProbeEnv{Log: slog.Default(), Now: r.since(time.Now()), Processes: r.procs, Engine: os.Getpid(), Address: r.inst.address, Ended: r.inst.endedReplicas, Emit: r.point,
		Busy: func() (out []int) {
			for _, q := range r.procs.All() {
				out = append(out, q.PID())
			}
			return append(out, os.Getpid())
		}}
	if err := p.spec.Sample(ctx, env); err != nil {
		r.event("probe", fmt.Sprintf("probe %s: %v", p.name, err), map[string]any{"probe": p.name})
	}
}

// probeGaps is how many samples each probe missed, by probe: the last reading of the counter that it keeps.
func (r *run) probeGaps() map[string]int {
	out := map[string]int{}
	for _, p := range r.data.Points {
		if p.Series == "probe_gaps" && p.V > 0 {
			out[p.Source] = int(p.V)
		}
	}
	return out
}

// snapshot is one reading of a probe of the plan.
func (r *run) snapshot(name string) (map[string]float64, error) {
	var names []string
	for _, p := range r.probes {
		names = append(names, p.name)
		if p.name != name {
			continue
		}
		out := map[string]float64{}
		fresh, ok := p.spec.(task.Fresh)
		if !ok {
			return nil, fmt.Errorf("probe %s cannot be read once: it needs two samples", name)
		}
		env := &task.ProbeEnv{Log: slog.Default(), Now: r.since(time.Now()), Processes: r.procs, Engine: os.Getpid(), Address: r.inst.address, Ended: func() []task.Process { return nil },
			Emit: func(pt series.Point) { out[pointName(pt)] = pt.V }, Busy: func() []int { return nil }}
		return out, fresh.Fresh().Sample(context.Background(), env)
	}
	return nil, fmt.Errorf("no probe %q; %s", name, didYouMean(name, names))
}

func pointName(p series.Point) string {
	s := p.Series
	if p.Source != "" {
		s = fmt.Sprintf("%s.%d.%s", p.Source, p.Replica, s)
	}
	if p.Label != "" {
		s += "." + p.Label
	}
	return s
}
