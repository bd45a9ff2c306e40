package engine

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/record"
)

// do does one run on an installation.
func (s *session) do(ctx context.Context, c *Cell, coord record.Coord, in *installation, b *begun) (err error) {
	r := &run{session: s, cell: c, inst: in, round: coord.Round, repeat: coord.Repeat, start: time.Now(), scope: s.journal.Scope(), broken: make(chan error, 1), eval: c.eval}
	r.rec = &record.Run{Coord: coord, Start: r.start.UTC(), Install: in.id, SetHistory: in.runs > 0, Params: map[string]any{}, With: map[string]any{}, ValueDescs: slices.Concat(c.declared.metrics, s.p.customDescs)}
	r.known = in.known.with(c.known).with(b.known).with(known{"round": float64(coord.Round), "repeat": float64(coord.Repeat)})
	for _, n := range r.known.names() {
		v, ok := r.known.value(n)
		if name, is := strings.CutPrefix(n, "params."); is && ok && !s.p.params[name].part.Val.Secret {
			r.rec.Params[name] = v
		} else if name, is := strings.CutPrefix(n, "with."); is && ok {
			r.rec.With[name] = v
		}
	}
	measured := slices.ContainsFunc(c.Scenario.Val.Phases, func(p dsl.Part[dsl.Phase]) bool { return p.Val.Kind == "measure" })
	for _, p := range c.Scenario.Val.Phases {
		recorded := p.Val.Kind != "install" && p.Val.Kind != "warm-up"
		r.rec.Phases = append(r.rec.Phases, record.Phase{Name: p.Val.Name, Kind: p.Val.Kind, Recorded: recorded, Headline: recorded && (!measured || p.Val.Kind == "measure")})
	}
	in.begin(r)
	if r.out, err = s.set.StartRun(r.rec, record.WriterOptions{Report: r.harness}); err != nil {
		return err
	}
	if r.procs, err = s.manager.Group(proc.GroupOptions{Dir: r.out.Dir, Journal: r.scope, Parent: in.group}); err != nil {
		return err
	}
	r.data.Run = r.rec
	s.progress.Run(coord, c.estimate())
	clock := newClock()
	servers := in.readServers(ctx)
	r.probes = s.p.probes(c)
	stop := r.sampling(ctx)
	r.do(ctx)
	stop()
	r.rec.Facts.Servers = in.readServers(ctx).since(servers)
	r.rec.Facts.ClockStep = clock.step()
	s.closeGroup(r.procs)
	in.over(r)
	return r.finish(ctx)
}

// finish derives the metrics and judges the measurement itself.
func (r *run) finish(ctx context.Context) error {
	if err := r.out.Checkpoint(r.rec); err != nil {
		r.harness(err)
	}
	r.out.Flush()
	r.rec.Facts.Lost = r.out.Lost()
	r.data.Run = r.rec
	if r.rec.Status != record.Failed {
		r.p.derive(ctx, &r.data)
	} else {
		measure.Derive(&r.data)
	}
	if err := r.out.Finish(r.rec); err != nil {
		slog.Error(err.Error())
	}
	cell := r.session.cell(r.cell)
	cell.Runs = append(cell.Runs, verdictRun(&r.data, true))
	r.progress.Done(r.rec)
	if r.rec.Status == record.Interrupted {
		return ErrInterrupted
	}
	return nil
}
