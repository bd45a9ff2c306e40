package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/plural"
)

// mostLeftOut bounds the rows that are named as left out of a mean.
const mostLeftOut = 20

// addGeomeans adds to a table a row of the geometric means of its columns. The sides that are compared, the columns of one
// metric, have the mean of the same rows: a row in which one of them has no value is left out for all, and returned with why.
// A side that has no value in any row takes no part, and a 0 has no place in a geometric mean.
func (b *builder) addGeomeans(t *Table, g sheet, metrics []compare.Name) (left []Text) {
	means := make([][]Text, len(metrics))
	most, fewest := 0, len(g.lines)
	for i, m := range metrics {
		if b.said(slices.Concat(g.lines...), m) {
			means[i] = slices.Repeat([]Text{text("-")}, len(g.heads))
			continue
		}
		var n int
		var gone []string
		means[i], n, gone = b.geomeans(g, m)
		most, fewest = max(most, n), min(fewest, n)
		if len(gone) > 0 {
			left = append(left, text(mono(m.Text), ": ", list(gone, mostLeftOut)))
		}
	}
	rows := fmt.Sprintf("%d of %s", most, plural.Of(len(g.lines), "row"))
	if fewest != most {
		rows = fmt.Sprintf("%d to %s", fewest, rows)
	}
	line := make([]Text, 0, len(t.Columns))
	line = append(line, text(strong("geometric mean of "+rows)))
	for range g.rows[1:] {
		line = append(line, text("-"))
	}
	for k := range g.heads {
		for i := range metrics {
			line = append(line, means[i][k])
			for range len(b.besideColumns("", metrics[i])) {
				line = append(line, text("-"))
			}
		}
	}
	t.Rows = append(t.Rows, line)
	return left
}

// An averaging is what the geometric means of one metric are made of: for each column the values of the rows that count.
type averaging struct {
	m         compare.Name
	readings  [][]compare.Reading // by row and column
	takesPart []bool              // by column: it has a value somewhere
	v         [][]float64
	tainted   []string
	n         int      // rows that count
	gone      []string // those that do not, and why
	zero      string   // why there is no mean at all
}

// geomeans are those of one metric, a text for each column; n rows count, gone says which do not and why.
func (b *builder) geomeans(g sheet, m compare.Name) (means []Text, n int, gone []string) {
	x := &averaging{m: m, takesPart: make([]bool, len(g.heads)), v: make([][]float64, len(g.heads)), tainted: make([]string, len(g.heads))}
	b.readAll(x, g)
	b.matched(x, g)
	for k := range g.heads {
		means = append(means, b.mean(x, k))
	}
	return means, x.n, x.gone
}

// readAll reads the metric in each cell of a sheet.
func (b *builder) readAll(x *averaging, g sheet) {
	x.readings = make([][]compare.Reading, len(g.lines))
	for i := range g.lines {
		for k, u := range g.at[i] {
			r := compare.Reading{Why: "the schedule has no such cell"}
			if u != nil {
				r = b.read(*u, x.m)
			}
			x.readings[i] = append(x.readings[i], r)
			x.takesPart[k] = x.takesPart[k] || r.Why == ""
		}
	}
}

// matched keeps the values of the rows in which each side that takes part has one.
func (b *builder) matched(x *averaging, g sheet) {
	for i, line := range g.lines {
		name := strings.Join(values(line[0], g.rows), " / ")
		if k := lacking(x.readings[i], x.takesPart); k >= 0 {
			side := ""
			if g.heads[k] != nil {
				side = strings.Join(values(g.heads[k][0], g.columns), " / ") + ": "
			}
			x.gone = append(x.gone, fmt.Sprintf("%s (%s%s)", name, side, oneLine(x.readings[i][k].Why)))
			continue
		}
		x.n++
		for k, r := range x.readings[i] {
			if !x.takesPart[k] {
				continue
			}
			if r.Value <= 0 && x.zero == "" {
				x.zero = fmt.Sprintf("%s is %s in row %s: it has no geometric mean", x.m.Text, number(r.Value, b.desc(x.m.Metric).Class), name)
			}
			if r.Tainted != "" {
				x.tainted[k] = r.Tainted
			}
			x.v[k] = append(x.v[k], r.Value)
		}
	}
}

// mean is that of a column, or why there is none.
func (b *builder) mean(x *averaging, k int) Text {
	switch {
	case !x.takesPart[k]:
		return text("n/a", b.note("no row has a value"))
	case x.n == 0:
		return text("n/a", b.note("there is no row in which all sides have a value"))
	case x.zero != "":
		return text("n/a", b.note(x.zero))
	}
	t := text(strong(number(stats.Geomean(x.v[k]), b.desc(x.m.Metric).Class)))
	if x.tainted[k] != "" {
		t = append(t, b.note("not to be trusted: "+x.tainted[k]))
	}
	return t
}

// lacking is the first side that takes part and has no value here; -1 if all have one.
func lacking(row []compare.Reading, takesPart []bool) int {
	for k, r := range row {
		if takesPart[k] && r.Why != "" {
			return k
		}
	}
	return -1
}

// ratioMeans are the geometric means of ratios over the rows of a table. All ratios of one metric have that of the same rows: a
// row in which one of them has no value is left out for all.
func (b *builder) ratioMeans(rows []ratioRow, ratios []record.Ratio) []Block {
	t := Table{Columns: []Column{{Title: "metric"}, {Title: "of"}, {Title: "to"}, {Title: "geometric mean of the ratios", Right: true}, {Title: "rows", Right: true}, {Title: "what they say"}}}
	var left []Text
	var metrics []string
	for _, r := range rows {
		if m := r.c.Name.Text; !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	for _, m := range metrics {
		of := slices.DeleteFunc(slices.Clone(rows), func(r ratioRow) bool { return r.c.Name.Text != m })
		gone, why := unmatched(of)
		if len(why) > 0 {
			left = append(left, text(mono(m), ": ", list(why, mostLeftOut)))
		}
		for i, ratio := range ratios {
			if line := b.ratioMean(of, i, ratio, gone); line != nil {
				t.Rows = append(t.Rows, append([]Text{text(m)}, line...))
			}
		}
	}
	out := []Block{t}
	if len(left) > 0 {
		out = append(out, Paragraph{text("Left out of these means, of all ratios alike:")}, List{left})
	}
	return out
}

// unmatched are the rows in which a ratio that has a value anywhere has none, by their name, and why.
func unmatched(of []ratioRow) (gone map[string]bool, why []string) {
	has := map[int]bool{}
	for _, r := range of {
		has[r.ratio] = has[r.ratio] || r.c.Ratio.NA == ""
	}
	gone = map[string]bool{}
	for _, r := range of {
		if name := strings.Join(r.values, " / "); has[r.ratio] && r.c.Ratio.NA != "" && !gone[name] {
			gone[name] = true
			why = append(why, fmt.Sprintf("%s (%s)", name, oneLine(r.c.Ratio.NA)))
		}
	}
	return gone, why
}

// ratioMean is the line of a ratio, the i-th of the section; nil if no row has it.
func (b *builder) ratioMean(of []ratioRow, i int, ratio record.Ratio, gone map[string]bool) []Text {
	n := map[compare.Outcome]int{}
	var v []float64
	all, tainted := 0, false
	for _, r := range of {
		if r.ratio != i {
			continue
		}
		all++
		if r.c.Ratio.NA == "" && !gone[strings.Join(r.values, " / ")] {
			v = append(v, r.c.Ratio.Value)
			n[r.c.Outcome()]++
			tainted = tainted || r.c.tainted()
		}
	}
	if all == 0 {
		return nil
	}
	mean := text("n/a", b.note("no row has this ratio and the others"))
	if g := stats.Geomean(v); !math.IsNaN(g) {
		mean = text(factor(g))
		if tainted {
			mean = append(mean, b.note("not to be trusted: so are some of the ratios"))
		}
	}
	to := oneLine(ratio.To.Target)
	if len(ratio.To.Best) > 0 {
		to = "the best of " + oneLine(strings.Join(ratio.To.Best, ", "))
	}
	return row(oneLine(ratio.Of), to, mean, fmt.Sprintf("%d of %d", len(v), all), dash(outcomes(n)))
}

// outcomes counts: "3 better, 1 within noise".
func outcomes(n map[compare.Outcome]int) string {
	var parts []string
	for _, o := range []compare.Outcome{compare.Better, compare.Worse, compare.Differs, compare.WithinNoise, compare.Unknown, compare.Untrusted} {
		if n[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[o], o))
		}
	}
	return strings.Join(parts, ", ")
}
