package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/planrun/planrun/engine/series"
)

// Number prints a value as reports do: three significant digits, and all before the point; "n/a" for what is no number.
func Number(v float64, class series.Class) string { return number(v, class) }

// Factor prints a ratio as reports do.
func Factor(v float64) string { return factor(v) }

// WriteText writes a document for a terminal: without styles, tables aligned by spaces, footnotes at the end. Charts become
// tables.
func WriteText(w io.Writer, d *Document) error {
	t := &textWriter{}
	t.b.WriteString(t.line(text(d.Title)) + "\n")
	t.blocks(d.Lead)
	for _, s := range d.Sections {
		fmt.Fprintf(&t.b, "\n%s\n", t.line(text(s.Title)))
		t.blocks(s.Blocks)
	}
	if len(d.Notes) > 0 {
		t.b.WriteString("\n")
	}
	for i, n := range d.Notes {
		fmt.Fprintf(&t.b, "[%d] %s\n", i+1, t.line(n))
	}
	if t.err != nil {
		return fmt.Errorf("rendering a table: %w", t.err)
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

type textWriter struct {
	b   strings.Builder
	err error
}

func (t *textWriter) blocks(blocks []Block) {
	for i, b := range blocks {
		if i > 0 && (isTable(b) || isTable(blocks[i-1])) {
			t.b.WriteString("\n")
		}
		switch b := b.(type) {
		case Paragraph:
			t.b.WriteString(t.line(b.Text) + "\n")
		case Heading:
			t.b.WriteString(t.line(text(b.Text)) + ":\n")
		case List:
			for _, item := range b.Items {
				t.b.WriteString("  - " + t.line(item) + "\n")
			}
		case Table:
			t.table(b)
		case Code:
			for _, l := range b.Lines {
				t.b.WriteString("  " + oneLine(l) + "\n")
			}
		case Verdicts:
			t.blocks(b.tables())
		case Chart:
			t.blocks(b.tables())
		}
	}
}

func isTable(b Block) bool {
	_, ok := b.(Table)
	return ok
}

// line is text on one line; a footnote is its number in brackets.
func (t *textWriter) line(spans Text) string {
	var b strings.Builder
	for _, s := range spans {
		if s.Note > 0 {
			fmt.Fprintf(&b, " [%d]", s.Note)
			continue
		}
		b.WriteString(strings.ReplaceAll(visible(s.Text), "\n", " "))
	}
	return b.String()
}

func (t *textWriter) table(x Table) {
	s, err := aligned(x, t.line)
	if err != nil && t.err == nil {
		t.err = err
	}
	t.b.WriteString(s)
}

// aligned is a table whose columns are aligned by spaces; line makes a line of a cell.
func aligned(t Table, line func(Text) string) (string, error) {
	head := make([]string, len(t.Columns))
	align := make(tw.Alignment, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = line(text(c.Title))
		if align[i] = tw.AlignLeft; c.Right {
			align[i] = tw.AlignRight
		}
	}
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		for _, c := range r {
			rows[i] = append(rows[i], line(c))
		}
	}
	plain := renderer.NewBlueprint(tw.Rendition{
		Borders:  tw.BorderNone,
		Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
	})
	s, err := layOut(plain, head, rows, align)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for l := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(l, " \n") + "\n")
	}
	return b.String(), nil
}
