package compare

import (
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
)

// Rows gives for each cell those with results that ran beside it, itself among them: all targets with the same scenario, matrix
// values and stage. Each is with the same cell in the stages that repeat this one, as again (see Repeats) has it.
func Rows(res *record.Results, again map[*record.Cell][]*record.Cell) map[*record.Cell][][]*record.Cell {
	key := func(c *record.Cell) string {
		coord := c.Coord
		coord.Target = ""
		return coord.Stage + "\x00" + sameKey(coord)
	}
	rows := map[string][][]*record.Cell{}
	for i := range res.Cells {
		if c := &res.Cells[i]; c.Status.HasResults() {
			rows[key(c)] = append(rows[key(c)], again[c])
		}
	}
	out := map[*record.Cell][][]*record.Cell{}
	for i := range res.Cells {
		c := &res.Cells[i]
		out[c] = rows[key(c)]
	}
	return out
}

// RowOf is the row of sides that ran beside each other and are all that is of it, such as two phases of the same runs.
func RowOf(sides ...Side) (row [][]*record.Cell) {
	for _, s := range sides {
		row = append(row, s.all())
	}
	return row
}

// stagesIn are what the stages that repeat a row tell of a number of two sides of it; nothing if they did not run beside each
// other.
func stagesIn(row [][]*record.Cell, m Name, of, to Side) stats.Stages {
	if len(row) == 0 || of.Cell == nil || to.Cell == nil || of.Cell.Coord.Stage != to.Cell.Coord.Stage {
		return stats.Stages{}
	}
	s := stats.Stages{At: of.Cell.Coord.Stage, A: byStage(of.all(), m), B: byStage(to.all(), m)}
	if s.Repeated() { // it costs a look at the whole row
		for _, cells := range row {
			s.Row = append(s.Row, byStage(cells, m))
		}
	}
	return s
}

// all are the cell of a side and its repeats.
func (s Side) all() []*record.Cell { return append([]*record.Cell{s.Cell}, s.Again...) }

// byStage are the medians of a cell's runs by the stage.
func byStage(cells []*record.Cell, m Name) map[string]float64 {
	out := map[string]float64{}
	for _, c := range cells {
		if r := Read(c, "", m.perRun()); c.Status.HasResults() && r.Why == "" {
			out[c.Coord.Stage] = stats.Median(r.Runs)
		}
	}
	return out
}
