package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// What bounds the findings about what is missing: reasons, and cells for each.
const (
	mostReasons = 5
	mostCells   = 4
	mostOut     = 4
)

// absent says in the findings which cells have no result and why, those with the same reason together, and which have fewer
// runs than they were to have.
func (b *builder) absent() (items []Text) {
	items = b.unread()
	missing := b.missingPrograms()
	for _, t := range b.res.Targets {
		if why := missing[t.Name]; why != "" {
			items = append(items, text(oneLine(t.Name)+" could not be run here: "+oneLine(why)+". Its cells are unsupported."))
		}
	}
	type kind struct {
		status record.Status
		reason string
	}
	var order []kind
	cells := map[kind][]string{}
	for _, c := range b.res.Cells {
		if c.Status.HasResults() || missing[c.Coord.Target] != "" && c.Status == record.Unsupported {
			continue
		}
		k := kind{c.Status, c.Reason}
		if cells[k] == nil {
			order = append(order, k)
		}
		cells[k] = append(cells[k], b.name(c.Coord))
	}
	rest := 0
	for i, k := range order {
		if i >= mostReasons {
			rest += len(cells[k])
			continue
		}
		words := cut(k.status.Words(k.reason), 200)
		items = append(items, text(strong("No result"), " of ", some(cells[k], mostCells), " ("+words+")."))
	}
	if rest > 0 {
		items = append(items, text(fmt.Sprintf("No result of %s more, for other reasons; see below.", plural.Of(rest, "cell"))))
	}
	items = append(items, b.fewer()...)
	items = append(items, b.forgone()...)
	if len(items) == 0 && len(b.res.Cells) > 0 && b.res.Complete {
		items = append(items, text(fmt.Sprintf("Nothing is missing: %s with a result, and no run less than planned.", plural.Of(len(b.res.Cells), "cell"))))
	}
	return items
}

// mostUnread bounds the runs that are named because what was recorded of them cannot be read.
const mostUnread = 4

// unread says of which runs not everything that was recorded could be read, and what that costs.
func (b *builder) unread() []Text {
	var all []string
	for _, r := range b.in.Runs {
		if why := b.in.Unread[r.ID]; why != "" {
			all = append(all, b.runName(r)+": "+oneLine(why))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []Text{text(bad("Not everything that was recorded of "+plural.Of(len(all), "run")+" could be read"),
		" (", list(all, mostUnread), "): charts, seconds of failures, waits for a connection, threads and events are without it, and verdicts that ask for it could not be judged. Figures of whole windows stand, because they are in the runs' run.json.")}
}

// fewer says which cells with results have fewer runs with one than were planned, and which runs ended early.
func (b *builder) fewer() (items []Text) {
	planned := map[string]int{}
	for _, s := range b.res.Stages {
		for cell, n := range s.Planned {
			planned[cell] += n
		}
	}
	var short, early []string
	for _, c := range b.res.Cells {
		if !c.Status.HasResults() {
			continue
		}
		n := map[record.Status]int{}
		for _, id := range c.Runs {
			if r := b.runs[id]; r != nil {
				n[r.Status]++
			}
		}
		results, all := n[record.Done]+n[record.Aborted], max(len(c.Runs), planned[c.Coord.CellName()])
		if results < all {
			var why []string
			for _, s := range []record.Status{record.Failed, record.Unmet, record.Interrupted, record.Unfinished, record.Unsupported, record.Skipped} {
				if n[s] > 0 {
					why = append(why, fmt.Sprintf("%d %s", n[s], shortStatus(s)))
				}
			}
			if k := all - len(c.Runs); k > 0 {
				why = append(why, fmt.Sprintf("%d never began", k))
			}
			if k := len(c.Runs) - known(n); k > 0 {
				why = append(why, fmt.Sprintf("%d not in the result set", k))
			}
			short = append(short, fmt.Sprintf("%s %d of %d (%s)", b.name(c.Coord), results, all, and(why)))
		}
		if n[record.Aborted] > 0 {
			early = append(early, fmt.Sprintf("%s (%d of %s)", b.name(c.Coord), n[record.Aborted], plural.Of(len(c.Runs), "run")))
		}
	}
	if len(short) > 0 {
		items = append(items, text(doubtful("Fewer runs with results than planned"), ": ", some(short, mostCells), "."))
	}
	if len(early) > 0 {
		items = append(items, text("Runs that ended early by their abort condition, which is a result: ", some(early, mostCells), "."))
	}
	if b.in.Environment != nil && len(b.in.Environment.LeftOut) > 0 {
		items = append(items, text(plural.Of(len(b.in.Environment.LeftOut), "cell")+" of the schedule left out: ", some(b.leftOutWhy(), mostReasons), "."))
	}
	return items
}

func known(n map[record.Status]int) (sum int) {
	for _, k := range n {
		sum += k
	}
	return sum
}

// leftOutWhy are the reasons why cells were not to run, each with how many.
func (b *builder) leftOutWhy() (out []string) {
	n := map[string]int{}
	for _, why := range b.in.Environment.LeftOut {
		n[why]++
	}
	for _, why := range sorted(n) {
		out = append(out, fmt.Sprintf("%d %s", n[why], strings.TrimPrefix(oneLine(why), "left out ")))
	}
	return out
}

// missingPrograms are targets whose program is not on this machine, with what is said of it.
func (b *builder) missingPrograms() map[string]string {
	out := map[string]string{}
	for _, t := range b.res.Targets {
		why := t.Program.Missing
		if why == "" && b.in.Environment != nil {
			why = b.in.Environment.Programs[t.Name].Missing
		}
		if why != "" {
			out[t.Name] = why
		}
	}
	return out
}

// gaps are the cells and runs that have no result, each with its reason.
func gaps(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "of"}, {Title: "status"}, {Title: "why"}, {Title: "where"}}}
	for _, c := range b.res.Cells {
		whole := true
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				t.Rows = append(t.Rows, row(b.name(c.Coord), "missing", "its run "+id+" is not in the result set", "-"))
				continue
			}
			if r.Status.HasResults() && r.Status != record.Aborted {
				whole = false
				continue
			}
			if r.Status != record.Aborted && r.Status == c.Status && r.Reason == c.Reason && r.Where == "" {
				continue
			}
			whole = false
			reason := r.Reason
			if reason == "" && r.Status == c.Status {
				reason = c.Reason
			}
			t.Rows = append(t.Rows, row(b.runName(r), r.Status.Words(""), dash(reason), dash(r.Where)))
		}
		if whole && !c.Status.HasResults() {
			t.Rows = append(t.Rows, row(b.name(c.Coord), c.Status.Words(""), dash(c.Reason), "-"))
		}
	}
	for _, target := range b.res.Targets {
		for _, scenario := range sorted(target.Unsupported) {
			if !slices.ContainsFunc(b.res.Cells, func(c record.Cell) bool { return c.Coord.Target == target.Name && c.Coord.Scenario == scenario }) {
				t.Rows = append(t.Rows, row(scenario+" / "+target.Name, "unsupported", target.Unsupported[scenario], "-"))
			}
		}
	}
	s := Section{Title: "Without a result, or ended early"}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	if left := b.leftOutCells(); len(left) > 0 {
		s.Blocks = append(s.Blocks, List{left})
	}
	if len(s.Blocks) == 0 {
		return nil, nil
	}
	return []Section{s}, nil
}

// leftOutCells says for each reason in a line which cells were not to run.
func (b *builder) leftOutCells() (items []Text) {
	if b.in.Environment == nil {
		return nil
	}
	cells := map[string][]string{}
	for _, cell := range sorted(b.in.Environment.LeftOut) {
		why := b.in.Environment.LeftOut[cell]
		cells[why] = append(cells[why], oneLine(cell))
	}
	for _, why := range sorted(cells) {
		words := "left out"
		if why != "" {
			words = oneLine(why)
		}
		items = append(items, text(plural.Of(len(cells[why]), "cell")+" "+words+": ", some(cells[why], mostOut), "."))
	}
	return items
}

// leftovers are changes that could not be undone.
func leftovers(b *builder) ([]Section, error) {
	if len(b.res.Undone) == 0 {
		return nil, nil
	}
	items := make([]Text, len(b.res.Undone))
	for i, u := range b.res.Undone {
		items[i] = text(u)
	}
	return []Section{{Title: "Could not be undone", Blocks: []Block{
		List{items},
		Paragraph{text("This tries again, from the journal alone:")},
		Code{Lines: []string{"planrun clean " + shellQuote(b.opt.Dir)}},
	}}}, nil
}
