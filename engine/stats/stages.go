package stats

import (
	"maps"
	"math"
	"slices"
)

// Stages are what cells that were measured beside each other gave in the stages that repeat one another: medians, by the name
// of the stage. The zero value is of cells that no stage repeats.
type Stages struct {
	At   string // the stage whose ratio is asked for
	A, B map[string]float64
	Row  []map[string]float64 // of all cells that were beside each other there, both sides among them
}

// others are the stages other than that of the ratio that have a value of both sides, sorted.
func (s Stages) others() (names []string) {
	if !positive(s.A[s.At]) || !positive(s.B[s.At]) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.A)) {
		if name != s.At && positive(s.A[name]) && positive(s.B[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Repeated reports whether another stage has a value of both sides, and so their ratio.
func (s Stages) Repeated() bool { return len(s.others()) > 0 }

// apart is by how much a ratio of two cells of the row may differ from itself in another stage, as logarithms: own is what this
// one does, row, from three cells on, what the whole row tells. What moves all of them alike (the machine at another time) is in
// no ratio, so it counts in neither.
func (s Stages) apart() (own, row float64) {
	others := s.others()
	if len(others) == 0 {
		return 0, 0
	}
	var again []float64
	for _, name := range others {
		again = append(again, s.A[name]/s.B[name])
	}
	row, _ = RowApart(s.Row, s.At, others...)
	return apart(s.A[s.At]/s.B[s.At], again), row
}

// RowApart is by how much the ratio of two cells of a row differs from itself in other stages, at Confidence, as a logarithm:
//
//	t(0.975, f) 1.4826 med |m|
//
// with m the moves of the cells to each of the others, apart from that of the median cell there, and f how many they are less one
// for each stage. With one other stage that is Student's interval of the difference of two cells in a stage, because the move of
// a cell has twice the variance of what it has in one stage, and so has the difference of two cells. With several, whose moves
// all begin in one stage, it is about that. The deviation of the moves is 1.4826 times their median distance (Rousseeuw and
// Croux 1993, Alternatives to the median absolute deviation), so that one restless cell does not speak for all. A stage that has
// fewer than three of the cells tells nothing; it reports false if none is left.
func RowApart(row []map[string]float64, at string, others ...string) (float64, bool) {
	const fewest = 3
	var off []float64
	freedom := 0
	for _, to := range others {
		moves := slices.DeleteFunc(Moves(row, at, to), math.IsNaN)
		if len(moves) < fewest {
			continue
		}
		freedom += len(moves) - 1
		for _, m := range moves {
			off = append(off, math.Abs(m))
		}
	}
	if freedom == 0 {
		return 0, false
	}
	const normal = 1.4826
	return student(freedom) * normal * Median(off), true
}

// Moves are by how much more than the median cell of its row each cell moved from one stage to another, as logarithms; NaN of
// a cell that has no value in one of them.
func Moves(row []map[string]float64, from, to string) []float64 {
	out := make([]float64, len(row))
	var known []float64
	for i, cell := range row {
		out[i] = math.NaN()
		if positive(cell[from]) && positive(cell[to]) {
			out[i] = math.Log(cell[to] / cell[from])
			known = append(known, out[i])
		}
	}
	all := Median(known)
	for i := range out {
		out[i] -= all
	}
	return out
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
