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
func (b *builder) ratioBlocks(units []unit, coords []string, s record.Section, metrics []compare.Name) []Block {
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
	var rows []ratioRow
	var absent []string
	for i, r := range s.Ratios {
		for _, t := range absentSides(units, r) {
			if t = oneLine(t); !slices.Contains(absent, t) {
				absent = append(absent, t)
			}
		}
		if len(absentSides(units, r)) > 0 {
			continue
		}
		for _, g := range b.groups(units, coords) {
			for _, m := range b.ratioMetrics(r, metrics) {
				rows = append(rows, ratioRow{values(g[0], coords), i, b.compare(g, r, m)})
			}
		}
	}
	// Row by row of the table, each with all its ratios.
	place := map[string]int{}
	for i, g := range b.groups(units, coords) {
		place[strings.Join(values(g[0], coords), "\x00")] = i
	}
	slices.SortStableFunc(rows, func(x, y ratioRow) int {
		return place[strings.Join(x.values, "\x00")] - place[strings.Join(y.values, "\x00")]
	})
	var t Table
	for _, c := range coords {
		t.Columns = append(t.Columns, Column{Title: c})
	}
	t.Columns = append(t.Columns, Column{Title: "metric"}, Column{Title: "of"}, Column{Title: "to"})
	t.Columns = append(t.Columns, ratioColumns...)
	for _, r := range rows {
		var line []Text
		for _, v := range r.values {
			line = append(line, text(v))
		}
		t.Rows = append(t.Rows, append(append(line, text(r.c.Name.Text), text(oneLine(r.c.of)), b.winner(r.c)), b.columns(r.c)...))
	}
	var out []Block
	if len(t.Rows) > 0 {
		out = append(out, Paragraph{text(ratioWords)}, withoutEmpty(t))
		if s.Aggregate != "" {
			out = append(out, b.ratioMeans(rows, s.Ratios)...)
		}
	}
	if len(absent) > 0 {
		out = append(out, Paragraph{text("No ratios with " + and(absent) + ": there is no cell of that target here.")})
	}
	return out
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
