package report

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// chartSection draws a metric or series over the time of the runs, a line for each cell: of several runs the median at
// each moment. Bars show a metric of the whole run, which a table does as well.
func chartSection(b *builder, s record.Section) (Section, error) {
	out := Section{Title: s.Title + " over time"}
	if s.As == "bars" {
		s.Kind, s.Metrics, s.As = "table", []string{s.Title}, ""
		return tableSection(b, s)
	}
	units, err := b.units(s.Cells)
	if err != nil {
		return out, fmt.Errorf("chart %q: %w", s.Title, err)
	}
	chart := Chart{Title: s.Title, Unit: b.desc(s.Title).Unit}
	longest := 0.0
	for _, u := range units {
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r != nil {
				longest = max(longest, lasted(r))
			}
		}
	}
	chart.Every = step(longest)
	coords := []string{"target"}
	if v := varying(units, b.coordinates()); len(units) > 0 && len(v) > 0 {
		coords = v
	}
	some := false
	for _, u := range units {
		line := Line{Name: strings.Join(values(u, coords), " / ")}
		moments, err := b.moments(u, s.Title, longest, chart.Every)
		if err != nil {
			return out, fmt.Errorf("chart %q: %w", s.Title, err)
		}
		for _, v := range moments {
			if len(v) == 0 {
				line.Values = append(line.Values, nil)
				continue
			}
			m := stats.Median(v)
			line.Values, some = append(line.Values, &m), true
		}
		chart.Lines = append(chart.Lines, line)
	}
	if !some {
		out.Blocks = append(out.Blocks, Paragraph{text("No sample of ", mono(s.Title), " was recorded.")})
		return out, nil
	}
	for t := 0.0; t < longest; t += chart.Every {
		chart.Phases = append(chart.Phases, b.phaseAt(units, t, t+chart.Every))
	}
	out.Blocks = append(out.Blocks, chart)
	return out, nil
}

// moments are the values of all runs of a cell at each moment. Only one run's series are held at a time: histograms are
// large.
func (b *builder) moments(u unit, name string, longest, every float64) ([][]float64, error) {
	out := make([][]float64, 0, int(longest/every)+1)
	for t := 0.0; t < longest; t += every {
		out = append(out, nil)
	}
	for _, id := range u.cell.Runs {
		if b.in.Data == nil || b.runs[id] == nil {
			continue
		}
		d, err := b.in.Data(id)
		if err != nil {
			return nil, fmt.Errorf("reading run %s: %w", id, err)
		}
		at := curveOf(d, name)
		for i := range out {
			if v, ok := at(float64(i)*every, float64(i+1)*every); ok {
				out[i] = append(out[i], v)
			}
		}
	}
	return out, nil
}

// lasted is a run's length, also of one that did not end.
func lasted(r *record.Run) float64 {
	end := r.Seconds
	for _, p := range r.Phases {
		end = max(end, p.End)
	}
	return end
}

// step is the time between two points of a chart: the smallest of these that gives at most 30.
func step(longest float64) float64 {
	for _, s := range []float64{1, 2, 5, 10, 30, 60, 300, 600} {
		if longest/s <= 30 {
			return s
		}
	}
	return 3600
}

// phaseAt names the phases of the first run that there is, within a stretch of time.
func (b *builder) phaseAt(units []unit, from, to float64) string {
	for _, u := range units {
		for _, id := range u.cell.Runs {
			r := b.runs[id]
			if r == nil || len(r.Phases) == 0 {
				continue
			}
			var names []string
			for _, p := range r.Phases {
				if p.Start < to && p.End > from {
					names = append(names, p.Name)
				}
			}
			return strings.Join(names, ", ")
		}
	}
	return ""
}

// table shows a chart in numbers.
func (c Chart) table() Table {
	t := Table{Columns: []Column{{Title: "from (s)", Right: true}, {Title: "phase"}}}
	for _, l := range c.Lines {
		t.Columns = append(t.Columns, Column{Title: l.Name, Right: true})
	}
	for i, phase := range c.Phases {
		line := row(number(float64(i)*c.Every, series.Count), dash(phase))
		for _, l := range c.Lines {
			cell := "no sample"
			if v := l.Values[i]; v != nil {
				cell = number(*v, series.Timing)
			}
			line = append(line, text(cell))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}
