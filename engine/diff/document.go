package diff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/report"
)

// Bounds on what a document lists of differences and unmatched cells; JSON has all of them.
const (
	mostOfGroup   = 25
	mostUnmatched = 30
)

// Document puts the comparison into words and tables, as report.WriteMarkdown and report.WriteText take it.
func (d *Diff) Document() *report.Document {
	w := &writer{d: d, seen: map[string]int{}}
	doc := &report.Document{Title: "B against A"}
	for _, s := range []struct {
		name string
		set  *Set
	}{{"A", d.A}, {"B", d.B}} {
		words := s.set.words()
		for _, m := range s.set.More {
			words += "; and again " + m.words()
		}
		doc.Lead = append(doc.Lead, paragraph(s.name+" is "+words+"."))
	}
	if d.Same != "" {
		doc.Lead = append(doc.Lead, report.Paragraph{Text: report.Text{{Text: d.Same + ".", Style: report.Strong}}})
	}
	add := func(title string, blocks []report.Block) {
		if len(blocks) > 0 {
			doc.Sections = append(doc.Sections, report.Section{Title: title, Blocks: blocks})
		}
	}
	add("What differs beside the figures", w.differences())
	add("Compared by force", w.mismatches())
	add("Figures", w.figures())
	add("Cells that could not be compared", w.unmatched())
	doc.Notes = w.notes
	return doc
}

type writer struct {
	d     *Diff
	notes []report.Text
	seen  map[string]int
}

func plainText(s string) report.Text      { return report.Text{{Text: s}} }
func paragraph(s string) report.Paragraph { return report.Paragraph{Text: plainText(s)} }
func quoted(s string) report.Span         { return report.Span{Text: s, Style: report.Mono} }

// note gives the reference to a footnote; the same text has one.
func (w *writer) note(s string) report.Span {
	n, ok := w.seen[s]
	if !ok {
		w.notes = append(w.notes, plainText(s))
		n = len(w.notes)
		w.seen[s] = n
	}
	return report.Span{Note: n}
}

// words says what a set is.
func (s *Set) words() string {
	parts := []string{s.Name}
	if s.Target != "" {
		parts = append(parts, "its target "+s.Target)
	}
	if plan, ok := s.Plan["plan"].(string); ok {
		parts = append(parts, "plan "+plan)
	}
	if e := s.Environment; e != nil && !e.Start.IsZero() {
		did := "begun "
		if e.Imported != nil {
			did = "published figures that planrun did not measure, imported "
		}
		parts = append(parts, did+e.Start.UTC().Format(time.DateTime)+" UTC")
		if e.Hostname != "" {
			parts = append(parts, "on "+e.Hostname)
		}
	}
	return strings.Join(append(parts, s.Gaps...), ", ")
}

// differences lists them by group.
func (w *writer) differences() (out []report.Block) {
	if len(w.d.Differences) == 0 {
		if w.d.Same != "" {
			return nil
		}
		words := "Nothing that is recorded: neither the plan, nor the machine, nor the programs."
		if w.d.A.Plan == nil || w.d.B.Plan == nil || w.d.A.Environment == nil || w.d.B.Environment == nil {
			words = "Nothing that both sets record."
		}
		return []report.Block{paragraph(words)}
	}
	for _, g := range groups {
		var items []report.Text
		more := 0
		for _, x := range w.d.Differences {
			switch {
			case x.Group != g:
			case len(items) == mostOfGroup:
				more++
			default:
				items = append(items, plainText(x.Words))
			}
		}
		if more > 0 {
			items = append(items, plainText(fmt.Sprintf("and %d more; --format json has all", more)))
		}
		if len(items) > 0 {
			out = append(out, report.Heading{Text: strings.ToUpper(string(g[:1])) + string(g[1:])}, report.List{Items: items})
		}
	}
	return out
}

// mismatches are shown where the comparison was forced; else there is no document.
func (w *writer) mismatches() []report.Block {
	if len(w.d.Mismatches) == 0 {
		return nil
	}
	var items []report.Text
	for _, m := range w.d.Mismatches {
		items = append(items, plainText(m.String()))
	}
	warning := report.Paragraph{Text: report.Text{{Text: "The two sides did not measure the same thing; a difference of figures may be one of what was measured.", Style: report.Strong}}}
	return []report.Block{warning, report.List{Items: items}}
}

// String is a mismatch with where it is.
func (m Mismatch) String() string {
	if len(m.Cells) == 0 {
		return m.What
	}
	return m.What + " (" + some(m.Cells) + ")"
}

func (w *writer) unmatched() []report.Block {
	if len(w.d.Unmatched)+len(w.d.Lacking) == 0 {
		return nil
	}
	// Cells for which the same is said are one item.
	var said []string
	cells := map[string][]string{}
	for _, u := range w.d.Unmatched {
		key := "in " + u.Side + " only: " + u.Why
		if u.Side == "both" {
			key = "without results: " + u.Why
		}
		if !slices.Contains(said, key) {
			said = append(said, key)
		}
		cells[key] = append(cells[key], Place(u.Coord))
	}
	var items []report.Text
	left := mostUnmatched
	for _, key := range said {
		names := cells[key]
		shown := names[:min(len(names), max(left, 1))]
		left -= len(shown)
		words := strings.Join(shown, "; ")
		if more := len(names) - len(shown); more > 0 {
			words += fmt.Sprintf("; and %d more", more)
		}
		items = append(items, plainText(key+": "+words))
	}
	for _, x := range w.d.Lacking {
		items = append(items, plainText(x))
	}
	return []report.Block{report.List{Items: items}}
}
