package report

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// A ratioRow is one line of a table of ratios.
type ratioRow struct {
	values []string // of the coordinates
	ratio  int      // which of the section's
	c      comparison
}

// ratioBlocks makes the table of ratios: a line for each row of the table, metric and ratio. Ratios of a target that has no
// cell in the table are named below it.
func (b *builder) ratioBlocks(units []unit, coords []string, s record.Section, metrics []compare.Name) (out []Block) {
	coords = b.ratioCoords(units, coords)
	rows, absent := b.ratioRows(units, coords, s, metrics)
	if len(rows) > 0 {
		out = append(out, Paragraph{text(ratioWords)}, b.ratioTable(coords, rows))
		if s.Aggregate != "" {
			out = append(out, b.ratioMeans(rows, s.Ratios)...)
		}
	}
	if len(absent) > 0 {
		out = append(out, Paragraph{text("No ratios with " + and(absent) + ": there is no cell of that target here.")})
	}
	return out
}

// ratioCoords are the coordinates that tell the rows of ratios apart: two units of one target in a row would make a ratio ambiguous.
func (b *builder) ratioCoords(units []unit, coords []string) []string {
	coords = slices.DeleteFunc(slices.Clone(coords), func(n string) bool { return n == "target" })
	for _, g := range b.groups(units, coords) {
		for _, n := range varying(g, b.coordinates()) {
			if n != "target" && !slices.Contains(coords, n) {
				coords = append(coords, n)
			}
		}
	}
	if len(coords) > 1 {
		coords = varying(units, coords)
	}
	return coords
}

// ratioRows are the rows of the table, each with all its ratios, and the targets without which there are some ratios not.
func (b *builder) ratioRows(units []unit, coords []string, s record.Section, metrics []compare.Name) (rows []ratioRow, absent []string) {
	groups := b.groups(units, coords)
	place := map[string]int{}
	for i, g := range groups {
		place[strings.Join(values(g[0], coords), "\x00")] = i
	}
	for i, r := range s.Ratios {
		lack := absentSides(units, r)
		for _, t := range lack {
			if t = oneLine(t); !slices.Contains(absent, t) {
				absent = append(absent, t)
			}
		}
		if len(lack) > 0 {
			continue
		}
		for _, g := range groups {
			for _, m := range b.ratioMetrics(r, metrics) {
				rows = append(rows, ratioRow{values(g[0], coords), i, b.compare(g, r, m)})
			}
		}
	}
	slices.SortStableFunc(rows, func(x, y ratioRow) int {
		return place[strings.Join(x.values, "\x00")] - place[strings.Join(y.values, "\x00")]
	})
	return rows, absent
}

func (b *builder) ratioTable(coords []string, rows []ratioRow) Table {
	var t Table
	for _, c := range coords {
		t.Columns = append(t.Columns, Column{Title: c})
	}
	t.Columns = append(t.Columns, Column{Title: "metric"}, Column{Title: "of"}, Column{Title: "to"})
	t.Columns = append(t.Columns, ratioColumns...)
	for _, r := range rows {
		line := texts(r.values)
		t.Rows = append(t.Rows, append(append(line, text(r.c.Name.Text), text(oneLine(r.c.of)), b.winner(r.c)), b.columns(r.c)...))
	}
	return withoutEmpty(t)
}

// absentSides are the targets of a ratio without which it has no row: of, and what it is compared with if none of that is
// there.
func absentSides(units []unit, r record.Ratio) (out []string) {
	has := func(target string) bool {
		return slices.ContainsFunc(units, func(u unit) bool { return u.at("target") == target })
	}
	if !has(r.Of) {
		out = append(out, r.Of)
	}
	to := r.To.Best
	if len(to) == 0 {
		to = []string{r.To.Target}
	}
	if !slices.ContainsFunc(to, has) {
		out = append(out, to...)
	}
	return out
}

const ratioWords = "Ratios are of/to, of the medians of the runs. The range is what single runs give; the 95 % interval (from 3 runs a side) is that of the ratio of their geometric means; a ratio within the noise floor may be chance, and so may one whose interval is not all on that side of 1."

// ratioColumns are those of a table of ratios, what it says first: a narrow window may cut the rest. columns fills them.
var ratioColumns = []Column{{Title: "ratio", Right: true}, {Title: "what it says"}, {Title: "range", Right: true}, {Title: "95 % interval", Right: true}}

func (b *builder) columns(c comparison) []Text {
	return []Text{text(c.value()), text(c.says(), b.spoilt(c)), text(c.span()), text(c.interval())}
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
