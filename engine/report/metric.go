package report

import (
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
	if phase, ok := strings.CutPrefix(m.Window, "phase/"); ok {
		title = phase + ": " + strings.TrimPrefix(m.Text, m.Window+"/")
	}
	return header(title, d)
}

// read gives a number of a unit.
func (b *builder) read(u unit, m compare.Name) compare.Reading {
	return compare.Read(u.measured(), b.name(u.cell.Coord), m)
}

// show is the text of a table's cell: the number with its footnotes, or why there is none.
func (b *builder) show(u unit, m compare.Name) Text {
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
	return append(t, b.history(u, m)...)
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
