package report

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/internal/plural"
)

// mostPrinted bounds the outputs of commands that are shown; the record has them all.
const mostPrinted = 50

// printed shows what commands printed of which the plan says so: of each cell and action the first run that has it.
func printed(b *builder) ([]Section, error) {
	if b.in.Events == nil {
		return nil, nil
	}
	s := Section{Title: "What commands printed"}
	more := 0
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		seen := map[string]bool{}
		for _, id := range c.Runs {
			if b.runs[id] == nil {
				continue
			}
			events, _, err := b.in.Events(id)
			if err != nil {
				return nil, fmt.Errorf("events of run %s: %w", id, err)
			}
			for _, e := range events {
				name, _ := e.Fields["action"].(string)
				switch {
				case e.Kind != "output" || seen[name]:
					continue
				case len(s.Blocks) == mostPrinted:
					more++
				default:
					s.Blocks = append(s.Blocks, Code{Title: b.name(c.Coord) + ": " + oneLine(name), Lines: strings.Split(e.Message, "\n")})
				}
				seen[name] = true
			}
		}
	}
	if len(s.Blocks) == 0 {
		return nil, nil
	}
	if more > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text(plural.Of(more, "more output"), plural.Verb(more, " is", " are"), " in the runs' events.jsonl.")})
	}
	return []Section{s}, nil
}
