package report

import "github.com/planrun/planrun/engine/series"

// otherFaults are those that no relay made: what was dropped, stopped, signalled or limited.
func (b *builder) otherFaults() Table {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "phase"}, {Title: "fault"}, {Title: "from (s)", Right: true}, {Title: "to (s)", Right: true}, {Title: "in force"}, {Title: "what shows it"}}}
	for r := range b.runsOfCells() {
		for _, f := range r.Facts.Faults {
			if f.Kind == "" {
				continue
			}
			ok, why := f.InForce()
			held := "yes"
			if !ok {
				held = "no"
			}
			t.Rows = append(t.Rows, row(b.runName(r), dash(f.Phase), f.What, number(f.Start, series.Timing), number(f.End, series.Timing), held, why))
		}
	}
	return t
}
