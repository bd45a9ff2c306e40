package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/plural"
)

// A Beside is an earlier result set whose figures stand beside today's. Texts about the two call it A and today's B.
type Beside struct {
	Label     string   // heads its columns
	Name      string   // as command lines name it
	Unlike    []string // what keeps the figures of some cells from saying something beside each other
	Unmatched []string // cells that one of the two lacks, with why

	results *record.Results
	then    map[*record.Cell]*record.Cell // today's cell -> the same one then
	unlike  map[*record.Cell][]string     // what was not alike, by today's cell
	again   map[*record.Cell][]*record.Cell
}

// NewBeside is an earlier result set, without any match yet.
func NewBeside(label, name string, results *record.Results) Beside {
	return Beside{Label: label, Name: name, results: results, then: map[*record.Cell]*record.Cell{}, unlike: map[*record.Cell][]string{}, again: compare.Repeats(results)}
}

// Match says which cell then is the same as one of today's results, and what was not alike about them.
func (s *Beside) Match(today, then *record.Cell, unlike []string) {
	s.then[today] = then
	if len(unlike) > 0 {
		s.unlike[today] = unlike
	}
}

// other is what a metric of an earlier set is otherwise than today, in words; "" if it is the same.
func (b *builder) other(s Beside, metric string) string {
	then, now := compare.Describe(s.results.Descs, metric), b.desc(metric)
	say := func(what, x, y string) string {
		return fmt.Sprintf("%s was defined otherwise: its %s was %s, and is %s", metric, what, dash(x), dash(y))
	}
	switch {
	case then.Unit != now.Unit:
		return say("unit", then.Unit, now.Unit)
	case then.Across != now.Across:
		return say("figure of several runs", fmt.Sprint(then.Across), fmt.Sprint(now.Across))
	case then.Better != now.Better:
		return say("better direction", direction(then.Better), direction(now.Better))
	}
	return ""
}

func direction(d series.Better) string {
	switch d {
	case series.Higher:
		return "higher"
	case series.Lower:
		return "lower"
	}
	return "none"
}

// compareThen compares a cell of today with itself in an earlier set; unlike is why that says nothing, "" if it may.
func (b *builder) compareThen(s Beside, c *record.Cell, m compare.Name) (x compare.Comparison, unlike string) {
	then := compare.Side{Name: s.Label, Cell: s.then[c], Again: s.again[s.then[c]], Why: "no such cell in " + oneLine(s.Label)}
	x = compare.Metric(m, b.desc(m.Metric), compare.Side{Name: "today", Cell: c, Again: b.again[c]}, then, compare.Options{})
	if unlike = b.other(s, m.Metric); unlike == "" && len(s.unlike[c]) > 0 {
		unlike = "not measured alike (A is " + oneLine(s.Label) + "): " + strings.Join(s.unlike[c], "; ")
	}
	return x, unlike
}

// besideColumns are what a table has for each earlier set behind a column of today's: the value then, and the ratio of today's
// to it. A statistic of the runs has no ratio of its own.
func (b *builder) besideColumns(title string, m compare.Name) (out []Column) {
	for _, s := range b.in.Beside {
		out = append(out, Column{Title: title + ", " + oneLine(s.Label), Right: true})
		if m.Stat == "" {
			out = append(out, Column{Title: title + " to " + oneLine(s.Label), Right: true})
		}
	}
	return out
}

// besideCells fills them. A unit that is a part of a cell's runs has none.
func (b *builder) besideCells(u *unit, m compare.Name) (out []Text) {
	for _, s := range b.in.Beside {
		value, ratio := text("-"), text("-")
		if u != nil && u.part == nil {
			x, unlike := b.compareThen(s, u.cell, m)
			value, ratio = b.thenValue(s, x, m), b.thenRatio(x, unlike)
		}
		out = append(out, value)
		if m.Stat == "" {
			out = append(out, ratio)
		}
	}
	return out
}

func (b *builder) thenValue(s Beside, x compare.Comparison, m compare.Name) Text {
	if x.To.Why != "" {
		return text("n/a", b.note(x.To.Why))
	}
	class := compare.Describe(s.results.Descs, m.Metric).Class
	if m.Stat == "n" {
		class = series.Count
	}
	return text(number(x.To.Value, class))
}

// thenRatio: 1.034, better, beyond the noise floor of 1.02.
func (b *builder) thenRatio(x compare.Comparison, unlike string) Text {
	c := comparison{Comparison: x}
	switch {
	case x.Ratio.NA != "" && unlike == "":
		return text("n/a", b.note(x.Ratio.NA))
	case unlike != "":
		return text(c.value(), b.note(unlike))
	}
	words := string(x.Outcome())
	switch x.Outcome() {
	case compare.Better, compare.Worse, compare.Differs, compare.WithinNoise:
		words += " (noise floor " + factor(x.Ratio.Floor) + ")"
	}
	t := text(c.value() + ", " + words)
	if x.Outcome() == compare.Unknown {
		t = append(t, b.note(x.Ratio.Why))
	}
	for _, why := range x.Tainted {
		t = append(t, b.note("not to be trusted: "+why))
	}
	return t
}

// What is listed of an earlier set.
const (
	mostUnlike    = 10
	mostUnmatched = 10
)

// besides is the section of what stands beside today's figures.
func besides(b *builder) ([]Section, error) {
	if len(b.in.Beside)+len(b.in.Absent) == 0 {
		return nil, nil
	}
	out := Section{Title: "Earlier result sets"}
	if len(b.in.Beside) > 0 {
		out.Blocks = append(out.Blocks, Paragraph{text("Tables show their figures behind today's, and the ratio of today's to then. Cells are the same by stage, scenario, target and matrix values.")})
	}
	out.Blocks = append(out.Blocks, bounded("Not to be had:", b.in.Absent, len(b.in.Absent))...)
	dir := shellQuote(b.opt.Dir)
	for _, s := range b.in.Beside {
		out.Blocks = append(out.Blocks, Heading{s.Label}, Paragraph{text(fmt.Sprintf("%d of %s have a counterpart in ", len(s.then), plural.Of(len(b.res.Cells), "cell")), mono(s.Name), ". Every difference of the two is said by:")},
			Code{Lines: []string{"planrun diff " + shellQuote(s.Name) + " " + dir}})
		out.Blocks = append(out.Blocks, bounded("Not alike, so that a ratio says less or nothing (A is "+oneLine(s.Label)+", B is today):", s.Unlike, mostUnlike)...)
		out.Blocks = append(out.Blocks, bounded("Without a counterpart:", s.Unmatched, mostUnmatched)...)
	}
	return []Section{out}, nil
}

// bounded is a list with what it is of, and how many more there are.
func bounded(what string, items []string, most int) []Block {
	if len(items) == 0 {
		return nil
	}
	var l List
	for _, x := range items[:min(len(items), most)] {
		l.Items = append(l.Items, text(x))
	}
	if n := len(items) - most; n > 0 {
		l.Items = append(l.Items, text(fmt.Sprintf("and %d more", n)))
	}
	return []Block{Paragraph{text(what)}, l}
}

// since says in the findings what changed against each earlier set, by the metric by which targets are compared.
func (b *builder) since() (items []Text) {
	const most = 4
	for _, s := range b.in.Beside {
		n := map[compare.Outcome]int{}
		unlike := 0
		moved := map[compare.Outcome][]string{}
		for i := range b.res.Cells {
			c := &b.res.Cells[i]
			names := b.headline([]unit{{cell: c}})
			if s.then[c] == nil || len(names) == 0 {
				continue
			}
			x, why := b.compareThen(s, c, compare.ParseName(names[0]))
			if why != "" {
				unlike++
				continue
			}
			o := x.Outcome()
			n[o]++
			if o == compare.Better || o == compare.Worse {
				moved[o] = append(moved[o], fmt.Sprintf("%s (%s %s)", b.name(c.Coord), names[0], times(x.Ratio.Value)))
			}
		}
		words := outcomes(n)
		if n[compare.NA] > 0 {
			words = strings.Join(slices.DeleteFunc([]string{words, fmt.Sprintf("%d n/a", n[compare.NA])}, func(s string) bool { return s == "" }), ", ")
		}
		if unlike > 0 {
			words = strings.Join(slices.DeleteFunc([]string{words, fmt.Sprintf("%d not measured alike", unlike)}, func(s string) bool { return s == "" }), ", ")
		}
		t := text("Against ", strong(oneLine(s.Label)), fmt.Sprintf(", of %s in both: %s.", plural.Of(len(s.then), "cell"), dash(words)))
		for _, o := range []compare.Outcome{compare.Worse, compare.Better} {
			if len(moved[o]) > 0 {
				t = append(t, text(" ", upper(string(o)), ": ", list(moved[o], most), ".")...)
			}
		}
		if len(s.Unmatched) > 0 {
			t = append(t, text(fmt.Sprintf(" %s in one of the two only.", plural.Of(len(s.Unmatched), "cell")))...)
		}
		items = append(items, t)
	}
	return items
}
