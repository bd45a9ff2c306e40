package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
)

// A Floor is the noise floor of a metric among cells that one would compare with each other, those of a scenario as a rule:
// by how much two of them that are the same come to differ.
type Floor struct {
	Scenario string
	Name     Name
	Cells    int // that have a value
	Runs     int // the fewest that one of them has
	// Runs of the same cell: their pooled deviation, and the factor that a ratio of two cells of Runs runs each is within by
	// chance alone at stats.Confidence; 0 if they are too few to know.
	Spread stats.Spread
	Chance float64
	// The same cells in the stages that repeat theirs: the factor by which a ratio of two of them comes to differ from itself
	// there; of fewer than three cells in a stage the largest that was seen, of a single one that of its medians, so what moves
	// all cells alike counts only there. 0 if no cell is repeated. Apart is the cell that moved most, in the stages of which
	// the factor is, and Moved by how much more than the median cell, as a factor (0 of fewer than three cells): it is in the
	// floors of that cell's own ratios, and may be far from what is typical.
	Stages, Moved float64
	Apart         Pair
	// The coefficient of variation of each cell's runs: the median of the cells, and the largest with its cell (nil if no cell
	// has two runs).
	CV, WorstCV float64
	Worst       *record.Cell
	Tainted     string // a guard that spoils the value of a cell, in words
	Why         string // why there is no floor; empty if there is one
}

// Factor is the floor: a ratio is beyond it if it is above Factor or below its inverse. 0 means that it is not known.
func (f Floor) Factor() float64 { return max(f.Chance, f.Stages) }

// A flooring gathers what a floor is made of.
type flooring struct {
	Floor
	of       Name // whatever statistic of the runs is asked for
	runs     [][]float64
	cvs      []float64
	zeros    int              // cells with a run that gave 0
	repeated [][]*record.Cell // each cell that counts, with its repeats
	only     string           // why a cell has no values of single runs
}

// floorOf is the noise floor of a metric among cells. Again has the repeats of each, as Repeats gives them.
func floorOf(cells []*record.Cell, again map[*record.Cell][]*record.Cell, m Name) Floor {
	f := flooring{Floor: Floor{Name: m}, of: m.perRun()}
	if len(cells) > 0 {
		f.Scenario = cells[0].Coord.Scenario
	}
	for _, c := range cells {
		f.add(c, again[c])
	}
	if len(f.cvs) > 0 {
		f.CV = stats.Median(f.cvs)
	}
	f.between()
	f.Spread, _ = stats.SpreadOf(f.runs...)
	if f.Spread.Freedom >= enough && f.Spread.Deviation > 0 {
		f.Chance = math.Exp(f.Spread.HalfWidth(f.Runs, f.Runs))
	}
	if f.Factor() > 1 { // a factor of 1 is of values that are all the same, which says nothing about noise
		return f.Floor
	}
	if f.Why = f.missing(); f.Why == allTheSame {
		f.Stages, f.Apart, f.Moved = 0, Pair{}, 0
	}
	return f.Floor
}

// add adds a cell, and how far its repeats are from it.
func (f *flooring) add(c *record.Cell, again []*record.Cell) {
	r := Read(c, "", f.of)
	if r.Why != "" {
		return
	}
	if r.Only != "" {
		f.only = r.Only
		return
	}
	f.Cells++
	if f.Runs == 0 || len(r.Runs) < f.Runs {
		f.Runs = len(r.Runs)
	}
	if f.Tainted == "" {
		f.Tainted = r.Tainted
	}
	if slices.Min(r.Runs) <= 0 {
		f.zeros++
		return
	}
	f.runs = append(f.runs, r.Runs)
	if len(r.Runs) > 1 {
		cv := stats.CV(r.Runs)
		f.cvs = append(f.cvs, cv)
		if f.Worst == nil || cv > f.WorstCV {
			f.Worst, f.WorstCV = c, cv
		}
	}
	f.repeated = append(f.repeated, again)
}

// between learns how far the cells of a stage are from themselves in each other stage that repeats it.
func (f *flooring) between() {
	type stages struct{ from, to string }
	seen := map[stages]bool{}
	for _, again := range f.repeated {
		for _, other := range again {
			pair := stages{again[0].Coord.Stage, other.Coord.Stage}
			if other == again[0] || seen[pair] || seen[stages{pair.to, pair.from}] {
				continue
			}
			seen[pair] = true
			f.apart(pair.from, pair.to)
		}
	}
}

// apart learns how far the cells of a stage are from themselves in another one.
func (f *flooring) apart(from, to string) {
	var pairs []Pair
	var row []map[string]float64
	for _, again := range f.repeated {
		i := slices.IndexFunc(again, func(c *record.Cell) bool { return c.Coord.Stage == to })
		if again[0].Coord.Stage != from || i < 0 {
			continue
		}
		if m := byStage([]*record.Cell{again[0], again[i]}, f.of); m[from] > 0 && m[to] > 0 {
			pairs, row = append(pairs, Pair{again[0], again[i]}), append(row, m)
		}
	}
	if len(row) == 0 {
		return
	}
	by, known := stats.RowApart(row, from, to)
	moves := stats.Moves(row, from, to)
	switch {
	case known:
	case len(row) == 1:
		by = math.Abs(math.Log(row[0][to] / row[0][from]))
	default: // two
		by = math.Abs(moves[0] - moves[1])
	}
	if by = math.Exp(by); by > f.Stages {
		i := furthest(moves)
		f.Stages, f.Apart, f.Moved = by, pairs[i], 0
		if known {
			f.Moved = math.Exp(moves[i])
		}
	}
}

// furthest is the index of the number that is furthest from 0.
func furthest(v []float64) (at int) {
	for i, x := range v {
		if math.Abs(x) > math.Abs(v[at]) {
			at = i
		}
	}
	return at
}

// enough degrees of freedom: those of two cells of stats.MinRuns runs.
const enough = 2*stats.MinRuns - 2

const allTheSame = "all runs of a cell gave the same value, which says nothing about noise"

// missing says why there is no floor.
func (f *flooring) missing() string {
	switch {
	case f.Cells == 0 && f.only != "":
		return f.only
	case f.Cells == 0:
		return f.Name.Text + ": no cell has a value"
	case len(f.runs) == 0 && f.zeros > 0:
		return "each cell has a run that gave 0: there is no ratio to it"
	case f.Stages == 1 || f.Spread.Freedom >= enough:
		return allTheSame
	case f.Runs >= stats.MinRuns:
		return fmt.Sprintf("too few runs: one cell has %d, and no stage repeats it; %d of it are needed, or another cell", f.Runs, enough+1)
	}
	return fmt.Sprintf("too few runs (the fewest of a cell is %d, and no stage repeats one): %d a cell are needed", f.Runs, stats.MinRuns)
}

// Floors are the noise floors of each scenario, in the order of the cells: of the metrics that which names, given the
// scenario's cells. Control arms of observation have no part in them.
func Floors(res *record.Results, which func(cells []*record.Cell) []Name) (out []Floor) {
	again, controls := Repeats(res), Controls(res)
	var scenarios []string
	by := map[string][]*record.Cell{}
	for i := range res.Cells {
		c := &res.Cells[i]
		if controls[c] || !c.Status.HasResults() {
			continue
		}
		if by[c.Coord.Scenario] == nil {
			scenarios = append(scenarios, c.Coord.Scenario)
		}
		by[c.Coord.Scenario] = append(by[c.Coord.Scenario], c)
	}
	for _, sc := range scenarios {
		for _, n := range which(by[sc]) {
			out = append(out, floorOf(by[sc], again, n))
		}
	}
	return out
}
