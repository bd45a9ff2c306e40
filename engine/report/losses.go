package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// lossSection is the table of where each target loses: every metric in which it is worse than what it is compared with,
// beyond the noise or with the noise unknown.
func lossSection(b *builder, s record.Section) (Section, error) {
	out := Section{Title: s.Title}
	units, err := b.units(s.Cells)
	if err != nil {
		return out, fmt.Errorf("table %q: %w", s.Title, err)
	}
	metrics := make([]compare.Name, len(s.Metrics))
	for i, m := range s.Metrics {
		metrics[i] = compare.ParseName(m)
	}
	if len(metrics) == 0 {
		metrics = slices.DeleteFunc(b.usual(units), func(m compare.Name) bool { return !ofTarget(m.Metric) })
	}
	metrics = slices.DeleteFunc(metrics, func(m compare.Name) bool { return b.desc(m.Metric).Better == series.Neither })
	coords := slices.DeleteFunc(b.coordinates(), func(n string) bool { return n == "target" })
	if v := varying(units, coords); len(units) > 0 && len(v) > 0 {
		coords = v
	} else {
		coords = []string{"scenario"}
	}
	t := Table{Columns: []Column{{Title: "target"}}}
	for _, c := range coords {
		t.Columns = append(t.Columns, Column{Title: c})
	}
	t.Columns = append(append(t.Columns, Column{Title: "metric"}, Column{Title: "against"}), ratioColumns[:2]...)
	t.Columns = append(append(t.Columns, Column{Title: "its value", Right: true}, Column{Title: "that value", Right: true}), ratioColumns[2:]...)
	var names, none []string
	for _, g := range b.groups(units, []string{"target"}) {
		names = append(names, g[0].at("target"))
	}
	for _, target := range names {
		before := len(t.Rows)
		compared := false
		for _, g := range b.groups(units, coords) {
			for _, m := range metrics {
				c := b.compare(g, record.Ratio{Of: target, To: *s.Losses}, m)
				if c.Of.Why != "" || c.To.Why != "" {
					continue
				}
				compared = true
				if c.itself() || !c.loses() {
					continue
				}
				line := row(oneLine(target))
				for _, v := range values(g[0], coords) {
					line = append(line, text(v))
				}
				class := b.desc(m.Metric).Class
				ratio := b.columns(c)
				line = append(append(line, text(m.Text), b.winner(c)), ratio[:2]...)
				line = append(append(line, text(number(c.Of.Value, class)), text(number(c.To.Value, class))), ratio[2:]...)
				t.Rows = append(t.Rows, line)
			}
		}
		if len(t.Rows) == before && compared {
			none = append(none, oneLine(target))
		}
	}
	if len(t.Rows) > 0 {
		out.Blocks = append(out.Blocks, withoutEmpty(t))
	}
	if len(none) > 0 {
		out.Blocks = append(out.Blocks, Paragraph{text("No loss beyond the noise: " + and(none) + ".")})
	}
	if len(out.Blocks) == 0 {
		out.Blocks = append(out.Blocks, Paragraph{text("Nothing could be compared.")})
	}
	return out, nil
}

// loses is true if the first side is worse and the noise does not explain it.
func (c comparison) loses() bool {
	worse := c.Of.Value > c.To.Value
	if c.Better == series.Higher {
		worse = c.Of.Value < c.To.Value
	}
	return worse && c.Of.Value != c.To.Value && !math.IsNaN(c.Of.Value) && (c.Ratio.NA != "" || c.Ratio.Noise != stats.Within)
}
