package report

import (
	"regexp"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// glossary defines every metric that the document names, and says of each column of its tables what its metric is. nil if it
// names none that is known.
func (b *builder) glossary(d *Document) *Section {
	g := reader{b: b, named: map[string]bool{}}
	for _, s := range b.sections() { // a table of one metric may not name it
		for _, m := range s.Metrics {
			g.names(compare.ParseName(m).Metric, true)
		}
	}
	for _, f := range d.Facts {
		g.text(f.Text)
	}
	g.blocks(d.Lead)
	for _, s := range d.Sections {
		g.blocks(s.Blocks)
	}
	for _, n := range b.notes {
		g.text(n)
	}
	t := Table{Columns: []Column{{Title: "metric"}, {Title: "unit"}, {Title: "better"}, {Title: "of several runs"}, {Title: "what it is"}}}
	for _, name := range sorted(g.named) {
		m, _ := b.define(name)
		t.Rows = append(t.Rows, row(text(mono(name)), dash(m.Unit), dash(string(m.Better)), dash(string(m.Across)), m.Doc))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return &Section{Title: "What the metrics are", Blocks: []Block{t}}
}

// A reader finds the names of metrics in a document.
type reader struct {
	b     *builder
	named map[string]bool
}

// identifier is what a metric may be called.
var identifier = regexp.MustCompile(`[a-z][a-z0-9]*(_[a-z0-9]+)*`)

// names notes the metrics among the words of s, and gives the last. What has no underscore (failed) may be just a word: words
// says that it is not.
func (g *reader) names(s string, words bool) (last string) {
	for _, name := range identifier.FindAllString(s, -1) {
		if !words && !strings.Contains(name, "_") {
			continue
		}
		if _, ok := g.b.define(name); ok {
			g.named[name], last = true, name
		}
	}
	return last
}

func (g *reader) text(t Text) {
	for _, s := range t {
		g.names(s.Text, s.Style == Mono)
	}
}

func (g *reader) blocks(blocks []Block) {
	for _, block := range blocks {
		switch x := block.(type) {
		case Paragraph:
			g.text(x.Text)
		case List:
			for _, t := range x.Items {
				g.text(t)
			}
		case Table:
			g.table(x)
		case Verdicts:
			g.blocks(x.tables())
		case Chart:
			for _, p := range x.Panels {
				g.names(p.Title, true)
			}
		case Ranges:
			for _, r := range x.Groups {
				g.names(r.Label, false)
			}
		}
	}
}

// table also fills what the columns are about.
func (g *reader) table(t Table) {
	metric := -1 // the column that names metrics
	for i, c := range t.Columns {
		if name := g.names(c.Title, c.About != ""); name != "" && c.About == "" {
			m, _ := g.b.define(name)
			t.Columns[i].About = m.Doc
		}
		if c.Title == "metric" {
			metric = i
		}
	}
	for _, r := range t.Rows {
		for i, c := range r {
			g.text(c)
			if i == metric {
				g.names(plain(c), true)
			}
		}
	}
}

// plain is a text without its styles and footnotes.
func plain(t Text) string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.Text)
	}
	return b.String()
}

// roles are the processes of which a metric is that has this before the name of a series.
var roles = map[string]string{"sut": "the target's processes", "load": "the load generator's processes", "backends": "the backends' processes", "control": "planrun itself"}

// define describes a metric of the results, or a series that a chart draws; ok is false if nothing is known of it.
func (b *builder) define(name string) (d series.Desc, ok bool) {
	if d, ok = b.res.Descs[name]; !ok || d.Doc == "" {
		if d, ok = b.seriesNamed(name); !ok || !strings.Contains(name, "_") {
			return d, false
		}
	}
	role, _, _ := strings.Cut(name, "_")
	if of := roles[role]; of != "" && d.Doc != "" {
		d.Doc += "; of " + of
	}
	return d, d.Doc != ""
}

// seriesNamed describes a series of a probe, with the name of its source before it or without.
func (b *builder) seriesNamed(name string) (series.Desc, bool) {
	if b.probed == nil {
		b.probed = map[string]series.SeriesDesc{}
		for _, r := range b.in.Runs {
			for _, s := range r.Series {
				b.probed[s.Name] = s
			}
		}
	}
	for rest, more := name, true; more; _, rest, more = strings.Cut(rest, "_") {
		if s, ok := b.probed[rest]; ok {
			return series.Desc{Name: name, Unit: s.Unit, Class: s.Class, Doc: s.Doc}, true
		}
	}
	return series.Desc{}, false
}

// misread are metrics whose names promise another thing than they count: where a table has one, it says what it is.
var misread = []string{"slow_over_1s", "p99_clean_ms", "p99_9_clean_ms"}

// readings says under a table what those of its metrics are that are easily misread.
func (b *builder) readings(metrics []string) (out []Block) {
	for _, name := range misread {
		if d, ok := b.define(name); ok && slices.Contains(metrics, name) {
			out = append(out, Paragraph{text(mono(name), ": "+d.Doc+".")})
		}
	}
	return out
}

// asks are the metrics, or what may be one, that verdicts are about.
func asks(js ...record.Judgement) (names []string) {
	for _, j := range js {
		names = append(names, identifier.FindAllString(j.Expression, -1)...)
		for _, l := range j.Let {
			names = append(names, identifier.FindAllString(l.Value, -1)...)
		}
		for _, o := range j.Operands {
			names = append(names, identifier.FindAllString(o.Text, -1)...)
		}
	}
	return names
}
