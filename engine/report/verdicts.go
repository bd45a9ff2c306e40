package report

import (
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// verdictSection is the table of verdicts, in the plan's order; a row for each judgement, and a row for each of its runs
// where it judges runs.
func verdictSection(b *builder) (Section, error) {
	s := Section{Title: "Verdicts"}
	if len(b.res.Verdicts) == 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("The plan judges nothing, or nothing was judged.")})
		return s, nil
	}
	t := Table{Columns: []Column{{Title: "verdict"}, {Title: "outcome"}, {Title: "of"}, {Title: "expression"}, {Title: "values"}, {Title: "runs", Right: true}, {Title: "gate"}, {Title: "why"}}}
	for _, j := range b.res.Verdicts {
		t.Rows = append(t.Rows, row(j.Verdict, outcome(j.Outcome, j.Label), b.place(j.Coord), expression(j.Expression), operands(j.Operands), count(j.N, "run"), gateWords(j.Gate), because(j)))
	}
	s.Blocks = append(s.Blocks, t)
	said := map[string]bool{}
	for _, j := range b.res.Verdicts {
		if j.About != "" && !said[j.Verdict] {
			said[j.Verdict] = true
			s.Blocks = append(s.Blocks, Paragraph{text(j.Verdict + ": " + j.About)})
		}
	}
	if runs := b.runTable(); len(runs.Rows) > 0 {
		s.Blocks = append(s.Blocks, Heading{"Run by run"}, runs)
	}
	return s, nil
}

// runTable has the judgements of single runs, where a verdict judges runs.
func (b *builder) runTable() Table {
	t := Table{Columns: []Column{{Title: "verdict"}, {Title: "of"}, {Title: "run"}, {Title: "outcome"}, {Title: "values"}, {Title: "why"}}}
	for _, j := range b.res.Verdicts {
		if len(j.Runs) < 2 { // the verdict itself says it
			continue
		}
		for _, r := range j.Runs {
			t.Rows = append(t.Rows, row(j.Verdict, b.name(j.Coord), b.which(r.Round, r.Repeat), outcome(r.Outcome, r.Label), operands(r.Operands), dash(r.Reason)))
		}
	}
	return t
}

// outcome stresses all that is not a pass.
func outcome(o, label string) Text {
	t := text(strong(o))
	if o == record.Pass || o == record.NotJudged {
		t = text(o)
	}
	if label != "" {
		t = append(t, text(": ", label)...)
	}
	return t
}

func expression(s string) Text {
	if strings.TrimSpace(s) == "" {
		return text("-")
	}
	return text(mono(s))
}

// operands are the values of an expression's parts: p99_ms = 7.31.
func operands(ops []record.Operand) Text {
	if len(ops) == 0 {
		return text("-")
	}
	parts := make([]Text, len(ops))
	for i, o := range ops {
		parts[i] = text(mono(o.Text), " = ", o.Value)
	}
	return join(parts, ", ")
}

func gateWords(gate string) string {
	switch gate {
	case "", "false":
		return "no"
	case "true":
		return "yes"
	case "fail-only":
		return "if it fails"
	}
	return gate
}

// because is why a judgement is what it is, with the first time that a series broke it.
func because(j record.Judgement) string {
	parts := []string{}
	if j.Reason != "" {
		parts = append(parts, j.Reason)
	}
	if j.Broke != "" {
		parts = append(parts, "first broken at "+j.Broke)
	}
	return dash(strings.Join(parts, "; "))
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
