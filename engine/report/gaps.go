package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// absent says in the findings which cells have no result, by status, and why.
func (b *builder) absent() (items []Text) {
	missing, rest := b.missingPrograms(), []record.Cell{}
	for _, c := range b.res.Cells {
		if why := missing[c.Coord.Target]; why != "" && c.Status == record.Unsupported {
			continue
		}
		rest = append(rest, c)
	}
	for _, t := range b.res.Targets {
		if why := missing[t.Name]; why != "" {
			items = append(items, text(oneLine(t.Name)+" could not be run here: "+oneLine(why)+". Its cells are unsupported."))
		}
	}
	for _, s := range []record.Status{record.Failed, record.Unmet, record.Unsupported, record.Interrupted, record.Unfinished} {
		var names []string
		for _, c := range rest {
			if c.Status == s {
				names = append(names, b.name(c.Coord))
			}
		}
		if len(names) > 0 {
			items = append(items, text(fmt.Sprintf("No result (%s): %s.", shortStatus(s), some(names, 6))))
		}
	}
	if b.in.Environment != nil && len(b.in.Environment.LeftOut) > 0 {
		items = append(items, text(count(len(b.in.Environment.LeftOut), "cell")+" of the schedule left out; see below."))
	}
	for _, s := range []record.Status{record.Aborted, record.Failed, record.Unmet, record.Interrupted, record.Unfinished} {
		var names []string
		for _, c := range b.res.Cells {
			if !c.Status.HasResults() {
				continue
			}
			n := 0
			for _, id := range c.Runs {
				if r := b.runs[id]; r != nil && r.Status == s {
					n++
				}
			}
			if n > 0 {
				names = append(names, fmt.Sprintf("%s (%d of %s)", b.name(c.Coord), n, count(len(c.Runs), "run")))
			}
		}
		if len(names) > 0 {
			items = append(items, text("Runs that "+runWords[s]+": "+some(names, 6)+"."))
		}
	}
	return items
}

var runWords = map[record.Status]string{
	record.Aborted:     "ended early by their abort condition, which is a result",
	record.Failed:      "failed (error) beside others that have results",
	record.Unmet:       "did not meet a requirement, beside others that have results",
	record.Interrupted: "were interrupted beside others that have results",
	record.Unfinished:  "were cut off when the engine died, beside others that have results",
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

// some joins at most n names, and says how many there are beyond.
func some(names []string, n int) string {
	if len(names) <= n {
		return and(names)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
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
	if b.in.Environment != nil {
		for _, cell := range sorted(b.in.Environment.LeftOut) {
			t.Rows = append(t.Rows, row(oneLine(cell), "left out", dash(b.in.Environment.LeftOut[cell]), "-"))
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return []Section{{Title: "Without a result, or ended early", Blocks: []Block{t}}}, nil
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
		Code{[]string{"planrun clean " + shellQuote(b.opt.Dir)}},
	}}}, nil
}
