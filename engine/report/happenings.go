package report

import (
	"fmt"
	"slices"
)

// telling are the kinds of events that a reader of numbers must know of; others (phases, changes that the plan asked for)
// stay in the run's record.
var telling = []string{"exit", "oom", "restart", "abort", "note"}

// mostEvents bounds the table of events; the record has them all.
const mostEvents = 50

// happenings are events that explain numbers: a process that died, an action that failed, what the reader had to leave out.
func happenings(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "at", Right: true}, {Title: "what"}, {Title: "message"}}}
	more := 0
	put := func(cells ...any) {
		if len(t.Rows) >= mostEvents {
			more++
			return
		}
		t.Rows = append(t.Rows, row(cells...))
	}
	for _, c := range b.res.Cells {
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			for _, a := range r.Actions {
				if a.Error != "" {
					put(b.runName(r), seconds(a.Start), "action "+a.Kind+" ("+a.Where+")", a.Error)
				}
			}
			d, err := b.series(id)
			if err != nil {
				return nil, err
			}
			if d == nil {
				for _, p := range r.Processes {
					if p.Died != "" {
						put(b.runName(r), "n/a", "exit", fmt.Sprintf("%s/%d: %s", p.Name, p.Replica, p.Died))
					}
				}
				continue
			}
			for _, e := range d.Events {
				if slices.Contains(telling, e.Kind) {
					put(b.runName(r), seconds(e.T), e.Kind, e.Message)
				}
			}
			for _, n := range d.Notes {
				put(b.runName(r), "n/a", "record", n)
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	s := Section{Title: "What happened", Blocks: []Block{t}}
	if more > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text(fmt.Sprintf("%s more are in the runs' events.jsonl.", count(more, "event")))})
	}
	return []Section{s}, nil
}
