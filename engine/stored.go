package engine

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// A storedRun is a run of a result set with all numbers that the program asks for.
type storedRun struct {
	*record.Run
	notes []string // what is missing of what was recorded
}

// stored reads the runs of a set, in order. What was sampled of them is read only where their numbers have to be derived:
// of a run whose engine died, or because the plan has other metrics by now. A run that cannot be read is a failed one that
// says why; the error is of listing them.
func (p *Program) stored(set *record.Set) iter.Seq2[*storedRun, error] {
	return record.Ahead(set, func(id string) (*storedRun, error) {
		r := set.Kept(id)
		if r.Coord.Stage == "" {
			r.Coord = p.coordOf(id)
		}
		if r.Unreadable {
			return &storedRun{Run: r}, nil
		}
		switch r.Status {
		case record.Unsupported, record.Skipped, record.Failed:
			return &storedRun{r, set.Gaps(r)}, nil
		case record.Unfinished:
		default:
			if len(r.Metrics) > 0 && !p.needsMetrics(r) {
				return &storedRun{r, set.Gaps(r)}, nil
			}
		}
		d, err := set.Data(id)
		if err != nil {
			r.Status, r.Reason = record.Failed, unreadable(err)
			return &storedRun{Run: r}, nil
		}
		d.Run.Coord = r.Coord
		p.derive(context.Background(), d)
		return &storedRun{d.Run, d.Notes}, set.Rederived(d.Run)
	})
}

func unreadable(err error) string { return "its record cannot be read: " + err.Error() }

// coordOf finds what a run was of by the name of its directory, where its run.json does not say; the zero Coord if no cell
// of the plan, or more than one, has runs of that name.
func (p *Program) coordOf(id string) (found record.Coord) {
	_, name, _ := strings.Cut(id, "-")
	var round, repeat int
	if _, err := fmt.Sscanf(name[strings.LastIndexByte(name, '-')+1:], "%d.%d", &round, &repeat); err != nil {
		return found
	}
	for _, c := range p.Cells {
		at := c.Coord
		at.Round, at.Repeat = round, repeat
		if record.RunName(at) != name {
			continue
		}
		if found.Stage != "" {
			return record.Coord{}
		}
		found = at
	}
	return found
}
