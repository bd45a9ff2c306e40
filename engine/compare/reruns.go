package compare

import (
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// A Pair is a cell in two stages.
type Pair struct{ First, Second *record.Cell }

// A Rerun is two stages that have cells in common.
type Rerun struct {
	First, Second record.Stage // in the order in which they began
	// Why says that they are not the same experiment, and what differs; empty if they are.
	Why   string
	Pairs []Pair // of cells with results in both
}

// Reruns pairs each cell of a stage with the first stage before it that has the same one and is the same experiment, or, if
// there is none, with the first that is another.
func Reruns(res *record.Results) []Rerun {
	stages := stagesOf(res)
	var names []string // in order
	cells := map[string]map[string]*record.Cell{}
	add := func(name string) {
		if cells[name] == nil {
			names, cells[name] = append(names, name), map[string]*record.Cell{}
		}
	}
	for _, s := range res.Stages {
		add(s.Name)
	}
	for i := range res.Cells {
		c := &res.Cells[i]
		add(c.Coord.Stage)
		if c.Status.HasResults() {
			cells[c.Coord.Stage][sameKey(c.Coord)] = c
		}
	}
	var out []Rerun
	for i := range res.Cells {
		c := &res.Cells[i]
		k, second := sameKey(c.Coord), c.Coord.Stage
		if cells[second][k] != c {
			continue
		}
		first, why := "", ""
		for _, name := range names[:slices.Index(names, second)] {
			if cells[name][k] == nil {
				continue
			}
			d := differs(named(stages, name), named(stages, second))
			if d == "" {
				first, why = name, ""
				break
			}
			if why == "" {
				first, why = name, d
			}
		}
		if len(cells[first]) == 0 || cells[first][k] == nil || first == second {
			continue
		}
		at := slices.IndexFunc(out, func(r Rerun) bool { return r.First.Name == first && r.Second.Name == second })
		if at < 0 {
			at = len(out)
			out = append(out, Rerun{First: named(stages, first), Second: named(stages, second), Why: why})
		}
		out[at].Pairs = append(out[at].Pairs, Pair{cells[first][k], c})
	}
	return out
}

func named(stages map[string]record.Stage, name string) record.Stage {
	s := stages[name]
	s.Name = name
	return s
}

// A Watching is a cell that was measured with probes and without.
type Watching struct {
	Watched, Alone Side
	Without        string // the probes that were left out
}

// Watched are the cells that have a control arm of observation: a stage that is the same experiment but for the probes that
// it leaves out. Repeats in other stages belong to each side.
func Watched(res *record.Results) (out []Watching) {
	stages, again := stagesOf(res), Repeats(res)
	full := map[string]*record.Cell{}
	for i := range res.Cells {
		c := &res.Cells[i]
		if k := sameKey(c.Coord); full[k] == nil && c.Status.HasResults() && len(stages[c.Coord.Stage].Without) == 0 {
			full[k] = c
		}
	}
	seen := map[*record.Cell]bool{}
	for i := range res.Cells {
		c := &res.Cells[i]
		s := stages[c.Coord.Stage]
		with := full[sameKey(c.Coord)]
		if len(s.Without) == 0 || with == nil || !c.Status.HasResults() || seen[c] {
			continue
		}
		for _, r := range again[c] {
			seen[r] = true
		}
		less := stages[with.Coord.Stage]
		less.Without = s.Without
		if differs(less, s) != "" {
			continue // another experiment in other ways, too
		}
		out = append(out, Watching{Side{Name: "watched", Cell: with, Again: again[with]}, Side{Name: "without", Cell: c, Again: again[c]}, leftOut(s)})
	}
	return out
}

// Controls are the cells of control arms of observation. They tell what watching costs, and nothing about noise.
func Controls(res *record.Results) map[*record.Cell]bool {
	out := map[*record.Cell]bool{}
	for _, w := range Watched(res) {
		for _, c := range w.Alone.Again {
			out[c] = true
		}
	}
	return out
}
