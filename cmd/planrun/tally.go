package main

import (
	"fmt"
	"time"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// A tally counts the runs of a plan, and says how long those that are left will take. It is no clock: it is told the time.
type tally struct {
	cells map[string]*tallied
	runs  int // planned in all
	over  int

	began, since time.Time     // of the whole, and of what goes on now
	current      *tallied      // nil between runs
	asked, took  time.Duration // of the runs that are over: what their phases ask for, and what they took with installing and draining
}

// A tallied is a cell.
type tallied struct {
	number, runs, over int
	length             time.Duration // of one run
}

func newTally(prog *engine.Program) *tally {
	t := &tally{cells: map[string]*tallied{}}
	for _, s := range prog.Stages {
		for _, c := range s.Cells {
			if c.LeftOut == "" && c.Unsupported == "" {
				t.add(cellName(c.Coord), max(1, c.Repeats)*max(1, s.Rounds), c.Length())
			}
		}
	}
	return t
}

func (t *tally) add(cell string, runs int, length time.Duration) {
	t.cells[cell] = &tallied{number: len(t.cells) + 1, runs: runs, length: length}
	t.runs += runs
}

func (t *tally) begin(now time.Time) { t.began, t.since = now, now }

// run notes that a run begins, and says which it is.
func (t *tally) run(cell string) string {
	c := t.cells[cell]
	if c == nil {
		return ""
	}
	t.current = c
	if c.over == c.runs { // more than was known before the stage began
		c.runs++
		t.runs++
	}
	return fmt.Sprintf("run %d of %d", t.over+1, t.runs)
}

// place says which cell goes on.
func (t *tally) place() string {
	if t.current == nil {
		return ""
	}
	return fmt.Sprintf("cell %d of %d", t.current.number, len(t.cells))
}

// done notes that a run is over.
func (t *tally) done(now time.Time) {
	if t.current == nil {
		return
	}
	t.current.over++
	t.over++
	t.asked += t.current.length
	t.took += now.Sub(t.since)
	t.current, t.since = nil, now
}

// none notes that a cell has no runs after all.
func (t *tally) none(cell string) {
	if c := t.cells[cell]; c != nil {
		t.runs -= c.runs - c.over
		c.runs = c.over
	}
}

// left is how long the rest will take: what the phases of the outstanding runs ask for, and for each as much beside it
// (installing, opening connections, draining) as those that are over took on average. It is never below 0.
func (t *tally) left(now time.Time) time.Duration {
	sum := time.Duration(0)
	for _, c := range t.cells {
		sum += time.Duration(c.runs-c.over) * c.length
	}
	if t.over > 0 {
		sum += time.Duration(t.runs-t.over) * max(0, t.took-t.asked) / time.Duration(t.over)
	}
	return max(0, sum-now.Sub(t.since))
}

// share is the part that is over, from 0 to 1.
func (t *tally) share(now time.Time) float64 {
	spent, left := now.Sub(t.began), t.left(now)
	if spent+left <= 0 {
		return 0
	}
	return min(1, spent.Seconds()/(spent+left).Seconds())
}

// cellName is a cell as --only takes it.
func cellName(c record.Coord) string {
	s := c.Stage + "/" + c.Target + "/" + c.Scenario
	for i, a := range c.Matrix {
		sep := ","
		if i == 0 {
			sep = "["
		}
		s += sep + a.Name + "=" + a.Value
	}
	if len(c.Matrix) > 0 {
		s += "]"
	}
	return s
}

// runName is a run: its cell, and which of the cell's runs it is.
func runName(c record.Coord) string {
	if c.Round > 1 {
		return fmt.Sprintf("%s round %d repeat %d", cellName(c), c.Round, c.Repeat)
	}
	return fmt.Sprintf("%s repeat %d", cellName(c), c.Repeat)
}
