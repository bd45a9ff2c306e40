package html

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/internal/plural"
)

// A writer keeps what a page numbers.
type writer struct {
	refs map[int][]string // footnote -> ids of the places that refer to it
}

// funcs are what the template calls.
func (p *writer) funcs() template.FuncMap {
	return template.FuncMap{
		"visible":     report.Visible,
		"pieces":      func(title string) []string { return titleParts.FindAllString(title, -1) }, // where a long name may be broken
		"kind":        kind,
		"style":       styleName,
		"folds":       folds,
		"tone":        tone,
		"headings":    headings,
		"add":         func(a, b int) int { return a + b },
		"ref":         p.ref,
		"refs":        func(n int) []string { return p.refs[n] },
		"tally":       tally,
		"toneOf":      toneOf,
		"unfolded":    unfolded,
		"grouped":     func(n int64) string { return plural.Grouped(n) },
		"cellClass":   cellClass,
		"logarithmic": logarithmic,
		"leads":       leads,
		"legend":      legend,
		"swatch":      swatch,
		// The canvas has escaped what these hold.
		"timeChart":       func(c report.Chart) template.HTML { return template.HTML(timeChart(c)) },
		"rangeChart":      func(g report.RangeGroup) template.HTML { return template.HTML(rangeChart(g)) },
		"percentileChart": func(ps report.Percentiles) template.HTML { return template.HTML(percentileChart(ps)) },
	}
}

// titleParts are where a long name may be broken.
var titleParts = regexp.MustCompile(`[^_.(]*[_.(]+|[^_.(]+`)

// kind names the type of a block.
func kind(b report.Block) (string, error) {
	switch b.(type) {
	case report.Paragraph:
		return "paragraph", nil
	case report.Heading:
		return "heading", nil
	case report.List:
		return "list", nil
	case report.Table:
		return "table", nil
	case report.Code:
		return "code", nil
	case report.Verdicts:
		return "verdicts", nil
	case report.Chart:
		return "chart", nil
	case report.Ranges:
		return "ranges", nil
	case report.Percentiles:
		return "percentiles", nil
	}
	return "", fmt.Errorf("a block of type %T", b)
}

// styleName is the class of a span; "" of plain text.
func styleName(s report.Style) string {
	switch s {
	case report.Strong:
		return "strong"
	case report.Mono:
		return "mono"
	case report.Good:
		return "good"
	case report.Bad:
		return "bad"
	case report.Doubtful:
		return "doubt"
	case report.Missing:
		return "none"
	}
	return ""
}

// folds reports whether a text has a fold in it, which a paragraph of HTML cannot hold.
func folds(t report.Text) bool {
	return slices.ContainsFunc(t, func(s report.Span) bool { return s.Rest != nil })
}

// tone is the class of a list's item: that of the gravest badge in it.
func tone(t report.Text) string {
	for _, s := range []report.Style{report.Bad, report.Doubtful, report.Good} {
		if slices.ContainsFunc(t, func(x report.Span) bool { return x.Style == s }) {
			return styleName(s)
		}
	}
	return ""
}

// cellClass says how a cell of a table stands: numbers to the right, short text on one line, long text with room.
func cellClass(c report.Column, t report.Text) string {
	n := 0
	for _, s := range t {
		n += utf8.RuneCountInString(s.Text)
	}
	switch {
	case c.Right && n <= 10:
		return "num brief"
	case c.Right:
		return "num"
	case n <= 26:
		return "short"
	case n > 45:
		return "long"
	}
	return ""
}

// A heading of the contents.
type heading struct{ ID, Title string }

// headings are those of a section; none of one that has very many.
func headings(i int, s report.Section) (out []heading) {
	for j, b := range s.Blocks {
		if h, ok := b.(report.Heading); ok {
			out = append(out, heading{fmt.Sprintf("s%d-%d", i, j), h.Text})
		}
	}
	if len(out) > 12 {
		return nil
	}
	return out
}

// ref makes the id of a place that refers to a footnote.
func (p *writer) ref(n int) string {
	id := fmt.Sprintf("ref-%d-%d", n, len(p.refs[n])+1)
	p.refs[n] = append(p.refs[n], id)
	return id
}

// A tallied outcome is how often a verdict came out so.
type tallied struct {
	Outcome, Tone string
	Count         int
}

// tones are how outcomes look; of the others "none".
var tones = map[string]string{record.Fail: "bad", record.Error: "bad", record.Inconclusive: "doubt", record.Pass: "good"}

func tally(v report.Verdict) (out []tallied) {
	for _, o := range record.Outcomes {
		n := 0
		for _, j := range v.Judged {
			if j.Outcome == o {
				n++
			}
		}
		if n > 0 {
			out = append(out, tallied{o, cmp.Or(tones[o], "none"), n})
		}
	}
	return out
}

// toneOf is the gravest outcome of a verdict; what is unsupported does not stand in the way of a pass.
func toneOf(v report.Verdict) string {
	t := tally(v)
	i := slices.IndexFunc(t, func(x tallied) bool { return x.Tone != "none" })
	if i < 0 {
		return "none"
	}
	return t[i].Tone
}

// unfolded is true of verdicts that do not hold in all that could be judged.
func unfolded(v report.Verdict) bool { return toneOf(v) != "good" }

// legend names the lines of a chart; nil if its panels have different ones, whose ends then say it.
func legend(c report.Chart) []report.Line {
	same := func(a, b report.Line) bool { return a.Name == b.Name && a.Key == b.Key }
	for _, p := range c.Panels {
		if !slices.EqualFunc(p.Lines, c.Panels[0].Lines, same) {
			return nil
		}
	}
	if len(c.Panels) == 0 {
		return nil
	}
	return c.Panels[0].Lines
}

// swatch is a piece of a line.
func swatch(key int) template.HTML {
	c := newCanvas(32, 10)
	c.now.ink, c.now.width = hue(key), 2.2
	c.SetLineDash(dashOf(key), 0)
	c.Stroke(linePath(0, 5, 32, 5))
	return template.HTML(`<span class="swatch">` + c.svg("") + `</span>`)
}
