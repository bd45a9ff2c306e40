package report

import (
	"fmt"
	"io"
	"strings"
)

// Summary writes the short text that a run ends with on a terminal: what the findings say first, the verdicts, the plan's
// first table, and where the report is.
func Summary(w io.Writer, in Input, opt Options) error {
	if in.Results == nil {
		return fmt.Errorf("making a summary: there are no results")
	}
	b := newBuilder(in, opt)
	var out strings.Builder
	groups, err := b.groupsOfFindings()
	if err != nil {
		return fmt.Errorf("making a summary: %w", err)
	}
	for _, g := range groups {
		if g.title == aheadTitle || g.title == againTitle { // the table says it, and who just ran it knows
			continue
		}
		for _, item := range g.items {
			fmt.Fprintf(&out, "%s\n", Wrap(terminal(item), opt.Width))
		}
	}
	if t := b.short(); len(t.Rows) > 0 {
		if err := writeTable(&out, "Verdicts", t); err != nil {
			return err
		}
	}
	for _, s := range b.sections() {
		if s.Kind != "table" || s.Losses != nil {
			continue
		}
		section, err := tableSection(b, s)
		if err != nil {
			return fmt.Errorf("making a summary: %w", err)
		}
		title := s.Title
		for _, block := range section.Blocks {
			if t, ok := block.(Table); ok {
				if err := writeTable(&out, title, t); err != nil {
					return err
				}
				title = "Ratios"
			}
		}
		break
	}
	dir := terminal(text(strings.TrimSuffix(b.opt.Dir, "/")))
	fmt.Fprintf(&out, "\nReport: %s/report.md\n        %s/report.html\n", dir, dir)
	_, err = io.WriteString(w, out.String())
	return err
}

// short is the verdicts' table without expressions: one row for each verdict and outcome.
func (b *builder) short() Table {
	t := Table{Columns: []Column{{Title: "outcome"}, {Title: "verdict"}, {Title: "of"}, {Title: "gate"}}}
	type key struct{ verdict, outcome string }
	at := map[key]int{}
	of := map[key][]string{}
	for _, j := range b.res.Verdicts {
		k := key{j.Verdict, j.Outcome}
		if _, ok := at[k]; !ok {
			at[k] = len(t.Rows)
			t.Rows = append(t.Rows, row(j.Outcome, j.Verdict, "", gateWords(j.Gate)))
		}
		of[k] = append(of[k], b.place(j.Coord))
	}
	for k, i := range at {
		t.Rows[i][2] = text(some(of[k], 3))
	}
	return t
}

// terminal is text on one line, without styles; footnotes become an asterisk.
func terminal(t Text) string {
	var b strings.Builder
	for _, s := range t {
		if s.Note > 0 {
			b.WriteString("*")
			continue
		}
		b.WriteString(strings.ReplaceAll(visible(s.Text), "\n", " "))
	}
	return b.String()
}

func writeTable(w io.Writer, title string, t Table) error {
	s, err := aligned(t, terminal)
	if err != nil {
		return fmt.Errorf("rendering a table: %w", err)
	}
	_, err = fmt.Fprintf(w, "\n%s\n%s", terminal(text(title)), s)
	return err
}
