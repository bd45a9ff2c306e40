package engine

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// gathered is what the runs of a result set come to, before anything is judged.
type gathered struct {
	data     *verdict.Data // without the params: see paramsOf
	runs     []*record.Run
	notes    map[string][]string // what is missing of what was recorded of a run, by its ID
	failed   []string            // what of planrun itself failed, in words
	complete bool                // all runs that were planned are there and ended by themselves
}

// gather reads all runs of a set. Samples are what verdicts may ask of each.
func (p *Program) gather(set *record.Set, leftOut map[string]string, stages []record.Stage, samples *shelf) (*gathered, error) {
	g := &gathered{data: p.plannedCells(leftOut, stages), notes: map[string][]string{}, complete: true}
	for stored, err := range p.stored(set) {
		if err != nil {
			return nil, err
		}
		g.runs, g.notes[stored.ID] = append(g.runs, stored.Run), stored.notes
		g.add(stored.Run, samples)
	}
	for _, cell := range g.data.Cells {
		if cell.State == verdict.Ran && len(cell.Runs) < cell.Planned {
			g.complete = false
		}
	}
	return g, nil
}

// plannedCells are the cells of the plan, without runs.
func (p *Program) plannedCells(leftOut map[string]string, stages []record.Stage) *verdict.Data {
	data := &verdict.Data{Cells: map[verdict.Coord]*verdict.Cell{}}
	for _, c := range p.Cells {
		cell := &verdict.Cell{Planned: p.plannedRuns(c, stages)}
		if why, ok := leftOut[c.Coord.CellName()]; ok {
			cell.State, cell.Reason = verdict.LeftOut, why
		}
		data.Cells[verdictCoord(c.Coord)] = cell
	}
	return data
}

// plannedRuns is how many runs of a cell there were to be: as its stages said when they began, or, of rounds that never
// began, as far as the plan tells.
func (p *Program) plannedRuns(c *Cell, stages []record.Stage) int {
	n, begun, rounds := 0, 0, max(1, p.stage(c.Coord.Stage).Rounds)
	last := c.Repeats
	for _, s := range stages {
		if s.Name == c.Coord.Stage {
			last = s.Planned[c.Coord.CellName()]
			n, begun, rounds = n+last, begun+1, max(s.Rounds, 1)
		}
	}
	return n + last*max(0, rounds-begun)
}

// add adds a run to its cell, and notes what failed.
func (g *gathered) add(r *record.Run, samples *shelf) {
	cell := g.data.Cells[verdictCoord(r.Coord)]
	if cell == nil {
		cell = &verdict.Cell{} // of a plan that was edited since
	}
	switch r.Status {
	case record.Unsupported, record.Skipped:
		addNone(cell, r)
	case record.Failed:
		g.failed = append(g.failed, fmt.Sprintf("%s: %s", r.Coord.CellName(), reasonOf(r)))
		if r.Install == "" {
			addNone(cell, r)
		} else {
			addRun(cell, verdictRun(r, samples.of(r), true))
		}
	default:
		g.addRan(cell, r, samples)
	}
}

// addRan adds a run that has results.
func (g *gathered) addRan(cell *verdict.Cell, r *record.Run, samples *shelf) {
	if r.Status == record.Unfinished || r.Status == record.Interrupted {
		g.complete = false
	}
	run := verdictRun(r, samples.of(r), true)
	if r.Status == record.Unfinished {
		run.Outcome, run.Reason = verdict.Inconclusive, "it was not finished: planrun was killed"
	}
	addRun(cell, run)
	addWhole(cell, r)
	for _, check := range r.Checks {
		if !check.OK {
			g.failed = append(g.failed, fmt.Sprintf("%s: %s: %s", r.Coord.CellName(), check.Name, check.Message))
		}
	}
}
