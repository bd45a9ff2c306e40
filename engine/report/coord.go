package report

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// A unit is what a row or column of a table stands for: a cell, or the part of its runs that one round or repeat has.
type unit struct {
	cell          *record.Cell
	round, repeat int          // 0: all
	part          *record.Cell // what the runs of that round or repeat make; nil if all are meant
}

// measured is the cell whose numbers are meant.
func (u unit) measured() *record.Cell {
	if u.part != nil {
		return u.part
	}
	return u.cell
}

// order learns in which order coordinates are shown (that of the results, else that of appearance), how many rounds there
// are, and which cells are of the same scenario, target and matrix.
func (b *builder) order() {
	b.rank = map[string]map[string]int{}
	learn := func(name, value string) {
		if b.rank[name] == nil {
			b.rank[name] = map[string]int{}
		}
		if _, ok := b.rank[name][value]; !ok {
			b.rank[name][value] = len(b.rank[name])
		}
	}
	for _, s := range b.res.Stages {
		learn("stage", s.Name)
	}
	for _, s := range b.res.Scenarios {
		learn("scenario", s.Name)
	}
	for _, t := range b.res.Targets {
		learn("target", t.Name)
	}
	for _, r := range b.in.Runs {
		b.rounds = max(b.rounds, r.Coord.Round)
	}
	for _, c := range b.res.Cells {
		learn("stage", c.Coord.Stage)
		learn("scenario", c.Coord.Scenario)
		learn("target", c.Coord.Target)
		for _, a := range c.Coord.Matrix {
			if !slices.Contains(b.axes, a.Name) {
				b.axes = append(b.axes, a.Name)
			}
			learn(a.Name, a.Value)
		}
	}
	b.again = compare.Repeats(b.res)
	b.besides = compare.Rows(b.res, b.again)
}

// coordinates are the names of all coordinates of a cell, in the order in which they are shown.
func (b *builder) coordinates() []string {
	return append(append([]string{"stage", "scenario"}, b.axes...), "target")
}

// at is a unit's value of a coordinate; "" if it has none.
func (u unit) at(name string) string {
	c := u.cell.Coord
	switch name {
	case "stage":
		return c.Stage
	case "scenario":
		return c.Scenario
	case "target":
		return c.Target
	case "round":
		return positive(u.round)
	case "repeat":
		return positive(u.repeat)
	}
	name = strings.TrimPrefix(name, "matrix.")
	for _, a := range c.Matrix {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

func positive(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// key is a unit's values of several coordinates.
func (u unit) key(names []string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = u.at(n)
	}
	return strings.Join(parts, "\x00")
}

// varying are the coordinates of names in which the units differ.
func varying(units []unit, names []string) (v []string) {
	for _, n := range names {
		if slices.ContainsFunc(units, func(u unit) bool { return u.at(n) != units[0].at(n) }) {
			v = append(v, n)
		}
	}
	return v
}

// groups puts units with the same key together, in the order in which they are shown.
func (b *builder) groups(units []unit, names []string) [][]unit {
	byKey := map[string][]unit{}
	var keys []string
	for _, u := range units {
		k := u.key(names)
		if byKey[k] == nil {
			keys = append(keys, k)
		}
		byKey[k] = append(byKey[k], u)
	}
	sort.SliceStable(keys, func(i, j int) bool {
		return b.before(byKey[keys[i]][0], byKey[keys[j]][0], names)
	})
	out := make([][]unit, len(keys))
	for i, k := range keys {
		out[i] = byKey[k]
	}
	return out
}

func (b *builder) before(x, y unit, names []string) bool {
	for _, n := range names {
		vx, vy := x.at(n), y.at(n)
		if vx == vy {
			continue
		}
		if n == "round" || n == "repeat" {
			ix, _ := strconv.Atoi(vx)
			iy, _ := strconv.Atoi(vy)
			return ix < iy
		}
		rank := b.rank[strings.TrimPrefix(n, "matrix.")]
		return rank[vx] < rank[vy]
	}
	return false
}

// units of the selected cells; divided by round or repeat if one of names asks for it.
func (b *builder) units(cells []int, names ...string) ([]unit, error) {
	round, repeat := slices.Contains(names, "round"), slices.Contains(names, "repeat")
	var units []unit
	for _, i := range cells {
		if i < 0 || i >= len(b.res.Cells) {
			return nil, fmt.Errorf("a section selects cell %d of %d", i, len(b.res.Cells))
		}
		c := &b.res.Cells[i]
		if !round && !repeat {
			units = append(units, unit{cell: c})
			continue
		}
		parts := map[unit][]*record.Run{}
		var order []unit
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			u := unit{cell: c}
			if round {
				u.round = r.Coord.Round
			}
			if repeat {
				u.repeat = r.Coord.Repeat
			}
			if parts[u] == nil {
				order = append(order, u)
			}
			parts[u] = append(parts[u], r)
		}
		for _, u := range order {
			u.part = compare.Part(c, parts[u], b.res.Descs)
			units = append(units, u)
		}
		if len(c.Runs) == 0 {
			units = append(units, unit{cell: c})
		}
	}
	return units, nil
}

// name says a coordinate in words: "throughput / h1-small / size=4k / nginx". Stages are left out where there is one.
func (b *builder) name(c record.Coord) string {
	var parts []string
	if c.Stage != "" && len(b.rank["stage"]) > 1 {
		parts = append(parts, c.Stage)
	}
	if c.Scenario != "" {
		parts = append(parts, c.Scenario)
	}
	for _, a := range c.Matrix {
		parts = append(parts, a.Name+"="+a.Value)
	}
	if c.Target != "" {
		parts = append(parts, c.Target)
	}
	if len(parts) == 0 {
		return "the plan"
	}
	return oneLine(strings.Join(parts, " / "))
}

// place is name with the round, or the run, where the coordinate is of one.
func (b *builder) place(c record.Coord) string {
	if w := b.which(c.Round, c.Repeat); w != "" {
		return b.name(c) + ", " + w
	}
	return b.name(c)
}

// runName says which run of its cell it is: "throughput / nginx, round 2, repeat 3".
func (b *builder) runName(r *record.Run) string { return b.place(r.Coord) }

// which says a round and repeat; "" if both are 0. Of runs, the round is left out where there is only one.
func (b *builder) which(round, repeat int) string {
	switch {
	case round == 0 && repeat == 0:
		return ""
	case repeat == 0:
		return fmt.Sprintf("round %d", round)
	case round == 0 || b.rounds < 2:
		return fmt.Sprintf("repeat %d", repeat)
	}
	return fmt.Sprintf("round %d, repeat %d", round, repeat)
}

// runsOfCells are the runs that are in the result set, in the order of the cells.
func (b *builder) runsOfCells() iter.Seq[*record.Run] {
	return func(yield func(*record.Run) bool) {
		for _, c := range b.res.Cells {
			for _, id := range c.Runs {
				if r := b.runs[id]; r != nil && !yield(r) {
					return
				}
			}
		}
	}
}
