package report

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

func (b *builder) desc(name string) series.Desc { return compare.Describe(b.res.Descs, name) }

func (b *builder) header(m compare.Name) string {
	d := b.desc(m.Metric)
	if m.Stat == "n" || m.Stat == "cv" {
		d.Unit = ""
	}
	title := m.Text
	if m.Window != "" {
		title = windowWords(m.Window) + ": " + strings.TrimPrefix(m.Text, m.Window+"/")
	}
	return header(title, d)
}

// windowWords names the phase or load that a window is of, or both. The name of a phase may have slashes.
func windowWords(window string) string {
	if load, ok := strings.CutPrefix(window, "load/"); ok {
		return load
	}
	phase, ok := strings.CutPrefix(window, "phase/")
	if !ok {
		return window
	}
	if i := strings.LastIndex(phase, "/load/"); i >= 0 {
		return phase[:i] + ", " + phase[i+len("/load/"):]
	}
	return phase
}

// words is what is said of a unit in words, one text for all of its runs that say the same; none if it is a number or nothing.
func (b *builder) words(u unit, m compare.Name) (out []string) {
	for _, id := range u.measured().Runs {
		if r := b.runs[id]; r != nil && r.Status.HasResults() {
			if said := r.Texts[m.Window][m.Metric]; said != "" && !slices.Contains(out, said) {
				out = append(out, said)
			}
		}
	}
	return out
}

// said reports whether one of the units has a metric in words.
func (b *builder) said(units []unit, m compare.Name) bool {
	return slices.ContainsFunc(units, func(u unit) bool { return len(b.words(u, m)) > 0 })
}

// read gives a number of a unit.
func (b *builder) read(u unit, m compare.Name) compare.Reading {
	return compare.Read(u.measured(), b.name(u.cell.Coord), m)
}

// show is the text of a table's cell: the number with its footnotes, or why there is none.
func (b *builder) show(u unit, m compare.Name) Text {
	if said := b.words(u, m); len(said) > 0 {
		return text(oneLine(strings.Join(said, "; ")))
	}
	r := b.read(u, m)
	if r.Why != "" {
		word := "n/a"
		if !u.cell.Status.HasResults() {
			word = shortStatus(u.cell.Status)
		}
		return text(word, b.note(r.Why))
	}
	d := b.desc(m.Metric)
	if m.Stat == "n" {
		d.Class = series.Count
	}
	t := text(number(r.Value, d.Class))
	if r.Tainted != "" && m.Stat != "n" {
		t = append(t, b.note("not to be trusted: "+r.Tainted))
	}
	return append(append(t, b.history(u, m)...), b.ownPart(u, m)...)
}

// tails are the figures of the highest latencies, which a delay of the load generator's own makes first.
var tails = []string{"p99_ms", "p99_9_ms", "p99_clean_ms", "p99_9_clean_ms", "worst_second_p99_ms", "max_ms"}

// ownPart marks a high percentile that the load generator's own delay may have made, with what the guard saw where it was worst.
func (b *builder) ownPart(u unit, m compare.Name) Text {
	if m.Window != "" || !slices.Contains(tails, m.Metric) {
		return nil
	}
	g := broken{}
	for _, id := range u.measured().Runs {
		r := b.runs[id]
		if r == nil {
			continue
		}
		for _, x := range r.Guards {
			if x.Name == "own-delay" && !x.OK {
				g.runs, g.seens = append(g.runs, r), append(g.seens, x)
			}
		}
	}
	if len(g.runs) == 0 {
		return nil
	}
	return text(b.note("may be the load generator's own: " + plain(g.seen())))
}

// history marks a peak that may belong to an earlier scenario of the same process set.
func (b *builder) history(u unit, m compare.Name) Text {
	if b.desc(m.Metric).Across != series.Max || !strings.HasSuffix(m.Metric, "_mib") {
		return nil
	}
	for _, id := range u.cell.Runs {
		if r := b.runs[id]; r != nil && r.SetHistory {
			return text(b.note("a high-water mark of the whole life of the processes: an earlier scenario ran on the same ones and may have set it"))
		}
	}
	return nil
}

func shortStatus(s record.Status) string {
	switch s {
	case record.Unsupported, record.Skipped, record.Interrupted, record.Unfinished:
		return string(s)
	case record.Failed:
		return "error"
	case record.Unmet:
		return "unmet"
	}
	return "n/a"
}
