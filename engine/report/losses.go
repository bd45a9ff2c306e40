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

// A lossTable is the table of where each target loses: every metric in which it is worse than what it is compared with,
// beyond the noise or with the noise unknown.
type lossTable struct {
	*builder
	against record.Against
	units   []unit
	coords  []string // that tell the rows of a target apart
	metrics []compare.Name
}

// lossSection writes the table, and which targets lose nothing.
func lossSection(b *builder, s record.Section) (Section, error) {
	out := Section{Title: s.Title}
	units, err := b.units(s.Cells)
	if err != nil {
		return out, fmt.Errorf("table %q: %w", s.Title, err)
	}
	l := lossTable{b, *s.Losses, units, b.lossCoords(units), b.lossMetrics(units, s.Metrics)}
	t := Table{Columns: l.head()}
	var none []string
	for _, g := range b.groups(units, []string{"target"}) {
		rows, compared := l.rows(g[0].at("target"))
		t.Rows = append(t.Rows, rows...)
		if len(rows) == 0 && compared {
			none = append(none, oneLine(g[0].at("target")))
		}
	}
	if len(t.Rows) > 0 {
		out.Blocks = append(out.Blocks, withoutEmpty(t))
		if of := s.Losses.Best; len(of) > 0 {
			out.Blocks = append(out.Blocks, Paragraph{text("Against the best of " + oneLine(and(of)) + " in each row; where another one is better, it is not said here.")})
		}
	}
	if len(none) > 0 {
		out.Blocks = append(out.Blocks, Paragraph{text("No loss beyond the noise: " + and(none) + ".")})
	}
	if len(out.Blocks) == 0 {
		out.Blocks = append(out.Blocks, Paragraph{text("Nothing could be compared.")})
	}
	return out, nil
}

// lossMetrics are those that are named, or the usual ones of targets; of those in which one can be worse.
func (b *builder) lossMetrics(units []unit, named []string) (metrics []compare.Name) {
	for _, m := range named {
		metrics = append(metrics, compare.ParseName(m))
	}
	if len(metrics) == 0 {
		metrics = slices.DeleteFunc(b.usual(units), func(m compare.Name) bool { return !ofTarget(m.Metric) })
	}
	return slices.DeleteFunc(metrics, func(m compare.Name) bool { return b.desc(m.Metric).Better == series.Neither })
}

// lossCoords are the coordinates in which the units differ, but for the target; the scenario if they do not.
func (b *builder) lossCoords(units []unit) []string {
	coords := slices.DeleteFunc(b.coordinates(), func(n string) bool { return n == "target" })
	if v := varying(units, coords); len(units) > 0 && len(v) > 0 {
		return v
	}
	return []string{"scenario"}
}

func (l *lossTable) head() []Column {
	columns := []Column{{Title: "target"}}
	for _, c := range l.coords {
		columns = append(columns, Column{Title: c})
	}
	columns = append(append(columns, Column{Title: "metric"}, Column{Title: "against"}), ratioColumns[:2]...)
	return append(append(columns, Column{Title: "its value", Right: true}, Column{Title: "that value", Right: true}), ratioColumns[2:]...)
}

// rows are a target's losses. Compared reports whether it could be compared with anything.
func (l *lossTable) rows(target string) (rows [][]Text, compared bool) {
	for _, g := range l.groups(l.units, l.coords) {
		for _, m := range l.metrics {
			c := l.compare(g, record.Ratio{Of: target, To: l.against}, m)
			if c.Of.Why != "" || c.To.Why != "" {
				continue
			}
			compared = true
			if !c.itself() && c.loses() {
				rows = append(rows, l.row(target, g[0], m, c))
			}
		}
	}
	return rows, compared
}

func (l *lossTable) row(target string, at unit, m compare.Name, c comparison) []Text {
	line := row(oneLine(target))
	for _, v := range values(at, l.coords) {
		line = append(line, text(v))
	}
	class, ratio := l.desc(m.Metric).Class, l.columns(c)
	line = append(append(line, text(m.Text), l.winner(c)), ratio[:2]...)
	return append(append(line, text(number(c.Of.Value, class)), text(number(c.To.Value, class))), ratio[2:]...)
}

// loses is true if the first side is worse and the noise does not explain it.
func (c comparison) loses() bool {
	worse := c.Of.Value > c.To.Value
	if c.Better == series.Higher {
		worse = c.Of.Value < c.To.Value
	}
	return worse && c.Of.Value != c.To.Value && !math.IsNaN(c.Of.Value) && (c.Ratio.NA != "" || c.Ratio.Noise != stats.Within)
}
