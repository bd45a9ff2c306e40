package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// tableSection makes a table as the plan asks for it, with its ratios behind it.
func tableSection(b *builder, s record.Section) (Section, error) {
	out := Section{Title: s.Title}
	units, err := b.units(s.Cells, append(slices.Clone(s.Rows), s.Columns...)...)
	if err != nil {
		return out, fmt.Errorf("table %q: %w", s.Title, err)
	}
	if len(units) == 0 {
		out.Blocks = append(out.Blocks, Paragraph{text("No cell was run of those that this table is about.")})
		return out, nil
	}
	metrics := make([]compare.Name, len(s.Metrics))
	for i, m := range s.Metrics {
		metrics[i] = compare.ParseName(m)
	}
	if len(metrics) == 0 {
		metrics = b.usual(units)
	}
	rows := b.rows(units, s.Rows, s.Columns)
	out.Blocks = append(out.Blocks, Paragraph{b.basis(units)})
	if len(metrics) > 0 {
		g := b.sheet(units, rows, s.Columns)
		t := b.pivot(g, metrics)
		var left []Text
		if s.Aggregate != "" {
			left = b.addGeomeans(&t, g, metrics)
		}
		out.Blocks = append(append(out.Blocks, t), b.readings(s.Metrics)...)
		if len(left) > 0 {
			out.Blocks = append(out.Blocks, Paragraph{text("Left out of the geometric means, of all sides alike:")}, List{left})
		}
	}
	if len(s.Ratios) > 0 {
		numbers := slices.DeleteFunc(slices.Clone(metrics), func(m compare.Name) bool { return b.said(units, m) })
		out.Blocks = append(out.Blocks, b.ratioBlocks(units, append(slices.Clone(rows), s.Columns...), s, numbers)...)
	}
	return out, nil
}

// rows are the coordinates of a table's rows: those asked for, and all that would else be thrown together.
func (b *builder) rows(units []unit, rows, columns []string) []string {
	rows = slices.Clone(rows)
	if len(rows) == 0 {
		rows = varying(units, slices.DeleteFunc(b.coordinates(), func(n string) bool { return slices.Contains(columns, n) }))
	}
	if len(rows) == 0 && !slices.Contains(columns, "target") {
		rows = []string{"target"}
	}
	all := append(slices.Clone(rows), columns...)
	for _, g := range b.groups(units, all) {
		for _, n := range varying(g, b.coordinates()) {
			if !slices.Contains(rows, n) {
				rows = append(rows, n)
			}
		}
	}
	if len(rows) == 0 {
		rows = []string{"scenario"}
	}
	return rows
}

// basis says how many runs the numbers rest on.
func (b *builder) basis(units []unit) Text {
	low, high := -1, 0
	for _, u := range units {
		if !u.cell.Status.HasResults() {
			continue
		}
		n := 0
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r == nil || r.Status.HasResults() {
				n++
			}
		}
		if low < 0 || n < low {
			low = n
		}
		high = max(high, n)
	}
	if low < 0 {
		return text("No cell has a result.")
	}
	runs := plural.Of(high, "run")
	if low != high {
		runs = fmt.Sprintf("%d to %s", low, runs)
	}
	return text(runs + " a cell; medians of the runs, but counts are summed and peaks are maxima.")
}

// A sheet is a table before it has texts: rows and columns of units. A unit is nil where the schedule has no such cell.
type sheet struct {
	rows, columns []string // coordinates
	lines         [][]unit // what each row is of
	heads         [][]unit // what each column is of; one nil without columns, whose row is of one unit
	at            [][]*unit
}

func (b *builder) sheet(units []unit, rows, columns []string) sheet {
	g := sheet{rows: rows, columns: columns, lines: b.groups(units, rows), heads: [][]unit{nil}}
	if len(columns) > 0 {
		g.heads = b.groups(units, columns)
	}
	for _, line := range g.lines {
		at := make([]*unit, len(g.heads))
		for k, head := range g.heads {
			i := 0
			if head != nil {
				i = slices.IndexFunc(line, func(u unit) bool { return u.key(columns) == head[0].key(columns) })
			}
			if i >= 0 {
				at[k] = &line[i]
			}
		}
		g.at = append(g.at, at)
	}
	return g
}

// title of a column of metric m; of several metrics it names which.
func (b *builder) title(g sheet, head []unit, m compare.Name, several bool) string {
	if head == nil {
		return b.header(m)
	}
	title := strings.Join(values(head[0], g.columns), " / ")
	if several {
		title += " " + b.header(m)
	}
	return title
}

// pivot makes the table itself.
func (b *builder) pivot(g sheet, metrics []compare.Name) Table {
	var t Table
	for _, r := range g.rows {
		t.Columns = append(t.Columns, Column{Title: r})
	}
	for _, head := range g.heads {
		for _, m := range metrics {
			title := b.title(g, head, m, len(metrics) > 1)
			about, _ := b.define(m.Metric)
			t.Columns = append(append(t.Columns, Column{Title: title, Right: !b.said(slices.Concat(g.lines...), m), About: about.Doc}), b.besideColumns(title, m)...)
		}
	}
	for i, line := range g.lines {
		var texts []Text
		for _, v := range values(line[0], g.rows) {
			texts = append(texts, text(v))
		}
		for _, u := range g.at[i] {
			for _, m := range metrics {
				if u == nil {
					texts = append(texts, text("n/a", b.note("the schedule has no such cell")))
				} else {
					texts = append(texts, b.show(*u, m))
				}
				texts = append(texts, b.besideCells(u, m)...)
			}
		}
		t.Rows = append(t.Rows, texts)
	}
	return t
}

// values of several coordinates; a dash where a unit has none.
func values(u unit, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		if out[i] = oneLine(u.at(n)); out[i] == "" {
			out[i] = "-"
		}
	}
	return out
}
