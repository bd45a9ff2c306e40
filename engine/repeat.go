package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// do does one run on an installation. An error means that nothing more can be run.
func (s *session) do(ctx context.Context, c *Cell, coord record.Coord, in *installation, b *begun) (err error) {
	r := &run{session: s, cell: c, inst: in, round: coord.Round, repeat: coord.Repeat, start: time.Now(), scope: s.journal.Scope(), broken: make(chan error, 1), eval: c.eval}
	r.rec = &record.Run{Coord: coord, Start: r.start.UTC(), Install: in.id, SetHistory: in.runs > 0, Values: maps.Clone(in.found), ValueDescs: slices.Concat(c.declared.metrics, s.p.customDescs)}
	r.known = in.known.with(c.known).with(b.known).with(known{"round": float64(coord.Round), "repeat": float64(coord.Repeat)})
	problem := placedAt(s.p.bindParams(ctx, verdict.AtRun, r.eval, r.known, r.values(), s.p.neededBy(s.p.stage(coord.Stage)), map[string]string{}))
	r.rec.Params, r.rec.With = s.p.shownValues(r.known)
	r.rec.Phases = phasesOf(c.Scenario.Val.Phases)
	in.begin(r)
	if r.out, err = s.set.StartRun(r.kept(), record.WriterOptions{Report: r.harness}); err != nil {
		return err
	}
	r.rec.ID, r.rec.Version = r.out.ID, record.Version
	if r.procs, err = s.manager.Group(proc.GroupOptions{Dir: r.out.Dir, Journal: r.scope, Parent: in.group, OnOOM: in.oom, Adjustable: in.cell.Adjusts}); err != nil {
		return err
	}
	r.data.Run = r.rec
	s.progress.Run(coord, c.estimate())
	clock := newClock()
	servers := in.readServers(ctx)
	probes, list := s.p.probes(c, r.eval.fill(ctx, r.known, r.values()))
	r.probes = probes
	if problem == nil {
		problem = placedAt(list)
	}
	stop := r.sampling(ctx)
	r.do(ctx, problem)
	r.rec.Facts.RelaysLeft = in.relaysLeft(ctx)
	stop()
	r.rec.Facts.Servers = in.readServers(ctx).since(servers).since(r.aside)
	r.rec.Facts.ClockStep = clock.step()
	s.closeGroup(r.procs)
	in.over(r)
	return r.finish(ctx)
}

// shownValues are the params and knobs that a run's record shows.
func (p *Program) shownValues(k known) (params, with map[string]any) {
	params, with = map[string]any{}, map[string]any{}
	for _, n := range k.names() {
		v, ok := k.value(n)
		if name, is := strings.CutPrefix(n, "params."); is && ok && !p.params[name].part.Val.Secret {
			params[name] = v
		} else if name, is := strings.CutPrefix(n, "with."); is && ok {
			with[name] = v
		}
	}
	return params, with
}

// phasesOf says which phases of a scenario are recorded, and which make the headline: those of kind measure, else all that
// are recorded.
func phasesOf(phases []dsl.Part[dsl.Phase]) (out []record.Phase) {
	measured := slices.ContainsFunc(phases, func(p dsl.Part[dsl.Phase]) bool { return p.Val.Kind == "measure" })
	for _, p := range phases {
		recorded := p.Val.Kind != "install" && p.Val.Kind != "warm-up"
		out = append(out, record.Phase{Name: p.Val.Name, Kind: p.Val.Kind, Recorded: recorded, Headline: recorded && (!measured || p.Val.Kind == "measure")})
	}
	return out
}

// kept is the record as it is written: without secrets. The caller holds r.mu, or is alone.
func (r *run) kept() *record.Run { return redacted(r.p, r.rec) }

// finish derives the metrics and judges the measurement itself. Its error is an interrupt, or that the run cannot be written.
func (r *run) finish(ctx context.Context) error {
	r.mu.Lock()
	if err := r.out.Checkpoint(r.kept()); err != nil {
		r.harnessLocked(err)
	}
	r.out.Flush()
	r.rec.Facts.Lost, r.rec.Facts.ProbeGaps = r.out.Lost(), r.probeGaps()
	data := r.data // what comes later belongs to no run
	r.mu.Unlock()
	if r.rec.Status != record.Failed {
		r.p.derive(ctx, &data)
	} else {
		measure.Derive(&data)
	}
	err := r.out.Finish(r.kept())
	if err != nil {
		err = fmt.Errorf("writing what the run %s came to: %w", r.rec.ID, err)
	}
	// What was sampled of it is on disk by now, so it is not kept for later stages.
	stored := shelf{set: r.session.set}
	addRun(r.session.cell(r.cell), verdictRun(data.Run, stored.of(data.Run), true))
	r.progress.Done(r.rec)
	if r.rec.Status == record.Interrupted {
		err = errors.Join(err, ErrInterrupted)
	}
	return err
}
