package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// A loadDone is what a load of a cell did, in all phases of all its runs together.
type loadDone struct {
	cell   *record.Cell
	name   string
	spec   load.Spec
	ready  load.Ready
	counts load.Counts
}

// loadsDone lists what the loads of each cell did, in the order of cells and loads.
func (b *builder) loadsDone() (out []*loadDone) {
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		byName := map[string]*loadDone{}
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			for _, l := range r.Loads {
				name := record.LoadName(l.Name)
				d := byName[name]
				if d == nil {
					d = &loadDone{cell: c, name: name, spec: l.Spec, ready: l.Ready}
					byName[name], out = d, append(out, d)
				}
				if n := l.Ready.StreamLimit; n > 0 && (d.ready.StreamLimit == 0 || n < d.ready.StreamLimit) {
					d.ready.StreamLimit = n
				}
				for _, n := range l.Totals {
					record.AddCounts(&d.counts, n)
				}
			}
		}
	}
	return out
}

// connections says what the loads did beside what they were asked to: connections, TLS, who answered, what moved the bytes.
func connections(b *builder) ([]Section, error) {
	done := b.loadsDone()
	if len(done) == 0 {
		return nil, nil
	}
	s := Section{Title: "Connections"}
	s.Blocks = append(s.Blocks, Paragraph{text("What the loads did in all phases of all runs of a cell together, warm-up and opening included; times are of the headline window, or of the first phase that opened a connection.")})
	s.Blocks = append(s.Blocks, b.opened(done))
	if w := wires(done); w != "" {
		s.Blocks = append(s.Blocks, Paragraph{text(w)})
	}
	if t := b.secured(done); len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, Heading{"TLS"}, t)
	}
	if t := b.answered(done); len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, Heading{"Who answered"}, t)
	}
	return []Section{s}, nil
}

// opened is the table of connections.
func (b *builder) opened(done []*loadDone) Table {
	t := Table{Columns: []Column{{Title: "cell"}, {Title: "load"}, {Title: "protocol"}, {Title: "opened", Right: true}, {Title: "connect p50 (ms)", Right: true}, {Title: "connect p99 (ms)", Right: true},
		{Title: "the server's stream limit", Right: true}, {Title: "GOAWAYs", Right: true}, {Title: "sent again"}}}
	for _, d := range done {
		limit, goaways := "", ""
		if d.ready.StreamLimit > 0 {
			limit = grouped(float64(d.ready.StreamLimit))
		}
		if d.counts.Goaways > 0 {
			goaways = grouped(float64(d.counts.Goaways))
		}
		t.Rows = append(t.Rows, row(b.name(d.cell.Coord), d.name, protocol(d.spec), grouped(float64(d.counts.Opened)), b.time(d, "connect_p50_ms"), b.time(d, "connect_p99_ms"),
			limit, goaways, strings.Join(sentAgain(&d.counts), "\n")))
	}
	return withoutEmpty(t)
}

// sentAgain says which requests were sent a second time, and why that was right.
func sentAgain(c *load.Counts) (out []string) {
	for _, x := range []struct {
		n   int64
		why string
	}{{c.Retried, "above a GOAWAY's last stream"}, {c.Refused, "after REFUSED_STREAM"}, {c.ReuseRetried, "on a closed connection"}} {
		if x.n > 0 {
			out = append(out, grouped(float64(x.n))+" "+x.why)
		}
	}
	return out
}

// secured is the table of handshakes.
func (b *builder) secured(done []*loadDone) Table {
	t := Table{Columns: []Column{{Title: "cell"}, {Title: "load"}, {Title: "handshakes", Right: true}, {Title: "resumed", Right: true}, {Title: "p50 (ms)", Right: true}, {Title: "p99 (ms)", Right: true}, {Title: "sessions"}}}
	for _, d := range done {
		n := d.counts.Handshakes
		if n == 0 {
			continue
		}
		resumed := percent(float64(d.counts.Resumed) / float64(n))
		t.Rows = append(t.Rows, row(b.name(d.cell.Coord), d.name, grouped(float64(n)), resumed, b.time(d, "handshake_p50_ms"), b.time(d, "handshake_p99_ms"), dash(strings.Join(most(d.counts.Sessions, 4), "\n"))))
	}
	return t
}

// answered is the table of who answered.
func (b *builder) answered(done []*loadDone) Table {
	t := Table{Columns: []Column{{Title: "cell"}, {Title: "load"}, {Title: "told by"}, {Title: "answers", Right: true}, {Title: "from", Right: true}, {Title: "most and least"}}}
	for _, d := range done {
		if d.spec.By == "" {
			continue
		}
		var sum int64
		for _, n := range d.counts.By {
			sum += n
		}
		if sum == 0 {
			continue
		}
		from := len(d.counts.By)
		if _, ok := d.counts.By["(none)"]; ok {
			from--
		}
		t.Rows = append(t.Rows, row(b.name(d.cell.Coord), d.name, d.spec.By, grouped(float64(sum)), fmt.Sprint(from), dash(strings.Join(shares(d.counts.By, float64(sum)), "\n"))))
	}
	return t
}

// shares lists who gave answers, the most first: all of a few, of many the first and the last ones.
func shares(by map[string]int64, sum float64) (out []string) {
	const few, ends = 8, 3
	names := ranked(by)
	for i, name := range names {
		if len(names) > few && i == ends {
			out = append(out, fmt.Sprintf("and %d between", len(names)-2*ends))
		}
		if len(names) <= few || i < ends || i >= len(names)-ends {
			out = append(out, fmt.Sprintf("%s: %s (%s)", oneLine(name), grouped(float64(by[name])), percent(float64(by[name])/sum)))
		}
	}
	return out
}

// most lists the names with the highest counts, and how many more there are.
func most(counts map[string]int64, n int) (out []string) {
	names := ranked(counts)
	for i, name := range names {
		if i == n {
			return append(out, "and "+plural.Of(len(names)-n, "more kind"))
		}
		out = append(out, oneLine(name)+": "+grouped(float64(counts[name])))
	}
	return out
}

// ranked are the names by count, the highest first.
func ranked(counts map[string]int64) []string {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return int(min(1, max(-1, counts[b]-counts[a]))) })
	return names
}

// time is a time of a load, in the headline window or the first phase that has one.
func (b *builder) time(d *loadDone, metric string) string {
	windows := []string{"load/" + d.name}
	for _, id := range d.cell.Runs {
		if r := b.runs[id]; r != nil {
			for _, p := range r.Phases {
				windows = append(windows, "phase/"+p.Name+"/load/"+d.name)
			}
			break
		}
	}
	for _, w := range windows {
		if v, ok := d.cell.Metrics[w].Get(metric); ok {
			return number(v.Value, series.Timing)
		}
	}
	return ""
}

// wires says what moved the bytes, and why it was not the best.
func wires(done []*loadDone) string {
	type wire struct{ name, note string }
	var all []wire
	of := map[wire][]string{}
	for _, d := range done {
		w := wire{d.ready.Wire, d.ready.WireNote}
		if w.name == "" {
			continue
		}
		if of[w] == nil {
			all = append(all, w)
		}
		if !slices.Contains(of[w], d.name) {
			of[w] = append(of[w], d.name)
		}
	}
	var parts []string
	for _, w := range all {
		words := "their bytes moved by " + w.name
		if len(all) > 1 {
			words += " (" + and(of[w]) + ")"
		}
		if w.note != "" {
			words += ", because " + oneLine(w.note)
		}
		parts = append(parts, words)
	}
	if parts == nil {
		return ""
	}
	return upper(strings.Join(parts, "; ")) + "."
}

// withoutEmpty leaves out the columns in which no row has anything; other cells without anything have a dash.
func withoutEmpty(t Table) Table {
	out := Table{Rows: make([][]Text, len(t.Rows))}
	for i, c := range t.Columns {
		if !slices.ContainsFunc(t.Rows, func(r []Text) bool { return len(r[i]) > 0 }) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for k, r := range t.Rows {
			cell := r[i]
			if len(cell) == 0 {
				cell = text(dash(""))
			}
			out.Rows[k] = append(out.Rows[k], cell)
		}
	}
	return out
}
