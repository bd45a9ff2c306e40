package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/plural"
)

const (
	mostThreadRows = 8    // threads of a cell that have a line of their own
	leastCores     = 1e-6 // below it a thread was idle: sums of times are no more exact
)

// threadSection is the table of what the threads of targets used.
func threadSection(b *builder, s record.Section) (Section, error) {
	out := Section{Title: "CPU by thread"}
	units, err := b.units(s.Cells)
	if err != nil {
		return out, fmt.Errorf("section threads: %w", err)
	}
	if len(units) == 0 {
		out.Blocks = append(out.Blocks, Paragraph{text("No cell was run of those that this table is about.")})
		return out, nil
	}
	coords := varying(units, slices.DeleteFunc(b.coordinates(), func(n string) bool { return n == "target" }))
	coords = append(coords, "target")
	t := Table{}
	for _, c := range coords {
		t.Columns = append(t.Columns, Column{Title: c})
	}
	t.Columns = append(t.Columns, Column{Title: "thread"}, Column{Title: "CPU (cores)", Right: true}, Column{Title: "of the target's", Right: true})
	several := false
	for _, g := range b.groups(units, coords) {
		u := g[0]
		several = several || len(u.cell.Runs) > 1
		lines, err := b.threadLines(u)
		if err != nil {
			return out, err
		}
		for _, line := range lines {
			var texts []Text
			for _, v := range values(u, coords) {
				texts = append(texts, text(v))
			}
			t.Rows = append(t.Rows, append(texts, line...))
		}
	}
	words := "In the headline phases"
	if several {
		words += " of the first run of each cell that has any"
	}
	out.Blocks = append(out.Blocks, Paragraph{text(words + "; a thread is named as the kernel has it, with its id.")}, t)
	return out, nil
}

// threadLines are the threads of a unit that used most, one for all others, or one that says why there are none.
func (b *builder) threadLines(u unit) ([][]Text, error) {
	none := func(word, why string) [][]Text {
		return [][]Text{{text("-"), text(word, b.note(why)), text("-")}}
	}
	if !u.cell.Status.HasResults() {
		return none(shortStatus(u.cell.Status), b.name(u.cell.Coord)+": "+u.cell.Status.Words(u.cell.Reason)), nil
	}
	threads, err := b.threadsOf(u)
	if err != nil {
		return nil, err
	}
	if len(threads) == 0 {
		return none("n/a", b.name(u.cell.Coord)+": no thread was recorded one by one"), nil
	}
	var sum, rest, unseen float64
	var known []Thread
	others, why := 0, ""
	for _, th := range threads {
		switch {
		case th.Why != "":
			why = cmp.Or(why, th.Why)
		case th.Rest:
			sum, rest, unseen = sum+th.Cores, rest+th.Cores, unseen+th.Cores
		default:
			sum, known = sum+th.Cores, append(known, th)
		}
	}
	if len(known) == 0 {
		return none("n/a", b.name(u.cell.Coord)+": "+why), nil
	}
	slices.SortStableFunc(known, func(x, y Thread) int { return cmp.Compare(y.Cores, x.Cores) })
	for len(known) > mostThreadRows || len(known) > 0 && known[len(known)-1].Cores < leastCores {
		rest += known[len(known)-1].Cores
		known, others = known[:len(known)-1], others+1
	}
	line := func(name string, cores float64) []Text {
		share := "-"
		if sum > 0 {
			share = percent(cores / sum)
		}
		return []Text{text(name), text(number(cores, series.Timing)), text(share)}
	}
	var out [][]Text
	for _, th := range known {
		out = append(out, line(oneLine(th.Name), th.Cores))
	}
	switch {
	case unseen >= leastCores:
		out = append(out, line("all others", rest))
	case rest >= leastCores:
		out = append(out, line(plural.Of(others, "other thread"), rest))
	case others > 0:
		out = append(out, line(plural.Of(others, "idle thread"), 0))
	}
	return out, nil
}

// threadsOf are those of the first run of a unit that has any.
func (b *builder) threadsOf(u unit) ([]Thread, error) {
	if b.in.Threads == nil {
		return nil, nil
	}
	for _, id := range u.measured().Runs {
		if r := b.runs[id]; r == nil || !r.Status.HasResults() {
			continue
		}
		threads, err := b.in.Threads(id)
		if err != nil {
			return nil, fmt.Errorf("reading run %s: %w", id, err)
		}
		if len(threads) > 0 {
			return threads, nil
		}
	}
	return nil, nil
}
