package report

import "github.com/planrun/planrun/engine/series"

// faults are those that were in force, as the relays counted them.
func faults(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "phase"}, {Title: "fault"}, {Title: "from (s)", Right: true}, {Title: "to (s)", Right: true},
		{Title: "connections under it", Right: true}, {Title: "bytes under it", Right: true}, {Title: "delay asked (ms)", Right: true}, {Title: "delay measured (ms)", Right: true}}}
	delay := func(ms float64) string {
		if ms == 0 {
			return "n/a"
		}
		return number(ms, series.Timing)
	}
	for _, c := range b.res.Cells {
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			for _, f := range r.Facts.Faults {
				t.Rows = append(t.Rows, row(b.runName(r), dash(f.Phase), f.Toxic+" on "+f.Relay, number(f.Start, series.Timing), number(f.End, series.Timing),
					grouped(float64(f.Connections)), grouped(float64(f.Bytes)), delay(f.AskedMs), delay(f.MeasuredMs)))
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return []Section{{Title: "Faults in force", Blocks: []Block{
		Paragraph{text("As the relays counted them. A delay that was not asked for, or that nothing passed under, is n/a.")}, t}}}, nil
}
