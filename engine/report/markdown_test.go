package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	source "github.com/yuin/goldmark/text"
)

var parser = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

// parsed are the tables of a Markdown text, each a list of rows of cell texts, and what else is of interest.
type parsed struct {
	tables    [][][]string
	html      []string // raw HTML
	headings  []string
	footnotes int
}

func parse(src []byte) parsed {
	var p parsed
	_ = ast.Walk(parser.Parser().Parse(source.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *east.Table:
			p.tables = append(p.tables, nil)
		case *east.TableHeader, *east.TableRow:
			last := len(p.tables) - 1
			var cells []string
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				cells = append(cells, plainText(c, src))
			}
			p.tables[last] = append(p.tables[last], cells)
		case *ast.RawHTML:
			var b strings.Builder
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				b.Write(s.Value(src))
			}
			p.html = append(p.html, b.String())
		case *ast.HTMLBlock:
			p.html = append(p.html, "a block")
		case *ast.Heading:
			p.headings = append(p.headings, plainText(n, src))
		case *east.Footnote:
			p.footnotes++
		}
		return ast.WalkContinue, nil
	})
	return p
}

// plainText is what a reader sees of a node; <br> is a line end.
func plainText(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			v := n.Segment.Value(src)
			if n.Parent().Kind() != ast.KindCodeSpan {
				v = unescape(v)
			}
			b.Write(v)
		case *ast.String:
			b.Write(n.Value)
		case *ast.RawHTML:
			b.WriteByte('\n')
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// unescape takes away backslashes before punctuation, as a renderer does.
func unescape(v []byte) []byte {
	var out []byte
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", v[i+1]) >= 0 {
			i++
		}
		out = append(out, v[i])
	}
	return out
}

// Every table of every report is parsed by a Markdown library as it was meant: as many cells in each row as columns, no HTML
// but line ends, no heading that a name brought along, no footnote without its text.
func TestMarkdownParses(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := c.make()
			d, err := Build(f.in, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := WriteMarkdown(&b, d); err != nil {
				t.Fatal(err)
			}
			p := parse(b.Bytes())
			var want []Table
			headings := 1
			var expect func([]Block)
			expect = func(blocks []Block) {
				for _, block := range blocks {
					switch block := block.(type) {
					case Table:
						want = append(want, block)
					case Chart:
						expect(block.tables())
					case Verdicts:
						expect(block.tables())
					case Heading:
						headings++
					}
				}
			}
			for _, s := range d.Sections {
				if !s.Pictures {
					headings++
					expect(s.Blocks)
				}
			}
			if len(p.tables) != len(want) {
				t.Fatalf("%d tables were parsed of %d", len(p.tables), len(want))
			}
			for i, table := range p.tables {
				if len(table) != len(want[i].Rows)+1 {
					t.Errorf("table %d has %d rows, want %d and a header", i, len(table), len(want[i].Rows))
				}
				for j, cells := range table {
					if len(cells) != len(want[i].Columns) {
						t.Errorf("table %d row %d has %d cells, want %d: %q", i, j, len(cells), len(want[i].Columns), cells)
					}
				}
			}
			for _, h := range p.html {
				if h != "<br>" {
					t.Errorf("raw HTML %q", h)
				}
			}
			if len(p.headings) != headings {
				t.Errorf("%d headings, want %d: %q", len(p.headings), headings, p.headings)
			}
			if p.footnotes != len(d.Notes) {
				t.Errorf("%d footnotes were parsed of %d", p.footnotes, len(d.Notes))
			}
		})
	}
}

// A blank says nothing: whatever has no value says so.
func TestNoCellIsEmpty(t *testing.T) {
	for _, c := range cases {
		var b bytes.Buffer
		if err := Write(&b, c.make().in, Options{}); err != nil {
			t.Fatal(err)
		}
		for i, table := range parse(b.Bytes()).tables {
			for j, cells := range table {
				for k, cell := range cells {
					if strings.TrimSpace(cell) == "" {
						t.Errorf("%s: table %d row %d cell %d is blank", c.name, i, j, k)
					}
				}
			}
		}
	}
}

// Whatever a name holds, a reader of the table sees it, made visible, and nothing else.
func FuzzCell(f *testing.F) {
	for _, s := range []string{hostile, "a|b", "a\\|b", "\\", "`", "``a`", "*x*", "_x_", "a_b_c", "[a](b)", "<br>", "&amp;", "&#42;", "- a", "1. a", "# a", "~~a~~", "a\r\nb", "\x00\xff", " a ", "[^1]: x", "![x](y)", "::", "a\u2028b", "|", "\\\\|", "x\\", "\n\n", "---", "日本", "<!--", "</td>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := &Document{Title: s, Sections: []Section{{Title: s, Blocks: []Block{
			Table{Columns: []Column{{Title: "h"}, {Title: s}, {Title: "t"}}, Rows: [][]Text{row("a", s, "z"), row("b", mono(s), "y"), row("c", strong(s), "x")}},
			Paragraph{Text{{Text: s}}}, List{[]Text{{{Text: s}}}}, Heading{s}, Code{Lines: strings.Split(s, "\n")},
		}}}}
		var b bytes.Buffer
		if err := WriteMarkdown(&b, d); err != nil {
			t.Fatal(err)
		}
		p := parse(b.Bytes())
		if len(p.tables) != 1 || len(p.tables[0]) != 4 {
			t.Fatalf("not one table of four rows: %q\n%s", p.tables, b.String())
		}
		wants := []string{oneLine(s), strings.TrimSpace(visible(s)), oneLine(s), oneLine(s)}
		for i, r := range p.tables[0] {
			if len(r) != 3 {
				t.Fatalf("row %d has %d cells: %q\n%s", i, len(r), r, b.String())
			}
			if wants[i] == "" {
				wants[i] = "-"
			}
			if got := strings.TrimSpace(r[1]); squeeze(got) != squeeze(wants[i]) {
				t.Errorf("row %d shows %q, want %q\n%s", i, got, wants[i], b.String())
			}
		}
		for _, h := range p.html {
			if h != "<br>" {
				t.Errorf("raw HTML %q\n%s", h, b.String())
			}
		}
		if len(p.headings) > 3 {
			t.Errorf("headings %q\n%s", p.headings, b.String())
		}
	})
}

// squeeze makes runs of white space one blank: Markdown does not keep them.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
