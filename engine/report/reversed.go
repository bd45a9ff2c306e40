package report

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// mostReversed bounds the scenarios that are named.
const mostReversed = 4

// reversed says where a stage and its repeat, in another order, name different targets first: what one of them says alone is
// then no result. The noise floor, which holds the difference between the stages, only calls that noise; but where neither
// stage's own runs tell the two apart there is no first.
func (b *builder) reversed(all []contest) []Text {
	var parts []string
	for i, c := range all {
		for _, d := range all[i+1:] {
			if c.metric != d.metric || c.first == d.first || !c.apart() && !d.apart() ||
				!slices.ContainsFunc(b.again[c.cell], func(again *record.Cell) bool { return again != c.cell && b.contested(again) == d.where }) {
				continue
			}
			coord := c.cell.Coord
			coord.Target, coord.Stage = "", ""
			parts = append(parts, fmt.Sprintf("%s (%s: %s in stage %s, %s in stage %s)", b.name(coord), c.metric,
				oneLine(c.first), oneLine(c.cell.Coord.Stage), oneLine(d.first), oneLine(d.cell.Coord.Stage)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []Text{text(doubtful("Another target is first when the stage is repeated"), fmt.Sprintf(", in %s: %s.", count(len(parts), "comparison"), list(parts, mostReversed)))}
}

// contested names what the targets of a cell's row are compared in.
func (b *builder) contested(c *record.Cell) string {
	coord := c.Coord
	coord.Target = ""
	return b.name(coord)
}

// apart says whether the runs of the first and the next differ by more than they do among themselves: the interval of their
// ratio does not hold 1.
func (c contest) apart() bool {
	i := c.between.Ratio.Interval
	return i[0] > 1 || i[1] > 0 && i[1] < 1
}
