package compare

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// Repeats gives for each cell those of other stages that repeat it, itself first: the same scenario, target and matrix values
// in a stage that is the same experiment (its order may be another one).
func Repeats(res *record.Results) map[*record.Cell][]*record.Cell {
	byKey := map[string][]*record.Cell{}
	for i := range res.Cells {
		k := sameKey(res.Cells[i].Coord)
		byKey[k] = append(byKey[k], &res.Cells[i])
	}
	stages := stagesOf(res)
	out := map[*record.Cell][]*record.Cell{}
	for _, cells := range byKey {
		for _, c := range cells {
			out[c] = []*record.Cell{c}
			for _, other := range cells {
				if other != c && differs(stages[c.Coord.Stage], stages[other.Coord.Stage]) == "" {
					out[c] = append(out[c], other)
				}
			}
		}
	}
	return out
}

// sameKey is the same for a cell in every stage.
func sameKey(c record.Coord) string {
	k := c.Scenario + "\x00" + c.Target
	for _, a := range c.Matrix {
		k += "\x00" + a.Name + "\x00" + a.Value
	}
	return k
}

// stagesOf are the stages by name, each as it was when its first round began.
func stagesOf(res *record.Results) map[string]record.Stage {
	out := map[string]record.Stage{}
	for _, s := range res.Stages {
		if _, ok := out[s.Name]; !ok {
			out[s.Name] = s
		}
	}
	return out
}

// differs says why two stages are not the same experiment, so that what they have in common is no repeat: they leave out
// other probes, or what they determined when they began is not the same. "" if they are. Order, rounds and whether all
// targets stay installed are no other experiment: that these do not matter is what a repeat shows.
func differs(a, b record.Stage) string {
	if x, y := leftOut(a), leftOut(b); x != y {
		return fmt.Sprintf("%s leaves out %s, %s %s", a.Name, x, b.Name, y)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Params)) {
		if y, ok := b.Params[name]; ok && !reflect.DeepEqual(a.Params[name], y) {
			return fmt.Sprintf("%s had %s = %v, %s %v", a.Name, name, a.Params[name], b.Name, y)
		}
	}
	return ""
}

// leftOut names the probes that a stage left out.
func leftOut(s record.Stage) string {
	switch {
	case len(s.Without) == 0:
		return "no probe"
	case slices.Contains(s.Without, "all"):
		return "all probes"
	}
	return strings.Join(slices.Sorted(slices.Values(s.Without)), ", ")
}
