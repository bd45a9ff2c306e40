package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/series"
)

// tables show a chart in numbers: each panel's caption and its table, then what happened meanwhile.
func (c Chart) tables() (out []Block) {
	for _, p := range c.Panels {
		out = append(out, Paragraph{c.caption(p)}, c.table(p))
	}
	if len(c.Marks) > 0 {
		var happened List
		for _, m := range c.Marks {
			happened.Items = append(happened.Items, text(m.When()+": ", m.Text))
		}
		out = append(out, Paragraph{text("Meanwhile:")}, happened)
	}
	if len(c.About) > 0 {
		out = append(out, Paragraph{c.About})
	}
	return out
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

// table shows a panel in numbers. A line that stands for several seconds has the median of theirs, and begins anew with
// each phase, so that no line mixes two.
func (c Chart) table(p Panel) Table {
	every := step(c.Seconds)
	t := Table{Columns: []Column{{Title: "from (s)", Right: true}, {Title: "phase"}}}
	for _, l := range p.Lines {
		t.Columns = append(t.Columns, Column{Title: l.Name, Right: true})
	}
	for i := 0; i < c.Seconds; {
		j, phase := i, c.phaseAt(float64(i))
		for j < c.Seconds && j < i+every && c.phaseAt(float64(j)) == phase {
			j++
		}
		line := row(grouped(float64(i)), dash(phase))
		for _, l := range p.Lines {
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

// caption says what the numbers of a panel's table are.
func (c Chart) caption(p Panel) Text {
	unit := ""
	if p.Unit != "" && header(p.Title, series.Desc{Unit: p.Unit}) != p.Title {
		unit = " in " + p.Unit
	}
	of := "each second"
	if n := step(c.Seconds); n > 1 {
		of = fmt.Sprintf("up to %d seconds (the median of theirs)", n)
	}
	return text(mono(p.Title), unit+", "+of+"; of several runs the median.")
}
