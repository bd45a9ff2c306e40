package report

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// forgone says in the findings which optional actions could not be done, those with the same reason together.
func (b *builder) forgone() (items []Text) {
	type kind struct{ name, why string }
	var order []kind
	cells := map[kind][]string{}
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		seen := map[kind]bool{}
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			for _, a := range r.Actions {
				k := kind{a.Name, withoutPlace(a)}
				if !a.Optional || a.Error == "" || seen[k] {
					continue
				}
				seen[k] = true
				if cells[k] == nil {
					order = append(order, k)
				}
				cells[k] = append(cells[k], b.name(c.Coord))
			}
		}
	}
	for i, k := range order {
		if i == mostReasons {
			return append(items, text(fmt.Sprintf("%s more could not be done; see below.", plural.Of(len(order)-i, "optional action"))))
		}
		items = append(items, text(doubtful("Left out"), ": "+oneLine(k.name)+", of ", some(cells[k], mostCells), " ("+cut(oneLine(k.why), 200)+"). It is optional, and the runs went on."))
	}
	return items
}

// withoutPlace is an action's error without the place in the plan before it.
func withoutPlace(a record.Action) string { return strings.TrimPrefix(a.Error, a.Where+": ") }
