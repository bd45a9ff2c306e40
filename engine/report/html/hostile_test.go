package html

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
)

// document has every kind of block, and says s wherever something from outside is said.
func document(s string) *report.Document {
	t := report.Text{{Text: s}, {Text: s, Style: report.Strong}, {Text: s, Style: report.Mono}, {Text: s, Style: report.Bad}, {Note: 1}}
	folding := append(slices.Clip(t), report.Span{Text: s, Rest: []report.Text{t, {{Text: s}}}})
	value := func(v float64) *float64 { return &v }
	line := func(key int, v ...*float64) report.Line { return report.Line{Name: s, Key: key, Values: v} }
	op := []record.Operand{{Text: s, Value: s}}
	return &report.Document{
		Title: s, Facts: []report.Fact{{Name: s, Text: t}}, Lead: []report.Block{report.Paragraph{Text: t}},
		Notes: []report.Text{{{Text: s}}},
		Sections: []report.Section{{Title: s, Blocks: []report.Block{
			report.List{Items: []report.Text{t, {{Text: s, Style: report.Doubtful}}, folding}},
			report.Paragraph{Text: folding},
			report.Heading{Text: s},
			report.Code{Lines: []string{s, s}},
			report.Table{Columns: []report.Column{{Title: s, About: s, Code: true}, {Title: "number", Right: true, About: "about"}}, Rows: [][]report.Text{{t, {{Text: "1,000"}}}, {t, {{Text: "9"}}}, {t, {{Text: "n/a"}}}}},
			report.Verdicts{{Name: s, About: s, Judged: []report.Judged{
				{Of: s, Outcome: record.Fail, Label: s, Expression: s, Operands: op, Why: s, Gate: s, Runs: []report.JudgedRun{{Of: s, Outcome: record.Pass, Label: s, Operands: op, Why: s}}},
				{Of: s, Outcome: s, Expression: s + "2"},
			}}},
		}}, {Title: s, Pictures: true, Blocks: []report.Block{
			report.Ranges{Title: s, Groups: []report.RangeGroup{{Title: s, Label: s, Bars: []report.Bar{
				{Name: s, Value: 10, Low: 9, High: 12, Text: s}, {Name: s, Key: 1, Why: s},
			}}}},
			report.Chart{Title: s, Seconds: 3, Phases: []report.Stretch{{Name: s, Kind: s, From: 0.2, To: 1}, {Name: "fault", Kind: "fault", From: 1, To: 3}},
				Marks: []report.Mark{{At: []float64{0.5}, Text: s}, {At: []float64{1, 1.5, 2, 2.5}, Text: s}}, About: t,
				Panels: []report.Panel{{Title: s, Unit: s, Lines: []report.Line{line(0, value(1), nil, value(3)), line(9, nil, value(1000), value(2))}}, {Title: "none", Lines: []report.Line{line(0, value(0), value(0), value(0))}}}},
			report.Percentiles{Title: s, About: t, Lines: []report.Distribution{{Name: s, Count: 1000, Points: []report.Percentile{{Ms: 0.5}, {Share: 0.9, Ms: 2}, {Share: 0.99, Ms: 30}, {Share: 1, Ms: 100}}}}},
		}}},
	}
}

var hostiles = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='x`, `]]></style></svg><script>`, `--></title><iframe src=//x>`,
	"\u202eright to left\u202c", "שלום", `javascript:alert(1)`, `{{.}} ${x}`, "a\x00b\xff\n\tc", `&lt;b&gt;&#60;`, strings.Repeat("w<", 5000), strings.Repeat("long name ", 1000), "",
}

// shape is the elements and attributes of a page, with the values of the attributes that may come to do something.
func shape(t *testing.T, page []byte) (out []string) {
	t.Helper()
	root, err := xhtml.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != xhtml.ElementNode || n.DataAtom == atom.Wbr { // where a long name may be broken
			continue
		}
		s := n.Data
		for _, a := range n.Attr {
			s += " " + a.Key
			if slices.Contains([]string{"href", "src", "style", "id", "class", "http-equiv", "content"}, a.Key) || strings.HasPrefix(a.Key, "on") {
				s += "=" + a.Val
			}
		}
		out = append(out, s)
	}
	return out
}

// Whatever a name holds, the page has the elements and attributes that it has for a plain one: nothing came in by a name.
func TestHostileNames(t *testing.T) {
	page := func(s string) []byte {
		var b bytes.Buffer
		if err := Write(&b, document(s)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	// What a drawing has depends on how much room a name leaves: there, elements are compared by kind.
	known := map[string]bool{"td class=short": true, "td class=long": true, "td": true}
	plain := shape(t, page("plain name"))
	for _, e := range plain {
		known[e] = true
	}
	if len(plain) < 200 {
		t.Fatalf("a page of %d elements", len(plain))
	}
	drawn := func(e string) bool {
		name, _, _ := strings.Cut(e, " ")
		return name == "path" || name == "text"
	}
	for _, s := range hostiles {
		got := shape(t, page(s))
		if s != "" {
			a, b := slices.DeleteFunc(slices.Clone(plain), drawn), slices.DeleteFunc(slices.Clone(got), drawn)
			if len(a) != len(b) {
				t.Errorf("%.40q makes %d elements of %d", s, len(b), len(a))
			}
		}
		for _, e := range got {
			if !known[e] && !(drawn(e) && onlyDrawing(e)) {
				t.Errorf("%.40q makes %.200q", s, e)
			}
		}
	}
}

// onlyDrawing is true of an element that has no attributes but those of the canvas.
func onlyDrawing(e string) bool {
	for _, a := range strings.Fields(e)[1:] {
		name, value, _ := strings.Cut(a, "=")
		if !slices.Contains([]string{"class", "d", "x", "y", "font-size", "stroke-width", "stroke-dasharray", "textLength", "lengthAdjust", "transform"}, name) &&
			!strings.HasPrefix(a, "f-") && !strings.HasPrefix(a, "s-") || strings.ContainsAny(value, "<>\"'") {
			return false
		}
	}
	return true
}

// Names are seen: in the text of the page, and those of lines in its drawings.
func TestNamesAreSeen(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, document("<b>x</b> & \u202ey")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), `&lt;b&gt;x&lt;/b&gt; &amp; \u202ey`); n < 40 {
		t.Errorf("it is there %d times", n)
	}
}
