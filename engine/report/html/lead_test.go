package html

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/planrun/planrun/engine/report"
)

// What a list leaves out is behind the words that say how much that is, also where the item is taken apart; nothing is folded
// twice.
func TestTheRestIsFolded(t *testing.T) {
	var parts []string
	for i := range 4 {
		parts = append(parts, fmt.Sprintf("part %d, which says something at the length that such parts have", i))
	}
	item := report.Text{{Text: "A lead in "}, {Text: "2 more", Rest: []report.Text{{{Text: "hidden one"}}, {{Text: "hidden two"}}}}, {Text: ": " + strings.Join(parts, "; ") + "; and "}, {Text: "2 more", Rest: []report.Text{{{Text: "hidden one"}}, {{Text: "hidden two"}}}}, {Text: ". And a last sentence."}}
	doc := &report.Document{Sections: []report.Section{{Title: "Findings", Blocks: []report.Block{report.List{Items: []report.Text{item}}, report.Paragraph{Text: item}}}}}
	var b bytes.Buffer
	if err := Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	root, err := xhtml.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	folds := 0
	for n := range root.Descendants() {
		if n.DataAtom != atom.Details {
			continue
		}
		folds++
		if got := strings.Join(strings.Fields(said(n)), " "); got != "2 more hidden one hidden two" {
			t.Errorf("a fold says %q", got)
		}
		for p := n.Parent; p != nil; p = p.Parent {
			if slices.Contains([]atom.Atom{atom.Details, atom.P, atom.Span}, p.DataAtom) { // which cannot hold one, or fold it twice
				t.Errorf("a fold is in a %s", p.Data)
			}
		}
	}
	if folds != 4 {
		t.Errorf("%d folds of 4", folds)
	}
}

// said is the text of an element, its parts apart.
func said(n *xhtml.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == xhtml.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return b.String()
}
