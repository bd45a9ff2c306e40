package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// telling are the kinds of events that a reader of numbers must know of; others (phases, changes that the plan asked for)
// stay in the run's record.
var telling = []string{"exit", "oom", "restart", "abort", "probe", "note"}

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
	for r := range b.runsOfCells() {
		for _, a := range r.Actions {
			if a.Error != "" && !a.Optional { // which has an event
				put(b.runName(r), seconds(a.Start), "action "+a.Kind+" ("+a.Where+")", a.Error)
			}
		}
		if b.in.Events == nil {
			for _, d := range died(r) {
				put(b.runName(r), "n/a", "exit", d)
			}
			continue
		}
		events, notes, err := b.in.Events(r.ID)
		if err != nil {
			return nil, fmt.Errorf("events of run %s: %w", r.ID, err)
		}
		for _, e := range events {
			if slices.Contains(telling, e.Kind) {
				put(b.runName(r), seconds(e.T), e.Kind, e.Message)
			}
		}
		for _, n := range notes {
			put(b.runName(r), "n/a", "record", n)
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	s := Section{Title: "What happened", Blocks: []Block{t}}
	if more > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text(plural.Of(more, "more event"), plural.Verb(more, " is", " are"), " in the runs' events.jsonl.")})
	}
	return []Section{s}, nil
}

// died are the processes of a run that ended when nobody asked them to: "nginx/0: signal: killed".
func died(r *record.Run) (out []string) {
	for _, p := range r.Processes {
		switch {
		case p.Died == "":
		case strings.HasPrefix(p.Died, p.Name):
			out = append(out, p.Died)
		default:
			out = append(out, fmt.Sprintf("%s/%d: %s", p.Name, p.Replica, p.Died))
		}
	}
	return out
}

// mostDeaths bounds the dead processes that are named at once.
const mostDeaths = 4

// deaths says in the findings which processes died, and when.
func (b *builder) deaths() ([]Text, error) {
	var parts []string
	for _, r := range b.in.Runs {
		for _, d := range died(r) {
			at, err := b.diedAt(r, d)
			if err != nil {
				return nil, err
			}
			parts = append(parts, fmt.Sprintf("%s (%s%s)", oneLine(d), b.runName(r), at))
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return []Text{text(bad(plural.Of(len(parts), "process")+" died"), ": ", some(parts, mostDeaths), ".")}, nil
}

// diedAt is when a process ended, as its event has it: ", at 3.2 s in phase measure"; "" if there is no such event.
func (b *builder) diedAt(r *record.Run, died string) (string, error) {
	if b.in.Events == nil {
		return "", nil
	}
	events, _, err := b.in.Events(r.ID)
	if err != nil {
		return "", fmt.Errorf("events of run %s: %w", r.ID, err)
	}
	process, _, _ := strings.Cut(died, " ")
	process = strings.TrimSuffix(process, ":")
	for _, e := range events {
		if name, _, _ := strings.Cut(e.Message, " "); e.Kind == "exit" && strings.TrimSuffix(name, ":") == process {
			at := ", at " + seconds(e.T)
			if p := phaseOf(r, e.T-0.5); p != "" {
				at += " in phase " + oneLine(p)
			}
			return at, nil
		}
	}
	return "", nil
}
