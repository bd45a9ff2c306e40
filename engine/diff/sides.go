package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// A gatherer finds the cells of a side, which may be of several sets.
type gatherer struct {
	sets    []*Set
	byKey   []map[string]*record.Cell // of each set
	repeats []map[*record.Cell][]*record.Cell
}

func newGatherer(first *Set) gatherer {
	g := gatherer{sets: first.all()}
	for _, set := range g.sets {
		cells := map[string]*record.Cell{}
		for _, c := range set.cells(nil) {
			cells[set.key(c.Coord)] = c
		}
		g.byKey, g.repeats = append(g.byKey, cells), append(g.repeats, compare.Repeats(set.Results))
	}
	return g
}

// side is a side's cell, called name, by that of the first set: in each set that has results of it, and of them all together.
// Where none has, it is that of the first set.
func (g gatherer) side(name string, c *record.Cell) (parts []part, side compare.Side) {
	side = compare.Side{Name: name, Cell: c}
	key := g.sets[0].key(c.Coord)
	var cells []*record.Cell
	for i, set := range g.sets {
		x := g.byKey[i][key]
		if x == nil || !x.Status.HasResults() {
			continue
		}
		parts, cells = append(parts, part{set, x}), append(cells, x)
		side.Again = append(side.Again, g.repeats[i][x]...)
	}
	switch {
	case len(cells) == 1:
		side.Cell = cells[0]
	case len(cells) > 1:
		side.Cell, side.Sets = compare.Together(cells, g.sets[0].Results.Descs), cells
	}
	return parts, side
}

// further looks at the further sets of a side as at two sides: what they differ in, and whether they measured the same thing.
func (d *Diff) further(side string, first *Set, only func(record.Coord) bool) {
	alone := *first
	alone.More = nil
	for _, m := range first.More {
		pairs, _ := match(&alone, m, only)
		x := &Diff{A: &alone, B: m, Differences: slices.Concat(environments(first.Environment, m.Environment), programs(&alone, m), plans(&alone, m))}
		x.mismatches(pairs)
		among := fmt.Sprintf("among the sets of %s, %s as A and %s as B: ", side, first.Name, m.Name)
		for _, y := range x.Differences {
			if y.Among, y.Words = side, among+y.Words; y.Group != Texts {
				d.Differences = append(d.Differences, y)
			}
		}
		for _, y := range x.Mismatches {
			d.Mismatches = append(d.Mismatches, Mismatch{among + y.What, y.Cells})
		}
	}
}

// lacking says which sets of a side have no results of cells of which others of the side have some.
func lacking(pairs []pair, parts func(pair) []part, side *Set) (out []string) {
	for _, set := range side.all() {
		var cells []string
		for _, p := range pairs {
			if of := parts(p); len(of) > 0 && !slices.ContainsFunc(of, func(x part) bool { return x.set == set }) {
				cells = append(cells, Place(p.coord()))
			}
		}
		if len(cells) > 0 {
			out = append(out, fmt.Sprintf("%s has no results of %s; its side is the other sets alone there", set.Name, some(cells)))
		}
	}
	return out
}

// some are the first of several cells, and how many there are more.
func some(cells []string) string {
	const most = 3
	words := strings.Join(cells[:min(most, len(cells))], "; ")
	if more := len(cells) - most; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words
}

// Drift says that it is not known how far two sets of the same thing lie apart, or hardly, and how to learn it; "" where it
// is known as well as the rest, or where nothing is compared that it is between.
func (d *Diff) Drift() string {
	if d.Same != "" || d.A.Dir == d.B.Dir || len(d.Rows) == 0 || d.A.imported() || d.B.imported() {
		return ""
	}
	const learn = "Measure both sides again, in turns, and name all sets of each: planrun diff A,A2 B,B2."
	switch len(d.A.More) + len(d.B.More) {
	case 0:
		return "Each side is one set: how far two sets of the same thing lie apart is not known, and the noise floors do not hold it. " + learn
	case 1:
		return "How far two sets of the same thing lie apart is known from two sets of one side alone, and may well be more. " + learn
	}
	return ""
}

// imported reports whether others published the figures.
func (s *Set) imported() bool { return s.Environment != nil && s.Environment.Imported != nil }
