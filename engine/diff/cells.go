package diff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
)

// readCells takes the cells from results.json, or makes them of the runs where that is missing or not of the runs that are there.
func (s *Set) readCells(set *record.Set) error {
	ids, err := set.RunIDs()
	if err != nil {
		return err
	}
	cached, err := set.Results()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && holds(set, cached, ids) {
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

// holds reports whether results are of these runs as they are now: of no other ones, and no run.json is gone, cut short or
// younger.
func holds(set *record.Set, res *record.Results, ids []string) bool {
	var of []string
	for _, c := range res.Cells {
		of = append(of, c.Runs...)
	}
	slices.Sort(of)
	if !slices.Equal(of, slices.Sorted(slices.Values(ids))) {
		return false
	}
	made, err := os.Stat(set.Path("results.json"))
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(ids, func(id string) bool {
		path := set.Path("runs", id, "run.json")
		info, err := os.Stat(path)
		return err != nil || info.ModTime().After(made.ModTime()) || !whole(path, info)
	})
}

// whole reports whether a run.json ends as planrun ends one.
func whole(path string, info fs.FileInfo) bool {
	const end = "}\n"
	if !info.Mode().IsRegular() || info.Size() < int64(len(end)) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(end))
	_, err = f.ReadAt(b, info.Size()-int64(len(end)))
	return err == nil && string(b) == end
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
