package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// mostReversed bounds the scenarios that are named.
const mostReversed = 4

// reversed says where a stage and its repeat, in another order, name different targets first: what one of them says alone is
// then no result. The noise floor, which holds the difference between the stages, only calls that noise; but where neither
// stage's own runs tell the two apart there is no first.
func (b *builder) reversed(all []*contest) []Text {
	var parts []string
	for _, first := range all {
		same := append([]*contest{first}, first.again...)
		for i, c := range same {
			for _, d := range same[i+1:] {
				if c.first == d.first || c.nobody+d.nobody != "" || !c.apart() && !d.apart() {
					continue
				}
				coord := c.cell.Coord
				coord.Target, coord.Stage = "", ""
				parts = append(parts, fmt.Sprintf("%s (%s: %s in stage %s, %s in stage %s)", b.name(coord), c.metric.Text,
					oneLine(c.first), oneLine(c.cell.Coord.Stage), oneLine(d.first), oneLine(d.cell.Coord.Stage)))
			}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []Text{text(doubtful("Another target is first when the stage is repeated"), ", in "+plural.Of(len(parts), "comparison")+": ", list(parts, mostReversed), ".")}
}

// contested names what the targets of a cell's row are compared in.
func (b *builder) contested(c *record.Cell) string {
	coord := c.Coord
	coord.Target = ""
	return b.name(coord)
}
