package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// gravity is the place of an outcome among all, of the gravest 0.
func gravity(outcome string) int { return slices.Index(record.Outcomes, outcome) }

// mostOperands bounds the columns of a verdict's values.
const mostOperands = 5

// Said is what all judgements of a verdict have in common: the expression, the number of runs, whether it is a gate.
func (v Verdict) Said() Text {
	var t Text
	if e, same := v.common(func(j Judged) string { return j.Expression }); same && strings.TrimSpace(e) != "" {
		t = text(mono(e))
	}
	var parts []string
	if n, same := v.common(func(j Judged) string { return plural.Of(j.N, "run") }); same && v.Judged[0].N > 0 {
		parts = append(parts, "over "+n)
		if len(v.Judged) > 1 {
			parts[0] += " each"
		}
	}
	if gate, same := v.common(func(j Judged) string { return j.Gate }); same && gate != "" {
		words := "a gate " + gate
		switch gate {
		case "no":
			words = "no gate"
		case "yes":
			words = "a gate"
		}
		parts = append(parts, words)
	}
	if t != nil && len(parts) > 0 {
		t = text(t, ", ")
	}
	return text(t, strings.Join(parts, ", "))
}

// common is what of says of each judgement, if it says the same of all.
func (v Verdict) common(of func(Judged) string) (string, bool) {
	for _, j := range v.Judged {
		if of(j) != of(v.Judged[0]) {
			return "", false
		}
	}
	if len(v.Judged) == 0 {
		return "", false
	}
	return of(v.Judged[0]), true
}

// Table has a row for each judgement. What all have in common is left to Said. The values of an expression's parts stand in a column
// each where all judgements have the same parts. Those of single runs are the rest of the number of runs.
func (v Verdict) Table() Table {
	t := Table{Columns: []Column{{Title: "of"}, {Title: "outcome"}}}
	for _, j := range v.Judged {
		t.Rows = append(t.Rows, row(j.Of, outcome(j.Outcome, j.Label)))
	}
	add := func(c Column, cell func(Judged) Text) {
		t.Columns = append(t.Columns, c)
		for i, j := range v.Judged {
			t.Rows[i] = append(t.Rows[i], cell(j))
		}
	}
	if _, same := v.common(func(j Judged) string { return j.Expression }); !same {
		add(Column{Title: "expression"}, func(j Judged) Text { return expression(j.Expression) })
	}
	if parts := v.parts(); len(parts) > 0 {
		for _, p := range parts {
			add(Column{Title: p, Right: v.numeric(p), Code: true}, func(j Judged) Text { return text(dash(valueOf(j.Operands, p))) })
		}
	} else if slices.ContainsFunc(v.Judged, func(j Judged) bool { return len(j.Operands) > 0 }) {
		add(Column{Title: "values"}, func(j Judged) Text { return operands(j.Operands) })
	}
	if _, same := v.common(func(j Judged) string { return fmt.Sprint(j.N) }); !same || slices.ContainsFunc(v.Judged, func(j Judged) bool { return j.Runs != nil }) {
		add(Column{Title: "runs", Right: true}, func(j Judged) Text {
			s := Span{Text: fmt.Sprint(j.N), Rest: j.runs()}
			if s.Rest != nil {
				s.Text += ", one by one"
			}
			return Text{s}
		})
	}
	if _, same := v.common(func(j Judged) string { return j.Gate }); !same {
		add(Column{Title: "gate"}, func(j Judged) Text { return text(j.Gate) })
	}
	if slices.ContainsFunc(v.Judged, func(j Judged) bool { return j.Why != "" }) {
		add(Column{Title: "why"}, func(j Judged) Text { return text(dash(j.Why)) })
	}
	return t
}

// parts are those of the expression, if all judgements that have any have the same, each with one value; nil of none and of many.
func (v Verdict) parts() (of []string) {
	for _, j := range v.Judged {
		var these []string
		for i, o := range j.Operands {
			if !slices.Contains(j.Operands[:i], o) {
				these = append(these, o.Text)
			}
		}
		switch {
		case len(these) == 0:
		case of == nil:
			of = these
		case !slices.Equal(of, these):
			return nil
		}
	}
	if len(of) > mostOperands || len(slices.Compact(slices.Sorted(slices.Values(of)))) != len(of) {
		return nil
	}
	return of
}

// numeric reports whether the values of a part are all numbers.
func (v Verdict) numeric(part string) bool {
	return !slices.ContainsFunc(v.Judged, func(j Judged) bool {
		s := valueOf(j.Operands, part)
		_, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
		return s != "" && s != "n/a" && err != nil
	})
}

// valueOf is the value of a part of the expression; "" if it was not read.
func valueOf(ops []record.Operand, part string) string {
	for _, o := range ops {
		if o.Text == part {
			return value(o)
		}
	}
	return ""
}

// value is that of an operand, a whole number with commas between thousands.
func value(o record.Operand) string {
	if n, err := strconv.ParseInt(o.Value, 10, 64); err == nil {
		return plural.Grouped(n)
	}
	return o.Value
}

// operands are the values of an expression's parts: p99_ms = 7.31.
func operands(ops []record.Operand) Text {
	if len(ops) == 0 {
		return text("-")
	}
	var parts []Text
	for i, o := range ops {
		if !slices.Contains(ops[:i], o) {
			parts = append(parts, text(mono(o.Text), " = ", value(o)))
		}
	}
	return join(parts, ", ")
}

// runs say what single runs came to.
func (j Judged) runs() (out []Text) {
	for _, r := range j.Runs {
		t := text(r.Of+": ", outcome(r.Outcome, r.Label), " ", operands(r.Operands))
		if r.Why != "" {
			t = text(t, ", "+r.Why)
		}
		out = append(out, t)
	}
	return out
}

// tables show the verdicts for writers that do not fold: what all judgements of each have in common, a table of them, and one of
// single runs where they were judged by themselves.
func (vs Verdicts) tables() (out []Block) {
	for _, v := range vs {
		out = append(out, Heading{v.Name})
		if v.About != "" {
			out = append(out, Paragraph{text(v.About)})
		}
		if said := v.Said(); plain(said) != "" {
			out = append(out, Paragraph{said})
		}
		out = append(out, v.Table())
		runs := Table{Columns: []Column{{Title: "of"}, {Title: "run"}, {Title: "outcome"}, {Title: "values"}, {Title: "why"}}}
		for _, j := range v.Judged {
			for _, r := range j.Runs {
				runs.Rows = append(runs.Rows, row(j.Of, r.Of, outcome(r.Outcome, r.Label), operands(r.Operands), dash(r.Why)))
			}
		}
		if len(runs.Rows) > 0 {
			out = append(out, Paragraph{text("Run by run:")}, runs)
		}
	}
	return out
}
