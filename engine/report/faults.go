package report

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// faults are those that were in force, as the relays counted them.
func faults(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "phase"}, {Title: "fault"}, {Title: "from (s)", Right: true}, {Title: "to (s)", Right: true},
		{Title: "connections it acted on", Right: true}, {Title: "bytes that came to it", Right: true}, {Title: "effect asked", Right: true},
		{Title: "measured", Right: true}, {Title: "ended connections"}}}
	outside := false
	for r := range b.runsOfCells() {
		for _, f := range r.Facts.Toxics() {
			what := faultName(f.Fault)
			if f.Times > 1 {
				what += fmt.Sprintf(", %d times", f.Times)
			}
			outside = outside || f.Server != ""
			t.Rows = append(t.Rows, row(b.runName(r), dash(f.Phase), what, number(f.Start, series.Timing), number(f.End, series.Timing),
				grouped(float64(f.Connections)), grouped(float64(f.Bytes)), effect(f.Asked, f.Unit, f.Unit != ""), effect(f.Measured, f.Unit, f.Unit != "" && f.Of > 0), endings(f.Fault)))
		}
	}
	var blocks []Block
	if len(t.Rows) > 0 {
		blocks = append(blocks, Paragraph{text("As the relays counted and measured them: mean delays, rates while more came than could pass, mean sizes of pieces, bytes before an end. What was not asked for, or could not be measured, is n/a.")}, t)
	}
	if outside {
		blocks = append(blocks, Paragraph{text("A Toxiproxy server of others counts nothing: of its toxics, connections and bytes are those that passed planrun's own relay in front of it meanwhile.")})
	}
	if other := b.otherFaults(); len(other.Rows) > 0 {
		blocks = append(blocks, Paragraph{text("Faults beside relays, and what shows that they were in force.")}, other)
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	return []Section{{Title: "Faults in force", Blocks: blocks}}, nil
}

func faultName(f record.Fault) string {
	if f.Server != "" {
		return f.Name() + ", " + f.Server
	}
	return f.Name()
}

// effect is an amount of a fault with its unit.
func effect(v float64, unit string, known bool) string {
	switch {
	case !known:
		return "n/a"
	case unit == "ms":
		return number(v, series.Timing) + " ms"
	}
	return grouped(v) + " " + unit
}

// endings says how a fault ended connections.
func endings(f record.Fault) string {
	var all []string
	for _, e := range []struct {
		n   int64
		how string
	}{{f.Resets, "reset"}, {f.Closed, "closed"}, {f.Refused, "refused"}} {
		if e.n > 0 {
			all = append(all, grouped(float64(e.n))+" "+e.how)
		}
	}
	return dash(strings.Join(all, ", "))
}
