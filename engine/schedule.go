package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// stages runs the schedule. An error ends it: an interrupt, or the result set cannot be written. What goes wrong with a
// stage, a target or a run is a result, and the next one is run.
func (s *session) stages(ctx context.Context) error {
	for _, st := range s.p.Stages {
		if !slices.ContainsFunc(st.Cells, func(c *Cell) bool { return c.LeftOut == "" }) {
			continue
		}
		for round, rounds := 1, 1; round <= rounds; round++ {
			b, err := s.begin(ctx, st, round)
			if err != nil {
				return err
			}
			rounds = b.record.Rounds
			if err := s.round(ctx, b); err != nil {
				return err
			}
		}
		s.leaveAll()
	}
	return nil
}

// A begun stage has its expressions evaluated. Its cells are those that are to run, with what only the stage knew.
type begun struct {
	record   record.Stage
	known    known
	together bool
	cells    []*Cell
	repeats  map[*Cell]int
	broken   map[*Cell]noRun // cells whose values cannot be known
	said     map[*Cell]bool  // that they have no run
}

// begin evaluates what is known when a round of a stage begins, and records it. A stage whose values cannot be known has
// no runs: its cells have failed.
func (s *session) begin(ctx context.Context, st *Stage, round int) (*begun, error) {
	b := &begun{known: s.p.planned.with(known{"stage": st.Name}), repeats: map[*Cell]int{}, broken: map[*Cell]noRun{}, said: map[*Cell]bool{},
		record: record.Stage{Name: st.Name, Round: round, Start: time.Now().UTC(), Params: map[string]any{}, Tainted: map[string]string{}, Planned: map[string]int{}}}
	v := verdict.Values{Data: s.results}
	list := s.p.bindParams(ctx, verdict.AtStage, s.p.eval, b.known, v, s.p.neededBy(st), b.record.Tainted)
	part, l := st.Part.Bind(s.p.eval.fill(ctx, b.known, v))
	list = append(append(list, l...), unknown(part.Holes())...)
	b.together, b.record.Rounds, b.record.Order, b.record.Seed = part.Val.Together, max(1, part.Val.Rounds), cmp.Or(part.Val.Order, "blocked"), uint64(part.Val.Seed)
	b.record.Together, b.record.Without = part.Val.Together, part.Val.Probes.Without
	if b.record.Order == "random" && b.record.Seed == 0 {
		b.record.Seed = uint64(time.Now().UnixNano())
	}
	for _, p := range s.p.order {
		if v, ok := b.known.value("params." + p.name); ok && p.time == verdict.AtStage && !p.part.Val.Secret {
			b.record.Params[p.name] = v
		}
	}
	for _, c := range st.Cells {
		if c.LeftOut != "" {
			s.cell(c).State, s.cell(c).Reason = verdict.LeftOut, c.LeftOut
			continue
		}
		c, n, l := s.inStage(ctx, c, b)
		b.cells, b.repeats[c] = append(b.cells, c), n
		if err := placedAt(append(slices.Clone(list), l...)); err != nil {
			b.repeats[c], b.broken[c] = max(1, n), noRun{record.Failed, s.redact(err.Error())}
		}
		b.record.Planned[c.Coord.CellName()] = b.repeats[c]
		s.cell(c).Planned += b.repeats[c]
	}
	return b, s.set.WriteStage(&b.record)
}

// inStage gives a cell with the knobs that only its stage knew, and how many runs of it there are to be in a round.
func (s *session) inStage(ctx context.Context, c *Cell, b *begun) (*Cell, int, diag.List) {
	if len(c.Scenario.Holes()) == 0 {
		return c, c.Repeats, nil
	}
	part, list := c.Scenario.Bind(c.eval.fill(ctx, c.known.with(b.known), verdict.Values{At: verdictCoord(c.Coord), Data: s.results}))
	out := *c
	out.known = maps.Clone(c.known)
	out.With, _ = mergeKnobs(c.Target, part)
	for _, k := range out.With {
		out.known["with."+k.Name] = k.Val.Value
		if !k.Val.Value.Known() {
			list.Addf(k.Val.Value.Pos(), "the value of the knob %s is not known when the stage begins", k.Name)
		}
	}
	return &out, cmp.Or(c.Repeats, part.Val.Repeats), list
}

// unknown lists the holes that could not be filled.
func unknown(holes []*dsl.Hole) (list diag.List) {
	for _, h := range holes {
		list.Addf(h.Pos(1, 0), "the value of %s is not known", h.Text)
	}
	return list
}

// round does all runs of one round of a stage, in its order.
func (s *session) round(ctx context.Context, b *begun) error {
	if b.together {
		for _, c := range b.cells {
			if why := s.without(c, b); why != nil {
				continue
			}
			if _, err := s.ensure(ctx, c, b); err != nil {
				return err
			}
		}
	}
	for _, slot := range order(b.record.Order, b.cells, func(c *Cell) int { return b.repeats[c] }, b.record.Seed+uint64(b.record.Round)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.one(ctx, slot, b); err != nil {
			return err
		}
	}
	return nil
}

// one does one run, or records why there is none.
func (s *session) one(ctx context.Context, slot slot, b *begun) error {
	c, coord := slot.cell, slot.cell.Coord
	coord.Round, coord.Repeat = b.record.Round, slot.repeat
	why := s.without(c, b)
	if why == nil {
		in, err := s.ensure(ctx, c, b)
		if err != nil {
			return err
		}
		if in != nil {
			return s.do(ctx, c, coord, in, b)
		}
		why = s.without(c, b)
	}
	if b.said[c] {
		return nil
	}
	b.said[c] = true
	r := &record.Run{Coord: coord, Status: why.status, Reason: why.text, Start: time.Now().UTC()}
	addNone(s.cell(c), r)
	s.progress.None(coord, string(why.status), why.text)
	return s.set.WriteRun(r)
}

// cell is what became of a cell so far.
func (s *session) cell(c *Cell) *verdict.Cell {
	k := verdictCoord(c.Coord)
	if s.results.Cells[k] == nil {
		s.results.Cells[k] = &verdict.Cell{}
	}
	return s.results.Cells[k]
}
