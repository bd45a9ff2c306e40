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
	// The same cells in other stages: the largest factor between their medians, and between which; 0 if no cell is repeated.
	Stages float64
	Apart  Pair
	// The coefficient of variation of each cell's runs: the median of the cells, and the largest with its cell (nil if no cell
	// has two runs).
	CV, WorstCV float64
	Worst       *record.Cell
	Tainted     string // a guard that spoils the value of a cell, in words
	Why         string // why there is no floor; empty if there is one
}

// Factor is the floor: a ratio is beyond it if it is above Factor or below its inverse. 0 means that it is not known.
func (f Floor) Factor() float64 { return max(f.Chance, f.Stages) }

// floorOf is the noise floor of a metric among cells. Again has the repeats of each, as Repeats gives them.
func floorOf(cells []*record.Cell, again map[*record.Cell][]*record.Cell, m Name) Floor {
	f := Floor{Name: m}
	if len(cells) > 0 {
		f.Scenario = cells[0].Coord.Scenario
	}
	var runs [][]float64
	var cvs []float64
	zeros, only := 0, ""
	of := Name{Text: m.Text, Window: m.Window, Metric: m.Metric} // whatever statistic of the runs is asked for
	for _, c := range cells {
		r := Read(c, "", of)
		if r.Why != "" {
			continue
		}
		if r.Only != "" {
			only = r.Only
			continue
		}
		f.Cells++
		if f.Runs == 0 || len(r.Runs) < f.Runs {
			f.Runs = len(r.Runs)
		}
		if f.Tainted == "" {
			f.Tainted = r.Tainted
		}
		if slices.Min(r.Runs) <= 0 {
			zeros++
			continue
		}
		runs = append(runs, r.Runs)
		if len(r.Runs) > 1 {
			cv := stats.CV(r.Runs)
			cvs = append(cvs, cv)
			if f.Worst == nil || cv > f.WorstCV {
				f.Worst, f.WorstCV = c, cv
			}
		}
		for _, other := range again[c] {
			o := Read(other, "", of)
			if other == c || o.Why != "" || o.Only != "" || slices.Min(o.Runs) <= 0 {
				continue
			}
			if by := math.Exp(math.Abs(math.Log(stats.Median(o.Runs) / stats.Median(r.Runs)))); by > f.Stages {
				f.Stages, f.Apart = by, Pair{c, other}
			}
		}
	}
	if len(cvs) > 0 {
		f.CV = stats.Median(cvs)
	}
	f.Spread, _ = stats.SpreadOf(runs...)
	enough := 2*stats.MinRuns - 2
	if f.Spread.Freedom >= enough && f.Spread.Deviation > 0 {
		f.Chance = math.Exp(f.Spread.HalfWidth(f.Runs, f.Runs))
	}
	switch {
	case f.Factor() > 1: // a factor of 1 is of values that are all the same, which says nothing about noise
	case f.Cells == 0 && only != "":
		f.Why = only
	case f.Cells == 0:
		f.Why = m.Text + ": no cell has a value"
	case len(runs) == 0 && zeros > 0:
		f.Why = "each cell has a run that gave 0: there is no ratio to it"
	case f.Stages == 1 || f.Spread.Freedom >= enough:
		f.Stages, f.Apart = 0, Pair{}
		f.Why = "all runs of a cell gave the same value, which says nothing about noise"
	case f.Runs >= stats.MinRuns:
		f.Why = fmt.Sprintf("too few runs: one cell has %d, and no stage repeats it; %d of it are needed, or another cell", f.Runs, enough+1)
	default:
		f.Why = fmt.Sprintf("too few runs (the fewest of a cell is %d, and no stage repeats one): %d a cell are needed", f.Runs, stats.MinRuns)
	}
	return f
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
