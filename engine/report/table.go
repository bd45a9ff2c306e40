package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
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
		out.Blocks = append(out.Blocks, b.pivot(units, rows, s.Columns, metrics))
	}
	if len(s.Ratios) > 0 {
		out.Blocks = append(out.Blocks, b.ratioBlocks(units, append(slices.Clone(rows), s.Columns...), s.Ratios, metrics)...)
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
	runs := count(high, "run")
	if low != high {
		runs = fmt.Sprintf("%d to %s", low, runs)
	}
	return text(runs + " a cell; medians of the runs, but counts are summed and peaks are maxima.")
}

// pivot makes the table itself.
func (b *builder) pivot(units []unit, rows, columns []string, metrics []compare.Name) Table {
	var t Table
	for _, r := range rows {
		t.Columns = append(t.Columns, Column{Title: r})
	}
	cols := [][]unit{nil}
	if len(columns) > 0 {
		cols = b.groups(units, columns)
	}
	for _, c := range cols {
		for _, m := range metrics {
			title := b.header(m)
			if len(columns) > 0 {
				title = strings.Join(values(c[0], columns), " / ")
				if len(metrics) > 1 {
					title += " " + b.header(m)
				}
			}
			t.Columns = append(t.Columns, Column{Title: title, Right: true})
		}
	}
	for _, g := range b.groups(units, rows) {
		var line []Text
		for _, v := range values(g[0], rows) {
			line = append(line, text(v))
		}
		for _, c := range cols {
			u := &g[0]
			if c != nil {
				i := slices.IndexFunc(g, func(u unit) bool { return u.key(columns) == c[0].key(columns) })
				if u = nil; i >= 0 {
					u = &g[i]
				}
			}
			for _, m := range metrics {
				if u == nil {
					line = append(line, text("n/a", b.note("the schedule has no such cell")))
					continue
				}
				line = append(line, b.show(*u, m))
			}
		}
		t.Rows = append(t.Rows, line)
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
