package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/plural"
)

// figures are the summary, the table and the means.
func (w *writer) figures() []report.Block {
	d := w.d
	if d.Cells == 0 {
		return []report.Block{paragraph("No cell is in both.")}
	}
	if len(d.Rows) == 0 {
		return []report.Block{paragraph(plural.Of(d.Cells, "cell") + " matched, none of them with figures to compare.")}
	}
	out := []report.Block{report.Paragraph{Text: report.Text{{Text: d.Summary.String(), Style: report.Strong}, {Text: " Ratios are B/A, of " + plural.Of(d.Cells, "matched cell") + "."}}}}
	for _, r := range d.Rows {
		if !r.Grew() {
			continue
		}
		words := fmt.Sprintf("%s appeared: none in A", r.Name.Text)
		if !r.Appeared() {
			words = fmt.Sprintf("%s grew: %s in A", r.Name.Text, report.Number(r.To.Value, r.Desc.Class))
		}
		words += fmt.Sprintf(", %s in B (%s).", report.Number(r.Of.Value, r.Desc.Class), Place(r.Coord))
		out = append(out, report.Paragraph{Text: report.Text{{Text: words, Style: report.Strong}}})
	}
	if t := w.table(); len(t.Rows) > 0 {
		out = append(out, t)
	}
	if words := d.Drift(); words != "" {
		out = append(out, paragraph(words))
	}
	if words := zeros(d.Rows); words != "" {
		out = append(out, paragraph(words))
	}
	if len(d.Means) > 0 {
		out = append(out, w.means())
	}
	return out
}

// String is the summary as a sentence.
func (s Summary) String() string {
	words := []string{fmt.Sprintf("%d better", s.Better), fmt.Sprintf("%d worse", s.Worse), fmt.Sprintf("%d within noise", s.WithinNoise)}
	for _, more := range []struct {
		n    int
		what string
	}{{s.Differs, "of neither direction beyond the noise"}, {s.Unknown, "with the noise unknown"}, {s.Untrusted, "not to be trusted"}} {
		if more.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", more.n, more.what))
		}
	}
	if s.Equal > 0 {
		words = append(words, fmt.Sprintf("%d equal (0 on both sides)", s.Equal))
	}
	return strings.Join(append(words, fmt.Sprintf("%d n/a", s.NA)), ", ") + "."
}

// zeros says what is 0 on both sides, which is no row of the table.
func zeros(rows []Row) string {
	var order []string
	n := map[string]int{}
	for _, r := range rows {
		if r.Outcome() == Equal {
			if n[r.Name.Text] == 0 {
				order = append(order, r.Name.Text)
			}
			n[r.Name.Text]++
		}
	}
	if len(order) == 0 {
		return ""
	}
	words := make([]string, len(order))
	for i, m := range order {
		words[i] = fmt.Sprintf("%s in %s", m, plural.Of(n[m], "cell"))
	}
	return "0 on both sides: " + strings.Join(words, ", ") + "."
}

func (w *writer) table() report.Table {
	t := report.Table{Columns: []report.Column{{Title: "B is"}, {Title: "metric"}, {Title: "cell"}, {Title: "A", Right: true}, {Title: "B", Right: true},
		{Title: "B/A", Right: true}, {Title: fmt.Sprintf("%.0f %% interval", 100*stats.Confidence), Right: true}, {Title: "range", Right: true}, {Title: "runs"}, {Title: "what it says"}}}
	for _, r := range w.d.Rows {
		if r.Outcome() == Equal {
			continue
		}
		outcome := report.Text{{Text: string(r.Outcome())}}
		if o := r.Outcome(); o == compare.Worse || r.Grew() {
			outcome[0].Style = report.Strong
		}
		cell := Place(r.Coord)
		t.Rows = append(t.Rows, []report.Text{outcome, {quoted(r.Name.Text)}, plainText(cell), w.value(r, r.To), w.value(r, r.Of),
			plainText(r.factor()), plainText(r.interval()), plainText(r.span()), plainText(knownRuns(r.To) + ", " + knownRuns(r.Of)), plainText(r.says(len(w.d.A.More)+len(w.d.B.More) > 0))})
	}
	return t
}

// value is a side of a row, with what spoils it.
func (w *writer) value(r Row, side compare.Reading) report.Text {
	if side.Why != "" {
		return plainText("n/a")
	}
	class := r.Desc.Class
	if r.Name.Stat == "n" {
		class = series.Count
	}
	t := plainText(report.Number(side.Value, class))
	if why := r.Uneven(); why != "" {
		t = append(t, w.note(why))
	}
	if side.Tainted != "" && r.Name.Stat != "n" {
		t = append(t, w.note("not to be trusted: "+side.Tainted))
	}
	return t
}

func (r Row) factor() string {
	if r.Ratio.NA != "" {
		return "n/a"
	}
	return report.Factor(r.Ratio.Value)
}

// interval is where the ratio lies; "" where there are too few runs for one.
func (r Row) interval() string {
	i := r.Ratio.Interval
	if r.Ratio.NA != "" || i[1] == 0 {
		return ""
	}
	return report.Factor(i[0]) + " to " + report.Factor(i[1])
}

// span is the range that single runs give; "" where each side has one run.
func (r Row) span() string {
	if r.Ratio.NA != "" || len(r.Of.Runs) == 1 && len(r.To.Runs) == 1 {
		return ""
	}
	return report.Factor(r.Ratio.Low) + " to " + report.Factor(r.Ratio.High)
}

// says is how the ratio stands against its noise, or why there is none; several: a side is several sets.
func (r Row) says(several bool) string {
	x := r.Ratio
	floor := report.Factor(x.Floor)
	switch {
	case x.Repeats != x.Floor || x.Floor == 1:
	case several:
		floor += " between sets"
	default:
		floor += " between stages"
	}
	s := ""
	switch {
	case r.Appeared():
		return "none in A"
	case x.NA != "":
		return x.NA
	case x.Noise == stats.Unknown:
		return x.Why
	case x.Noise == stats.Beyond:
		return "beyond the noise floor of " + floor
	case x.OnlyJust:
		s = "only just outside the noise floor of " + floor + ", and the interval is not all on that side of 1"
	default:
		s = "the noise floor is " + floor
	}
	if x.Needed > 0 {
		s += "; about " + plural.Of(x.Needed, "run") + " a side would tell"
	}
	return s
}

func (w *writer) means() report.Table {
	t := report.Table{Columns: []report.Column{{Title: "geometric mean of B/A"}, {Title: "ratio", Right: true}, {Title: "cells", Right: true}, {Title: "left out", Right: true}}}
	for _, m := range w.d.Means {
		t.Rows = append(t.Rows, []report.Text{{quoted(m.Metric)}, plainText(report.Factor(m.Ratio)), plainText(fmt.Sprint(m.Cells)), plainText(fmt.Sprint(m.LeftOut))})
	}
	return t
}

// knownRuns is how many runs a number is of, as far as that is known.
func knownRuns(r compare.Reading) string {
	if r.Only != "" {
		return "-"
	}
	return strconv.Itoa(len(r.Runs))
}
