package verdict

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// Judgement is what a verdict says of one cell, or of one group of cells.
type Judgement struct {
	Definition int    // its index among the definitions
	Verdict    string // its name
	Each       string
	At         Coord // parts that several cells do not share are empty
	Outcome    Outcome
	Label      string // of the case that decided
	Reason     string // why it is not a pass
	Text       string // the expression that decided
	Operands   []Operand
	Distance   *float64 // of one that failed: how far the expression was from its limit; nil where that is not known
	N          int      // runs (with each: round, rounds) that it rests on
	Broke      string
	Gate       string // "", "true" or "fail-only": whether this judgement gates
	Guards     []Tainted
	Reads      []Read
	Parts      []Part // with each: run or round, what was judged of each
}

// Part is the judgement of one run, or of one round (Repeat is 0).
type Part struct {
	Round, Repeat int
	Outcome       Outcome
	Label, Reason string
	Text          string
	Operands      []Operand
	Distance      *float64
	Broke         string
	Guards        []Tainted
	reads         []Read
}

// Options of Judge; the zero value judges as the plan says.
type Options struct {
	Gate string // "": as the plan says; "none"; "all": every verdict gates; else the name of the target whose cells gate
}

// Judge judges the runs. A cell that was left out is not judged. Several are judged at once; all that is judged of one cell
// is judged together, so that the samples of its runs have to be at hand only then.
func (r *Rules) Judge(ctx context.Context, d *Data, o Options) []Judgement {
	type task struct {
		rule *rule
		group
		at int // its place in the result
	}
	var order []Coord
	byCell, n := map[Coord][]task{}, 0
	for _, rule := range r.rules {
		for _, g := range rule.groups {
			if leftOut(d, g.cells) {
				continue
			}
			first := g.cells[0]
			if byCell[first] == nil {
				order = append(order, first)
			}
			byCell[first] = append(byCell[first], task{rule, g, n})
			n++
		}
	}
	out := make([]Judgement, n)
	var wg sync.WaitGroup
	cells := make(chan Coord)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for c := range cells {
				for _, t := range byCell[c] {
					j := t.rule.judge(ctx, r.c.ix, d, t.group)
					j.Gate = t.rule.gate(t.group, o)
					out[t.at] = j
				}
			}
		})
	}
	for _, c := range order {
		cells <- c
	}
	close(cells)
	wg.Wait()
	return out
}

func leftOut(d *Data, cells []Coord) bool {
	for _, c := range cells {
		if cell := d.Cells[c]; cell == nil || cell.State != LeftOut {
			return false
		}
	}
	return true
}

func (r *rule) judge(ctx context.Context, ix *index, d *Data, g group) Judgement {
	j := Judgement{Definition: r.index, Verdict: r.Name, Each: r.Each, At: g.at}
	if j.Each == "" {
		j.Each = "cell"
	}
	if own := r.ownCell(ix, d, g); own != nil {
		j.take(*own)
		return j
	}
	switch j.Each {
	case "run":
		cell := d.Cells[g.at]
		if cell == nil || len(cell.Runs) == 0 {
			j.take(Part{Outcome: Inconclusive, Reason: fmt.Sprintf("no data: %s has no run", g.at)})
			return j
		}
		for _, run := range cell.Runs {
			j.Parts = append(j.Parts, r.part(ctx, d, g.at, max(1, run.Round), max(1, run.Repeat), run))
		}
		if n := len(cell.Runs); n < cell.Planned {
			j.Parts = append(j.Parts, Part{Outcome: Inconclusive, Reason: fmt.Sprintf("too few runs: %d of %d of %s", n, cell.Planned, g.at)})
		}
		j.fold(r.Mixed, "runs")
	case "round":
		for _, round := range rounds(ix, d, g.cells) {
			j.Parts = append(j.Parts, r.part(ctx, d, g.at, round, 0, nil))
		}
		j.fold(r.Mixed, "rounds")
	default:
		p := r.part(ctx, d, g.at, 0, 0, nil)
		j.take(p)
		j.N = countRuns(p.reads, g.cells)
	}
	return j
}

// ownCell is the judgement of a cell that did not run, whatever the expression reads.
func (r *rule) ownCell(ix *index, d *Data, g group) *Part {
	if r.Each != "" && r.Each != "cell" && r.Each != "run" {
		return nil
	}
	cell := d.Cells[g.at]
	switch {
	case cell == nil:
		if why := ix.unsupported(g.at); why != "" {
			return &Part{Outcome: NotSupported, Reason: why}
		}
	case cell.State == Skipped:
		return &Part{Outcome: NotSupported, Reason: cell.Reason}
	case cell.State == Failed:
		return &Part{Outcome: Errored, Reason: cell.Reason}
	}
	return nil
}

// rounds are those of the plan and those that ran; at least one, so that what is missing is said.
func rounds(ix *index, d *Data, cells []Coord) []int {
	set := map[int]bool{1: true}
	for _, c := range cells {
		for i := range ix.stages[c.Stage].Rounds {
			set[i+1] = true
		}
		if cell := d.Cells[c]; cell != nil {
			for _, r := range cell.Runs {
				set[max(1, r.Round)] = true
			}
		}
	}
	var out []int
	for r := range set {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

// countRuns counts the distinct runs of the judged cells that were read, or of all cells where none of those was.
func countRuns(reads []Read, cells []Coord) int {
	own, all := map[*Run]bool{}, map[*Run]bool{}
	for _, r := range reads {
		for _, run := range r.runs {
			all[run] = true
			if slices.Contains(cells, r.Cell) {
				own[run] = true
			}
		}
	}
	if len(own) > 0 {
		return len(own)
	}
	return len(all)
}
