package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// WriteMarkdown writes the document as GitHub-flavoured Markdown with footnotes.
func WriteMarkdown(w io.Writer, d *Document) error {
	m := &markdown{}
	m.line("# " + m.inline(text(oneLine(d.Title)), false))
	m.blocks(d.Lead)
	for _, s := range d.Sections {
		if s.Pictures {
			continue
		}
		m.line("## " + m.inline(text(oneLine(s.Title)), false))
		m.blocks(s.Blocks)
	}
	for i, n := range d.Notes {
		m.line(fmt.Sprintf("[^%d]: %s", i+1, m.inline(n, false)))
	}
	if m.err != nil {
		return fmt.Errorf("rendering a table: %w", m.err)
	}
	_, err := w.Write(m.b.Bytes())
	return err
}

type markdown struct {
	b   bytes.Buffer
	err error
}

// line writes a block of its own.
func (m *markdown) line(s string) {
	if m.b.Len() > 0 {
		m.b.WriteByte('\n')
	}
	m.b.WriteString(s + "\n")
}

func (m *markdown) blocks(blocks []Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case Paragraph:
			m.line(begins(m.inline(b.Text, false)))
		case Heading:
			m.line("### " + m.inline(text(oneLine(b.Text)), false))
		case List:
			lines := make([]string, len(b.Items))
			for i, item := range b.Items {
				lines[i] = "- " + begins(m.inline(item, false))
			}
			m.line(strings.Join(lines, "\n"))
		case Table:
			m.table(b)
		case Code:
			m.code(b)
		case Verdicts:
			m.blocks(b.tables())
		case Chart:
			m.blocks(b.tables())
		}
	}
}

// inline renders spans on one line; line ends of plain text become <br>.
func (m *markdown) inline(t Text, table bool) string {
	var b strings.Builder
	for _, s := range t {
		if s.Note > 0 {
			fmt.Fprintf(&b, "[^%d]", s.Note)
			continue
		}
		switch s.Style {
		case Mono:
			b.WriteString(codeSpan(s.Text, table))
		case Strong, Bad, Doubtful, Missing: // what is good needs no stress
			if inner := escape(oneLine(s.Text)); inner != "" {
				b.WriteString("**" + inner + "**")
			}
		default:
			b.WriteString(strings.ReplaceAll(escape(visible(s.Text)), "\n", "<br>"))
		}
	}
	return trimBreaks(b.String())
}

// trimBreaks takes line ends away from both ends: at the beginning of a line they would be an HTML block.
func trimBreaks(s string) string {
	for {
		t := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(s, "<br>"), "<br>"))
		if t == s {
			return s
		}
		s = t
	}
}

func (m *markdown) code(c Code) {
	if c.Title != "" {
		m.line(begins(m.inline(text(oneLine(c.Title)), false)) + ":")
	}
	fence := "```"
	for _, l := range c.Lines {
		for strings.Contains(l, fence) {
			fence += "`"
		}
	}
	var b strings.Builder
	b.WriteString(fence + "\n")
	for _, l := range c.Lines {
		b.WriteString(visible(l) + "\n")
	}
	m.line(b.String() + fence)
}

func (m *markdown) table(t Table) {
	head := make([]string, len(t.Columns))
	align := make(tw.Alignment, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = dash(m.inline(c.head(), true))
		if align[i] = tw.AlignLeft; c.Right {
			align[i] = tw.AlignRight
		}
	}
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = make([]string, len(t.Columns))
		for j := range t.Columns {
			rows[i][j] = dash(m.inline(r[j], true))
		}
	}
	s, err := layOut(renderer.NewMarkdown(), head, rows, align)
	if err != nil && m.err == nil {
		m.err = err
	}
	m.line(strings.TrimRight(s, "\n"))
}

// layOut aligns a table whose cells are rendered already.
func layOut(r tw.Renderer, head []string, rows [][]string, align tw.Alignment) (string, error) {
	var b bytes.Buffer
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(r),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(align),
	)
	t.Header(head)
	if err := t.Bulk(rows); err != nil {
		return "", err
	}
	if err := t.Render(); err != nil {
		return "", err
	}
	return b.String(), nil
}
