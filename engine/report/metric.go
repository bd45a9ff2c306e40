package report

import (
	"math"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// A metric names a number of a table: a metric of a window ("" is the headline), optionally a statistic of its runs.
type metric struct {
	text, window, name, stat string
}

var statistics = []string{"min", "max", "mean", "median", "cv", "n"}

// parseMetric reads "phase/fault/p99_ms.min". Names of metrics have neither slash nor point; names of windows may.
func parseMetric(s string) metric {
	m := metric{text: s, name: s}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		m.window, m.name = s[:i], s[i+1:]
	}
	if name, stat, ok := strings.Cut(m.name, "."); ok && slices.Contains(statistics, stat) {
		m.name, m.stat = name, stat
	}
	return m
}

// key is how a record names the metric: of a window other than the headline with the window before it.
func (m metric) key() string {
	if m.window == "" {
		return m.name
	}
	return m.window + "/" + m.name
}

func (b *builder) desc(name string) series.Desc {
	if d, ok := b.res.Descs[name]; ok {
		return d
	}
	return series.Desc{Name: name, Across: series.Median, Class: series.Timing}
}

func (b *builder) header(m metric) string {
	d := b.desc(m.name)
	if m.stat == "n" || m.stat == "cv" {
		d.Unit = ""
	}
	title := m.text
	if phase, ok := strings.CutPrefix(m.window, "phase/"); ok {
		title = phase + ": " + strings.TrimPrefix(m.text, m.window+"/")
	}
	return header(title, d)
}

// A reading is a metric of a unit.
type reading struct {
	value   float64
	runs    []float64
	tainted string // the guard that spoils it, in words
	why     string // why there is no value; empty if there is one
}

// read gives a metric of a unit.
func (b *builder) read(u unit, m metric) reading {
	r := b.readRuns(u, m)
	if r.why != "" {
		return r
	}
	switch m.stat {
	case "min":
		r.value = slices.Min(r.runs)
	case "max":
		r.value = slices.Max(r.runs)
	case "mean":
		r.value = stats.Mean(r.runs)
	case "median":
		r.value = stats.Median(r.runs)
	case "cv":
		r.value = stats.CV(r.runs)
	case "n":
		r.value = float64(len(r.runs))
	}
	if math.IsNaN(r.value) || math.IsInf(r.value, 0) {
		r.why = m.text + " is undefined for these runs"
	}
	return r
}

func (b *builder) readRuns(u unit, m metric) reading {
	v, ok := u.cell.Metrics[m.window][m.name]
	if u.round == 0 && u.repeat == 0 {
		if ok {
			if len(v.Runs) == 0 {
				v.Runs = []float64{v.Value}
			}
			return reading{value: v.Value, runs: v.Runs, tainted: v.Tainted}
		}
		return reading{why: b.whyMissing(u.cell, m)}
	}
	r := reading{tainted: v.Tainted}
	for _, id := range u.cell.Runs {
		run := b.runs[id]
		if run == nil || u.round != 0 && run.Coord.Round != u.round || u.repeat != 0 && run.Coord.Repeat != u.repeat {
			continue
		}
		if x, ok := run.Metrics[m.window][m.name]; ok {
			r.runs = append(r.runs, x)
		} else if why := run.Missing[m.key()]; why != "" {
			r.why = m.key() + ": " + why
		}
	}
	if len(r.runs) == 0 {
		if r.why == "" {
			r.why = b.whyMissing(u.cell, m)
		}
		return r
	}
	r.why = ""
	r.value = across(b.desc(m.name).Across, r.runs)
	return r
}

// across makes one value of those of several runs.
func across(how series.Across, v []float64) float64 {
	switch how {
	case series.Sum:
		return stats.Sum(v)
	case series.Max:
		return slices.Max(v)
	}
	return stats.Median(v)
}

func (b *builder) whyMissing(c *record.Cell, m metric) string {
	if why := c.Missing[m.key()]; why != "" {
		return m.key() + ": " + why
	}
	if !hasResults(c.Status) {
		return b.name(c.Coord) + ": " + statusWords(c.Status, c.Reason)
	}
	if m.window != "" {
		return m.text + ": this cell has no such window, or nothing of it was recorded there"
	}
	return m.name + ": nothing of it was recorded"
}

func hasResults(s record.Status) bool { return s == record.Done || s == record.Aborted }

// statusWords says a status with its reason.
func statusWords(s record.Status, reason string) string {
	words := map[record.Status]string{
		record.Done:        "done",
		record.Aborted:     "ended early by its abort condition",
		record.Unmet:       "a requirement was not met",
		record.Failed:      "error",
		record.Unsupported: "unsupported",
		record.Skipped:     "skipped",
		record.Interrupted: "interrupted",
		record.Unfinished:  "unfinished: the engine died",
	}[s]
	if words == "" {
		words = "no result"
	}
	if reason != "" {
		words += ": " + reason
	}
	return words
}

// show is the text of a table's cell: the number with its footnotes, or why there is none.
func (b *builder) show(u unit, m metric) Text {
	r := b.read(u, m)
	if r.why != "" {
		word := "n/a"
		if !hasResults(u.cell.Status) {
			word = shortStatus(u.cell.Status)
		}
		return text(word, b.note(r.why))
	}
	d := b.desc(m.name)
	if m.stat == "n" {
		d.Class = series.Count
	}
	t := text(number(r.value, d.Class))
	if r.tainted != "" && m.stat != "n" {
		t = append(t, b.note("not to be trusted: "+r.tainted))
	}
	return append(t, b.history(u, m)...)
}

// history marks a peak that may belong to an earlier scenario of the same process set.
func (b *builder) history(u unit, m metric) Text {
	if b.desc(m.name).Across != series.Max || !strings.HasSuffix(m.name, "_mib") {
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
