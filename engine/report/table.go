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

// ratioBlocks makes the table of ratios: a line for each row of the table, metric and ratio.
func (b *builder) ratioBlocks(units []unit, coords []string, ratios []record.Ratio, metrics []compare.Name) []Block {
	coords = slices.DeleteFunc(slices.Clone(coords), func(n string) bool { return n == "target" })
	for _, g := range b.groups(units, coords) {
		// Two units of one target in a row would make the ratio ambiguous.
		for _, n := range varying(g, b.coordinates()) {
			if n != "target" && !slices.Contains(coords, n) {
				coords = append(coords, n)
			}
		}
	}
	if len(coords) > 1 {
		coords = varying(units, coords)
	}
	var t Table
	for _, c := range coords {
		t.Columns = append(t.Columns, Column{Title: c})
	}
	t.Columns = append(t.Columns, Column{Title: "metric"}, Column{Title: "of"}, Column{Title: "to"}, Column{Title: "ratio", Right: true}, Column{Title: "range", Right: true}, Column{Title: "what it says"})
	for _, g := range b.groups(units, coords) {
		for _, r := range ratios {
			for _, m := range b.ratioMetrics(r, metrics) {
				c := b.compare(g, r, m)
				var line []Text
				for _, v := range values(g[0], coords) {
					line = append(line, text(v))
				}
				to := oneLine(c.to)
				if len(c.best) > 1 {
					to += " (best of " + oneLine(strings.Join(c.best, ", ")) + ")"
				}
				t.Rows = append(t.Rows, append(line, text(m.Text), text(oneLine(c.of)), text(to),
					text(c.value()), text(c.span()), text(c.says(), c.notes)))
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{
		Paragraph{text("Ratios are of/to: the ratio of the medians, its range from the lowest to the highest that single runs give, and how it stands against the noise floor.")},
		t,
	}
}

// ofTarget is false for figures of the load generator and of planrun itself: targets are not compared by them unless the
// plan asks for it.
func ofTarget(name string) bool {
	return !slices.ContainsFunc([]string{"load_", "lag_", "generator_", "control_"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// ratioMetrics are those that the ratio names, else those of the table without their statistics.
func (b *builder) ratioMetrics(r record.Ratio, table []compare.Name) (out []compare.Name) {
	if len(r.Metrics) > 0 {
		for _, m := range r.Metrics {
			out = append(out, compare.ParseName(m))
		}
		return out
	}
	seen := map[string]bool{}
	for _, m := range table {
		if name := strings.TrimSuffix(m.Text, "."+m.Stat); m.Stat != "n" && m.Stat != "cv" && !seen[name] && ofTarget(m.Metric) {
			seen[name] = true
			out = append(out, compare.ParseName(name))
		}
	}
	return out
}
