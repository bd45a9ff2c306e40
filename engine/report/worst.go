package report

import (
	"cmp"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// worstFirst sorts judgements that failed the same expression by how far each is from its limit; nil where that was not recorded
// of each, and of one alone.
func worstFirst(of []record.Judgement) []record.Judgement {
	for _, j := range of {
		if j.Distance == nil || j.Expression != of[0].Expression {
			return nil
		}
	}
	if len(of) < 2 {
		return nil
	}
	return slices.SortedStableFunc(slices.Values(of), func(x, y record.Judgement) int { return cmp.Compare(*y.Distance, *x.Distance) })
}
