package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// chartSection draws a metric or series over the time of the runs, a line for each cell: of several runs the median in
// each second. Bars show a metric of the whole run, which a table does as well.
func chartSection(b *builder, s record.Section) (Section, error) {
	if s.As == "bars" {
		s.Metrics = []string{s.Title}
		return tableSection(b, s)
	}
	out := Section{Title: s.Title + " over time"}
	units, err := b.units(s.Cells)
	if err != nil {
		return out, fmt.Errorf("chart %q: %w", s.Title, err)
	}
	length := b.longest(units)
	coords := []string{"target"}
	if v := varying(units, b.coordinates()); len(v) > 0 {
		coords = v
	}
	chart := Chart{Title: s.Title, Unit: b.desc(s.Title).Unit}
	some := false
	for _, u := range units {
		line := Line{Name: strings.Join(values(u, coords), " / "), Values: make([]*float64, length)}
		seconds, err := b.seconds(u, s.Title, length)
		if err != nil {
			return out, fmt.Errorf("chart %q: %w", s.Title, err)
		}
		for i, v := range seconds {
			if line.Values[i] = median(v); line.Values[i] != nil {
				some = true
			}
		}
		chart.Lines = append(chart.Lines, line)
	}
	if !some {
		out.Blocks = append(out.Blocks, Paragraph{text("No sample of ", mono(s.Title), " was recorded.")})
		return out, nil
	}
	for i := range length {
		chart.Phases = append(chart.Phases, b.phaseAt(units, float64(i)))
	}
	out.Blocks = append(out.Blocks, chart)
	return out, nil
}

// median of v, or nil of nothing.
func median(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	m := stats.Median(v)
	return &m
}

// longest is how many seconds the longest run has, also one that did not end.
func (b *builder) longest(units []unit) int {
	end := 0.0
	for _, u := range units {
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r != nil {
				end = max(end, r.Seconds)
				for _, p := range r.Phases {
					end = max(end, p.End)
				}
			}
		}
	}
	const most = 7 * 24 * 3600 // a week: what a wrong record may cost
	return int(min(math.Ceil(end), most))
}

// seconds are the values of a cell's runs in each second: one value a run, the median of its samples there.
func (b *builder) seconds(u unit, name string, length int) ([][]float64, error) {
	out := make([][]float64, length)
	for _, id := range u.cell.Runs {
		if b.in.Series == nil || b.runs[id] == nil {
			continue
		}
		t, v, err := b.in.Series(id, name)
		if err != nil {
			return nil, fmt.Errorf("reading run %s: %w", id, err)
		}
		run := make([][]float64, length)
		for i := range min(len(t), len(v)) {
			if at := int(math.Floor(t[i])); at >= 0 && at < length && !math.IsNaN(v[i]) && !math.IsInf(v[i], 0) {
				run[at] = append(run[at], v[i])
			}
		}
		for i := range run {
			if m := median(run[i]); m != nil {
				out[i] = append(out[i], *m)
			}
		}
	}
	return out, nil
}

// phaseAt names the phase in which a second begins, in the first run that there is; the next one's name if none is on.
func (b *builder) phaseAt(units []unit, t float64) string {
	for _, u := range units {
		for _, id := range u.cell.Runs {
			r := b.runs[id]
			if r == nil || len(r.Phases) == 0 {
				continue
			}
			for _, p := range r.Phases {
				if t < p.End && (t >= p.Start || p.Start < t+1) {
					return p.Name
				}
			}
			return ""
		}
	}
	return ""
}

// step is how many seconds a line of a chart's table stands for: the smallest of these that gives at most 30 lines.
func step(seconds int) int {
	for _, s := range []int{1, 2, 5, 10, 30, 60, 300, 600} {
		if seconds <= 30*s {
			return s
		}
	}
	return 3600
}

// table shows a chart in numbers. A line that stands for several seconds has the median of theirs, and begins anew with
// each phase, so that no line mixes two.
func (c Chart) table() Table {
	every := step(len(c.Phases))
	t := Table{Columns: []Column{{Title: "from (s)", Right: true}, {Title: "phase"}}}
	for _, l := range c.Lines {
		t.Columns = append(t.Columns, Column{Title: l.Name, Right: true})
	}
	for i := 0; i < len(c.Phases); {
		j := i
		for j < len(c.Phases) && j < i+every && c.Phases[j] == c.Phases[i] {
			j++
		}
		line := row(grouped(float64(i)), dash(c.Phases[i]))
		for _, l := range c.Lines {
			var v []float64
			for _, x := range l.Values[i:j] {
				if x != nil {
					v = append(v, *x)
				}
			}
			cell := "no sample"
			if m := median(v); m != nil {
				cell = number(*m, series.Timing)
			}
			line = append(line, text(cell))
		}
		t.Rows = append(t.Rows, line)
		i = j
	}
	return t
}

// caption says what the numbers of a chart's table are.
func (c Chart) caption() Text {
	unit := ""
	if c.Unit != "" && header(c.Title, series.Desc{Unit: c.Unit}) != c.Title {
		unit = " in " + c.Unit
	}
	of := "each second"
	if n := step(len(c.Phases)); n > 1 {
		of = fmt.Sprintf("up to %d seconds (the median of theirs)", n)
	}
	return text(mono(c.Title), unit+", "+of+"; of several runs the median.")
}
