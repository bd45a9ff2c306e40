package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/load"
)

// ownStall is the generator's own delay in sending, in milliseconds, above which it may be what kept requests waiting.
const ownStall = 500

// A crowd is what of a cell's requests of one open loop waited for a connection, in all phases that count or in one.
type crowd struct {
	cell        *record.Cell
	load        string // its name in metrics
	phase       string // "" is all
	spec        load.Spec
	headline    bool
	waited, due int64
	runs        []crowdedRun // that have the load, also those in which none waited
	stalled     []crowdedRun // left out: the generator's own delay may be why requests waited in them
	unknown     []*record.Run
}

// A crowdedRun is what of the requests of a crowd is of one run.
type crowdedRun struct {
	run         *record.Run
	waited, due int64
}

func (c *crowd) share() float64     { return float64(c.waited) / float64(max(c.due, 1)) }
func (r crowdedRun) share() float64 { return float64(r.waited) / float64(max(r.due, 1)) }

func byShare(x, y *crowd) int { return cmp.Compare(x.share(), y.share()) }

// in counts the runs of which at least a share of the requests waited, and at least one.
func (c *crowd) in(least float64) (n int) {
	for _, r := range c.runs {
		if r.waited > 0 && r.share() >= least {
			n++
		}
	}
	return n
}

// worst is the run in which most requests waited. There is one if any waited.
func (c *crowd) worst() *record.Run {
	return slices.MaxFunc(c.runs, func(x, y crowdedRun) int { return cmp.Compare(x.waited, y.waited) }).run
}

// crowds are the cells in which so many requests waited for a connection that latencies are of the wait, each by its worst load, the
// worst first; and the crowds of all cells that are without some of their runs.
func (b *builder) crowds() (named, partial []*crowd, err error) {
	for i := range b.res.Cells {
		of, err := b.crowdsOf(&b.res.Cells[i], "")
		if err != nil {
			return nil, nil, err
		}
		if len(of) == 0 {
			continue
		}
		for _, c := range of {
			if len(c.stalled)+len(c.unknown) > 0 {
				partial = append(partial, c)
			}
		}
		if c := slices.MaxFunc(of, byShare); c.share() >= stats.DistortedAbove {
			named = append(named, c)
		}
	}
	slices.SortStableFunc(named, func(x, y *crowd) int { return byShare(y, x) })
	return named, partial, nil
}

// headlineCrowd is that of the headline load of a cell of which the largest share waited; nil if none is known.
func (b *builder) headlineCrowd(cell *record.Cell, phase string) (*crowd, error) {
	all, err := b.crowdsOf(cell, phase)
	all = slices.DeleteFunc(all, func(c *crowd) bool { return !c.headline || len(c.runs) == 0 })
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return slices.MaxFunc(all, byShare), nil
}

// crowdsOf are those of a cell, of each of its open loops one; in one phase, or in all if it is "".
func (b *builder) crowdsOf(cell *record.Cell, phase string) (out []*crowd, err error) {
	at := map[string]*crowd{}
	for _, id := range cell.Runs {
		r := b.runs[id]
		if r == nil || !r.Status.HasResults() {
			continue
		}
		seen := map[string]bool{} // loads of one name have one metric
		for _, l := range r.Loads {
			name := record.LoadName(l.Name)
			if len(l.Spec.Rate) == 0 || seen[name] {
				continue
			}
			seen[name] = true
			c := at[name]
			if c == nil {
				c = &crowd{cell: cell, load: name, phase: phase, spec: l.Spec, headline: l.Headline}
				at[name], out = c, append(out, c)
			}
			n, known, err := b.waited(r, name, phase)
			if err != nil {
				return nil, err
			}
			if !known {
				c.unknown = append(c.unknown, r)
				continue
			}
			c.add(r, n)
		}
	}
	return out, nil
}

// add adds a run, of which so many requests waited. Where some waited and the generator itself was delayed for long, it is left out.
func (c *crowd) add(r *record.Run, waited int64) {
	of := crowdedRun{run: r, waited: waited}
	own := int64(0)
	for _, l := range r.Loads {
		for p, n := range l.Totals {
			if record.LoadName(l.Name) == c.load && r.Counts(&l, p) && (c.phase == "" || c.phase == p) {
				of.due, own = of.due+n.Due, max(own, n.StalledLagNs)
			}
		}
	}
	if waited > 0 && float64(own)/1e6 > ownStall {
		c.stalled = append(c.stalled, of)
		return
	}
	c.runs, c.waited, c.due = append(c.runs, of), c.waited+of.waited, c.due+of.due
}

// waited is how many requests of a load of a run waited for a connection, in one phase or in all that count, as it was recorded.
func (b *builder) waited(r *record.Run, load, phase string) (n int64, known bool, err error) {
	window := "load/" + load
	if phase != "" {
		window = "phase/" + phase + "/" + window
	}
	if v, ok := r.Metrics[window].Get("waited"); ok {
		return int64(v), true, nil
	}
	if _, why := r.Missing[window+"/waited"]; why { // none was due
		return 0, true, nil
	}
	return b.waitedBefore(r, load, phase)
}

// mostWaitsRead bounds the runs of which samples are read because they were recorded before the metric waited was.
const mostWaitsRead = 100

// waitedBefore counts for waited from samples, in a run that was recorded before there was the metric. It is not known where that
// would be one run too many: those in which a request was sent the latest are read.
func (b *builder) waitedBefore(r *record.Run, load, phase string) (n int64, known bool, err error) {
	switch {
	case !mayHaveWaited(r):
		return 0, true, nil
	case b.in.Waited == nil:
		return 0, false, nil
	case b.waitCounts == nil:
		b.waitCounts = map[string]map[loadPhase]int64{}
		late := slices.Clone(b.in.Runs)
		late = slices.DeleteFunc(late, func(r *record.Run) bool { return !r.Status.HasResults() || !mayHaveWaited(r) })
		slices.SortStableFunc(late, func(x, y *record.Run) int { return cmp.Compare(mostLag(y), mostLag(x)) })
		for _, r := range late[:min(len(late), mostWaitsRead)] {
			b.waitCounts[r.ID] = nil
		}
	}
	of, bounded := b.waitCounts[r.ID]
	if !bounded {
		return 0, false, nil
	}
	if of == nil {
		all, err := b.in.Waited(r.ID)
		if err != nil {
			return 0, false, fmt.Errorf("reading run %s: %w", r.ID, err)
		}
		of = map[loadPhase]int64{}
		for _, s := range all {
			name := record.LoadName(s.Load)
			of[loadPhase{name, s.Phase}] += s.Waited
			of[loadPhase{name, ""}] += s.Waited
		}
		b.waitCounts[r.ID] = of
	}
	return of[loadPhase{load, phase}], true, nil
}

// A loadPhase is a load, as metrics name it, in a phase; in all if that is "".
type loadPhase struct{ load, phase string }

// mostLag is the longest that a request of the headline was sent after it was due, in milliseconds; of any window.
func mostLag(r *record.Run) (ms float64) {
	for _, w := range r.Metrics {
		ms = max(ms, w.Value("lag_max_ms"))
	}
	return ms
}

// mayHaveWaited tells runs of open loops in which a request was sent late, or may never have been.
func mayHaveWaited(r *record.Run) bool {
	open := false
	for _, l := range r.Loads {
		for _, n := range l.Totals {
			if len(l.Spec.Rate) > 0 && n.Errors[load.Timeout]+n.Errors[load.Dropped] > 0 {
				return true
			}
		}
		open = open || len(l.Spec.Rate) > 0
	}
	return open && mostLag(r) > float64(record.LongWait)/1e6
}
