package compare

import (
	"github.com/planrun/planrun/engine/record"
)

// Repeats are the cells of results by what they have in common with the same cell in other stages: for each cell all that
// are of its scenario, target and matrix values, itself among them.
func Repeats(res *record.Results) map[*record.Cell][]*record.Cell {
	byKey := map[string][]*record.Cell{}
	for i := range res.Cells {
		k := sameKey(res.Cells[i].Coord)
		byKey[k] = append(byKey[k], &res.Cells[i])
	}
	out := map[*record.Cell][]*record.Cell{}
	for _, cells := range byKey {
		for _, c := range cells {
			out[c] = cells
		}
	}
	return out
}

// sameKey is the same for a cell in every stage.
func sameKey(c record.Coord) string {
	k := c.Scenario + "\x00" + c.Target
	for _, a := range c.Matrix {
		k += "\x00" + a.Name + "\x00" + a.Value
	}
	return k
}
