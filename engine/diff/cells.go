package diff

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
)

// readCells takes the cells from results.json, or makes them of the runs where that is missing or not of the runs that are there.
func (s *Set) readCells(set *record.Set) error {
	cached, err := set.Results()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && set.Current(cached) {
		s.Results = cached
		if !cached.Complete && len(s.Gaps) == 0 {
			s.gap("some of its runs are missing")
		}
		return nil
	}
	if s.Results, err = s.fromRuns(set); err != nil {
		return err
	}
	if n := len(s.Damaged); n > 0 {
		s.gap(fmt.Sprintf("%s no readable run.json (%s)", have(n), strings.Join(s.Damaged[:min(n, 3)], ", ")))
	}
	return nil
}

func have(n int) string {
	if n == 1 {
		return "1 of its runs has"
	}
	return fmt.Sprintf("%d of its runs have", n)
}

// fromRuns puts the runs together. Of which cell a damaged one is cannot be said.
func (s *Set) fromRuns(set *record.Set) (*record.Results, error) {
	var runs []*record.Run
	for r, err := range set.Runs() {
		switch {
		case err != nil:
			return nil, err
		case r.Coord.Target == "":
			s.Damaged = append(s.Damaged, r.ID)
		default:
			runs = append(runs, r)
		}
	}
	stages, err := set.Stages()
	if err != nil {
		return nil, err
	}
	cells, descs := measure.CellsOf(runs)
	return &record.Results{Version: record.Version, Cells: cells, Descs: descs, Stages: stages}, nil
}
