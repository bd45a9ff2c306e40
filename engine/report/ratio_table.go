package report

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

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
	t.Columns = append(t.Columns, Column{Title: "metric"}, Column{Title: "of"}, Column{Title: "to"})
	t.Columns = append(t.Columns, ratioColumns...)
	for _, g := range b.groups(units, coords) {
		for _, r := range ratios {
			for _, m := range b.ratioMetrics(r, metrics) {
				c := b.compare(g, r, m)
				var line []Text
				for _, v := range values(g[0], coords) {
					line = append(line, text(v))
				}
				t.Rows = append(t.Rows, append(append(line, text(m.Text), text(oneLine(c.of)), b.winner(c)), b.columns(c)...))
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{Paragraph{text(ratioWords)}, withoutEmpty(t)}
}

const ratioWords = "Ratios are of/to, of the medians of the runs. The range is what single runs give; the 95 % interval (from 3 runs a side) is that of the ratio of their geometric means; a ratio within the noise floor may be chance."

// ratioColumns are the last ones of a table of ratios; columns fills them.
var ratioColumns = []Column{{Title: "ratio", Right: true}, {Title: "range", Right: true}, {Title: "95 % interval", Right: true}, {Title: "what it says"}}

func (b *builder) columns(c comparison) []Text {
	return []Text{text(c.value()), text(c.span()), text(c.interval()), text(c.says(), b.spoilt(c))}
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
