package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// A pair is a cell that both sides have.
type pair struct {
	a, b         *record.Cell // of the first set of each side
	partsA       []part
	partsB       []part
	sideA, sideB compare.Side
}

// A part is a cell in one of the sets of a side.
type part struct {
	set  *Set
	cell *record.Cell
}

// coord is what the pair is called: A's cell, or where the sides are one target each, both of these.
func (p pair) coord() record.Coord {
	c := p.a.Coord
	if p.b.Coord.Target != c.Target {
		c.Target += ":" + p.b.Coord.Target
	}
	return c
}

// Unmatched is a cell of one set alone, or one that has no results in either.
type Unmatched struct {
	Side  string       `json:"side"` // "A", "B" or "both"
	Coord record.Coord `json:"coord"`
	Why   string       `json:"why"`
	Lost  bool         `json:"lost,omitempty"` // A has results of it, and B has no such cell
}

// match pairs the cells of two sides, in the order of A's.
func match(a, b *Set, only func(record.Coord) bool) (pairs []pair, left []Unmatched) {
	gatherA, gatherB := newGatherer(a), newGatherer(b)
	cellsA, cellsB := a.cells(only), b.cells(only)
	inB := map[string]*record.Cell{}
	for _, c := range cellsB {
		inB[b.key(c.Coord)] = c
	}
	matched := map[*record.Cell]bool{}
	for _, c := range cellsA {
		if other := inB[a.key(c.Coord)]; other != nil {
			matched[other] = true
			p := pair{a: c, b: other}
			p.partsA, p.sideA = gatherA.side("A", c)
			p.partsB, p.sideB = gatherB.side("B", other)
			if !p.sideA.Cell.Status.HasResults() && !p.sideB.Cell.Status.HasResults() {
				left = append(left, Unmatched{Side: "both", Coord: p.coord(), Why: "in A " + c.Status.Words(c.Reason) + ", in B " + other.Status.Words(other.Reason)})
				continue
			}
			pairs = append(pairs, p)
			continue
		}
		left = append(left, Unmatched{Side: "A", Coord: c.Coord, Why: why("B", b, cellsB, c.Coord), Lost: c.Status.HasResults()})
	}
	for _, c := range cellsB {
		if !matched[c] {
			left = append(left, Unmatched{Side: "B", Coord: c.Coord, Why: why("A", a, cellsA, c.Coord)})
		}
	}
	return pairs, left
}

// cells are those that take part.
func (s *Set) cells(only func(record.Coord) bool) (out []*record.Cell) {
	for i := range s.Results.Cells {
		c := &s.Results.Cells[i]
		if (s.Target == "" || c.Coord.Target == s.Target) && (only == nil || only(c.Coord)) {
			out = append(out, c)
		}
	}
	return out
}

// key is the same for cells that are matched. Where the sides are one target each, its name does not matter.
func (s *Set) key(c record.Coord) string {
	if s.Target != "" {
		c.Target = ""
	}
	axes := slices.Clone(c.Matrix)
	slices.SortFunc(axes, func(x, y record.Axis) int { return strings.Compare(x.Name, y.Name) })
	return fmt.Sprintf("%q %q %q %q", c.Stage, c.Scenario, c.Target, axes)
}

// why says what keeps a cell from having one like it in the set called name: the first of its coordinates that is not there,
// or that it was left out.
func why(name string, s *Set, cells []*record.Cell, c record.Coord) string {
	if s.Environment != nil {
		if left, ok := s.Environment.LeftOut[c.CellName()]; ok {
			return "left out of " + name + ": " + left
		}
	}
	has := func(is func(record.Coord) bool) bool {
		return slices.ContainsFunc(cells, func(x *record.Cell) bool { return is(x.Coord) })
	}
	switch {
	case s.Target == "" && !has(func(x record.Coord) bool { return x.Target == c.Target }):
		return fmt.Sprintf("%s has no target %s", name, c.Target)
	case !has(func(x record.Coord) bool { return x.Scenario == c.Scenario }):
		return fmt.Sprintf("%s has no scenario %s", name, c.Scenario)
	case !has(func(x record.Coord) bool { return x.Stage == c.Stage }):
		return fmt.Sprintf("%s has no stage %s", name, c.Stage)
	}
	for _, a := range c.Matrix {
		if !has(func(x record.Coord) bool { return x.Scenario == c.Scenario && slices.Contains(x.Matrix, a) }) {
			return fmt.Sprintf("%s has no %s=%s of scenario %s", name, a.Name, a.Value, c.Scenario)
		}
	}
	if len(s.Gaps) > 0 {
		return name + " has no such cell; " + s.Gaps[0]
	}
	return name + " has no such cell"
}

// Place says a cell in words: "throughput / h1-small / size=4k / nginx".
func Place(c record.Coord) string {
	parts := []string{c.Stage, c.Scenario}
	for _, a := range c.Matrix {
		parts = append(parts, a.Name+"="+a.Value)
	}
	parts = append(parts, c.Target)
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " / ")
}
