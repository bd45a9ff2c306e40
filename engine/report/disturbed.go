package report

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// disturbs are the kinds of phases in which the plan itself makes trouble.
var disturbs = []string{"churn", "fault"}

// A disturbance is what a cell was like while something churned or was broken, beside what it was like in quiet: in the
// phase before of the same runs, else in the scenario of the same target that sends the same load and is not disturbed.
type disturbance struct {
	cell         *record.Cell
	phase        string // "" is the whole headline of a scenario that has no quiet part
	quiet        string // what it is compared with, in words
	lull         string // the phase that this is, if it is one
	then, before compare.Side
	after        string // the first quiet phase behind it; "" if there is none
	why          string // why there is nothing quiet to compare with
}

// disturbances are those of all cells that have results, in their order.
func (b *builder) disturbances() (out []disturbance) {
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		if !c.Status.HasResults() {
			continue
		}
		phases := b.phasesOfCell(c)
		first := slices.IndexFunc(phases, isDisturbed)
		if first < 0 {
			continue
		}
		quiet := ""
		for _, p := range phases[:first] {
			if _, ok := c.Metrics["phase/"+p.Name].Get("p99_ms"); ok && p.Recorded {
				quiet = p.Name
			}
		}
		if quiet == "" {
			out = append(out, b.besideScenario(c, phases)...)
			continue
		}
		for k, p := range phases {
			if !isDisturbed(p) {
				continue
			}
			out = append(out, disturbance{cell: c, phase: p.Name, quiet: "phase " + oneLine(quiet), lull: quiet, then: b.windowed(c, p.Name), before: b.windowed(c, quiet), after: quietAgain(phases[k+1:])})
		}
	}
	return out
}

// quietAgain names the first of the phases that is recorded and not disturbed; "" if there is none.
func quietAgain(phases []record.Phase) string {
	i := slices.IndexFunc(phases, func(p record.Phase) bool { return p.Recorded && !isDisturbed(p) })
	if i < 0 {
		return ""
	}
	return phases[i].Name
}

func isDisturbed(p record.Phase) bool { return slices.Contains(disturbs, p.Kind) }

// phasesOfCell are the phases of a cell's first run that has any.
func (b *builder) phasesOfCell(c *record.Cell) []record.Phase {
	for _, id := range c.Runs {
		if r := b.runs[id]; r != nil && len(r.Phases) > 0 && r.Status.HasResults() {
			return r.Phases
		}
	}
	return nil
}

// windowed is a phase of a cell as a side of a comparison, with the same phase of the same cell in other stages.
func (b *builder) windowed(c *record.Cell, phase string) compare.Side {
	s := compare.Side{Name: b.name(c.Coord) + ", phase " + oneLine(phase), Cell: ofWindow(c, "phase/"+phase)}
	for _, again := range b.again[c] {
		if again != c {
			s.Again = append(s.Again, ofWindow(again, "phase/"+phase))
		}
	}
	return s
}

// ofWindow is a cell whose headline is one of its windows.
func ofWindow(c *record.Cell, window string) *record.Cell {
	w := &record.Cell{Coord: c.Coord, Status: c.Status, Reason: c.Reason, Runs: c.Runs, Metrics: record.CellWindows{"": c.Metrics[window]}, Missing: map[string]string{}}
	for key, why := range c.Missing {
		if m, ok := strings.CutPrefix(key, window+"/"); ok {
			w.Missing[m] = why
		}
	}
	return w
}

// besideScenario compares a cell that was not quiet before with a scenario that is: the whole of it where it is never quiet,
// else each of its disturbed phases.
func (b *builder) besideScenario(c *record.Cell, phases []record.Phase) (out []disturbance) {
	d := b.quietScenario(c)
	if quietAgain(phases) == "" {
		d.then = compare.Side{Name: b.name(c.Coord), Cell: c, Again: b.again[c]}
		return []disturbance{d}
	}
	for k, p := range phases {
		if isDisturbed(p) {
			d.phase, d.then, d.after = p.Name, b.windowed(c, p.Name), quietAgain(phases[k+1:])
			out = append(out, d)
		}
	}
	return out
}

// quietScenario finds a cell of the same target, in the same stage if there is one there, that sends the same and is not
// disturbed.
func (b *builder) quietScenario(c *record.Cell) disturbance {
	d := disturbance{cell: c}
	sent := b.headlineLoads(c)
	var quiet *record.Cell
	for i := range b.res.Cells {
		q := &b.res.Cells[i]
		if q.Coord.Target != c.Coord.Target || !q.Status.HasResults() || q == c || sent == "" || b.headlineLoads(q) != sent || slices.ContainsFunc(b.phasesOfCell(q), isDisturbed) {
			continue
		}
		if quiet == nil || quiet.Coord.Stage != c.Coord.Stage && q.Coord.Stage == c.Coord.Stage {
			quiet = q
		}
	}
	if quiet == nil {
		d.why = "it has no quiet phase before, and no quiet scenario of this target sends the same load"
		return d
	}
	coord := quiet.Coord
	coord.Target = ""
	if coord.Stage == c.Coord.Stage {
		coord.Stage = ""
	}
	d.quiet = "scenario " + b.name(coord)
	d.before = compare.Side{Name: b.name(quiet.Coord), Cell: quiet, Again: b.again[quiet]}
	return d
}

// headlineLoads says in words what a cell's headline loads send; "" if it has none.
func (b *builder) headlineLoads(c *record.Cell) string {
	for _, id := range c.Runs {
		if r := b.runs[id]; r != nil && len(r.Loads) > 0 {
			var words []string
			for _, l := range r.Loads {
				if l.Headline {
					words = append(words, LoadWords(l))
				}
			}
			return strings.Join(words, "\n")
		}
	}
	return ""
}
