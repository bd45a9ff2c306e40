package report

import (
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// builtIn ends a sentence about servers of planrun's own.
const builtIn = ", built into the program that measured here."

// ownWords says that a target is a server of planrun's own.
func ownWords(t record.Target) string {
	return oneLine(t.Name) + " is planrun's own " + oneLine(t.Own)
}

// own says which of the targets that ran are planrun's own, before anything is said of them.
func (b *builder) own() []Text {
	var own []string
	for _, t := range b.res.Targets {
		ran := func(c record.Cell) bool { return c.Coord.Target == t.Name && len(c.Runs) > 0 }
		if t.Own != "" && slices.ContainsFunc(b.res.Cells, ran) {
			own = append(own, ownWords(t))
		}
	}
	if len(own) == 0 {
		return nil
	}
	return []Text{text(strong(and(own)), builtIn)}
}
