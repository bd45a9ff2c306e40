package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// stages runs the schedule. An error ends it: an interrupt, or the result set cannot be written. What goes wrong with a
// target or a run is a result, and the next one is run.
func (s *session) stages(ctx context.Context) error {
	for _, st := range s.p.Stages {
		if !slices.ContainsFunc(st.Cells, func(c *Cell) bool { return c.LeftOut == "" }) {
			continue
		}
		rounds, done := st.Rounds, 0
		for round := 1; done < max(1, rounds); round++ {
			begun, err := s.begin(ctx, st, round)
			if err != nil {
				return err
			}
			rounds = begun.rounds
			if err := s.round(ctx, st, begun); err != nil {
				return err
			}
			done++
		}
		s.leaveAll()
	}
	return nil
}

// A begun stage has its expressions evaluated.
type begun struct {
	round, rounds int
	record        record.Stage
	known         known
	together      bool
}

// begin evaluates what is known when a stage begins, and records it.
func (s *session) begin(ctx context.Context, st *Stage, round int) (*begun, error) {
	k := s.p.planned.with(known{"stage": st.Name})
	v := verdict.Values{Data: s.results}
	list := s.p.bindParams(ctx, verdict.AtStage, s.p.eval, k, v, s.p.neededBy(st))
	part, l := st.Part.Bind(s.p.eval.fill(ctx, k, v))
	if list = append(list, l...); list.HasErrors() {
		return nil, fmt.Errorf("stage %s: %w", st.Name, placedAt(list))
	}
	b := &begun{round: round, rounds: max(1, part.Val.Rounds), known: k, together: part.Val.Together,
		record: record.Stage{Name: st.Name, Round: round, Start: time.Now().UTC(), Order: cmp.Or(part.Val.Order, "blocked"), Seed: uint64(part.Val.Seed), Params: map[string]any{}}}
	if b.record.Order == "random" && b.record.Seed == 0 {
		b.record.Seed = uint64(time.Now().UnixNano())
	}
	for _, p := range s.p.order {
		if v, ok := k.value("params." + p.name); ok && p.time == verdict.AtStage {
			b.record.Params[p.name] = v
		}
	}
	return b, s.set.WriteStage(&b.record)
}

// round does all runs of one round of a stage, in its order.
func (s *session) round(ctx context.Context, st *Stage, b *begun) error {
	var cells []*Cell
	repeats := map[*Cell]int{}
	for _, c := range st.Cells {
		if c.LeftOut != "" {
			s.cell(c).State = verdict.LeftOut
			continue
		}
		n := c.Repeats
		if n == 0 { // it was known only now
			part, list := c.Scenario.Bind(c.eval.fill(ctx, b.known.with(c.known), verdict.Values{At: verdictCoord(c.Coord), Data: s.results}))
			if err := placedAt(list); err != nil {
				return err
			}
			n = part.Val.Repeats
		}
		repeats[c] = n
		cells = append(cells, c)
		s.cell(c).Planned += n
	}
	if b.together {
		for _, c := range cells {
			if _, err := s.ensure(ctx, c, b, false); err != nil {
				return err
			}
		}
	}
	for _, slot := range order(b.record.Order, cells, func(c *Cell) int { return repeats[c] }, b.record.Seed+uint64(b.round)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.one(ctx, slot, b); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) cell(c *Cell) *verdict.Cell {
	k := verdictCoord(c.Coord)
	if s.results.Cells[k] == nil {
		s.results.Cells[k] = &verdict.Cell{}
	}
	return s.results.Cells[k]
}

// one does one run, or records why there is none.
func (s *session) one(ctx context.Context, slot slot, b *begun) error {
	c := slot.cell
	coord := c.Coord
	coord.Round, coord.Repeat = b.round, slot.repeat
	none := func(status record.Status, why string) error {
		cell := s.cell(c)
		cell.State, cell.Reason = verdict.Skipped, why
		if status == record.Failed {
			cell.State = verdict.Failed
		}
		if slot.repeat > 1 {
			return nil // said once
		}
		s.progress.None(coord, string(status), why)
		return s.set.WriteRun(&record.Run{Coord: coord, Status: status, Reason: why, Start: time.Now().UTC()})
	}
	if c.Unsupported != "" {
		return none(record.Unsupported, c.Unsupported)
	}
	if why, ok := s.failed[c.installKey()]; ok {
		return none(record.Failed, why)
	}
	if missing := c.declared.missing(); len(missing) > 0 {
		why := "not installed on this machine: " + strings.Join(missing, ", ")
		s.missing(c.Coord.Target, why)
		return none(record.Unsupported, why)
	}
	in, err := s.ensure(ctx, c, b, true)
	if err != nil {
		return err
	}
	if in == nil {
		why := s.failed[c.installKey()]
		if status, ok := strings.CutPrefix(why, missingProgram); ok {
			delete(s.failed, c.installKey())
			return none(record.Unsupported, status)
		}
		return none(record.Failed, why)
	}
	return s.do(ctx, c, coord, in, b)
}

// stagesLeftOut finds params that need results of cells that --only or --skip left out, before anything is done.
func (s *session) stagesLeftOut(ctx context.Context) diag.List {
	var list diag.List
	ran := map[string]bool{}
	for _, st := range s.p.Stages {
		included := slices.ContainsFunc(st.Cells, func(c *Cell) bool { return c.LeftOut == "" })
		if included {
			for _, p := range s.p.order {
				if p.time != verdict.AtStage || !s.p.neededBy(st)[p.name] {
					continue
				}
				for _, h := range p.part.Holes() {
					for _, m := range stageRef.FindAllStringSubmatch(h.Text, -1) {
						if other := s.p.stage(m[1]); other != nil && !ran[m[1]] {
							list.Addf(h.Pos(1, 0), "stage %q needs params.%s, which needs the results of stage %q, which is left out", st.Name, p.name, m[1]).Hint = fmt.Sprintf("run that stage too, or use --set %s=VALUE", p.name)
						}
					}
				}
			}
		}
		ran[st.Name] = included
	}
	return list
}
