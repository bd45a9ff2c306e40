package engine

import (
	"math/rand/v2"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// A slot is one run in the order of a round: the cell's index and the repeat, from 1.
type slot struct {
	cell   *Cell
	repeat int
}

// order puts the runs of one round of a stage in order. The cells come target by target, each with its scenarios and
// matrix values in the order of the plan; repeats gives the number of runs of a cell.
//
//   - blocked: as they come, each cell with all its repeats;
//   - reverse: targets and scenarios (with their matrix values) backwards;
//   - interleave: scenario by scenario, every repeat goes through all targets before the next repeat;
//   - random: all runs shuffled by seed (PCG).
func order(how string, cells []*Cell, repeats func(*Cell) int, seed uint64) []slot {
	var out []slot
	if how == "reverse" {
		cells = slices.Clone(cells)
		slices.Reverse(cells)
	}
	if how == "interleave" {
		for _, group := range byScenario(cells) {
			most := 0
			for _, c := range group {
				most = max(most, repeats(c))
			}
			for r := 1; r <= most; r++ {
				for _, c := range group {
					if r <= repeats(c) {
						out = append(out, slot{c, r})
					}
				}
			}
		}
		return out
	}
	for _, c := range cells {
		for r := range repeats(c) {
			out = append(out, slot{c, r + 1})
		}
	}
	if how == "random" {
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// byScenario groups cells that differ in nothing but the target, in the order of their first member.
func byScenario(cells []*Cell) [][]*Cell {
	var groups [][]*Cell
	at := map[string]int{}
	for _, c := range cells {
		k := record.Coord{Scenario: c.Coord.Scenario, Matrix: c.Coord.Matrix}.CellName()
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}
