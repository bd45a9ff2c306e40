package report

import "github.com/planrun/planrun/engine/record"

// A Document is a report before it has a form.
type Document struct {
	Title    string
	Facts    []Fact // what a page shows at its head; sections say all of it too
	Lead     []Block
	Sections []Section
	Notes    []Text // footnotes; Span.Note counts from 1
}

// A Fact is a name and its value.
type Fact struct {
	Name string
	Text Text
}

// A Section of a document.
type Section struct {
	Title  string
	Blocks []Block
	// Pictures marks a section whose numbers tables of other sections tell: a writer without pictures leaves it out.
	Pictures bool
}

// A Block is a Paragraph, Heading, List, Table, Code, Verdicts, Chart, Ranges or Percentiles.
type Block interface{ block() }

// A Paragraph of text.
type Paragraph struct{ Text Text }

// A Heading within a section.
type Heading struct{ Text string }

// A List of items.
type List struct{ Items []Text }

// A Table has as many cells in each row as it has columns.
type Table struct {
	Columns []Column
	Rows    [][]Text
}

// A Column of a table; numbers stand to the right. The title is code where it is a piece of the plan's text. About says what the metric in it is, if it has one.
type Column struct {
	Title string
	Right bool
	Code  bool
	About string
}

// head is the column's title as text.
func (c Column) head() Text {
	if title := oneLine(c.Title); c.Code && title != "" {
		return text(mono(title))
	}
	return text(oneLine(c.Title))
}

// Code is text to be kept as it is. What has a title is long: a writer may fold it away under that.
type Code struct {
	Lines []string
	Title string
}

func (Paragraph) block() {}
func (Heading) block()   {}
func (List) block()      {}
func (Table) block()     {}
func (Code) block()      {}

// Text is a line of spans.
type Text []Span

// A Span is a piece of text in one style, or a reference to a footnote.
type Span struct {
	Text  string
	Style Style
	Note  int // if not 0, a reference to that footnote; Text is then empty
	// Rest is what Text, "5 more", leaves out of a list: a writer that can fold shows it on demand.
	Rest []Text
}

// Style of a span.
type Style int

// The styles.
const (
	Plain  Style = iota
	Strong       // what a reader who skims must see
	Mono         // expressions, commands, values as written
	// Words that say how something came out: a writer may set them off by colour, never by colour alone.
	Good     // as it should be
	Bad      // not so
	Doubtful // not known
	Missing  // there is nothing to say it of
)

// text joins strings, spans and texts.
func text(parts ...any) Text {
	var t Text
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			if p != "" {
				t = append(t, Span{Text: p})
			}
		case Span:
			t = append(t, p)
		case Text:
			t = append(t, p...)
		default:
			panic("text of neither string, Span nor Text")
		}
	}
	return t
}

func mono(s string) Span   { return Span{Text: s, Style: Mono} }
func strong(s string) Span { return Span{Text: s, Style: Strong} }

// What is said so is stressed, and stands out by colour where there is any.
func bad(s string) Span      { return Span{Text: s, Style: Bad} }
func doubtful(s string) Span { return Span{Text: s, Style: Doubtful} }

// badge is the word of a verdict's outcome.
func badge(outcome string) Span {
	switch outcome {
	case record.Pass:
		return Span{Text: outcome, Style: Good}
	case record.Fail, record.Error:
		return Span{Text: outcome, Style: Bad}
	case record.Inconclusive:
		return Span{Text: outcome, Style: Doubtful}
	case record.NotSupported:
		return Span{Text: outcome, Style: Missing}
	case record.NotJudged:
		return Span{Text: outcome}
	}
	return strong(outcome)
}

// join puts sep between texts.
func join(texts []Text, sep string) Text {
	var t Text
	for i, x := range texts {
		if i > 0 {
			t = append(t, Span{Text: sep})
		}
		t = append(t, x...)
	}
	return t
}

// row makes a table row of strings, spans and texts.
func row(cells ...any) []Text {
	r := make([]Text, len(cells))
	for i, c := range cells {
		r[i] = text(c)
	}
	return r
}
