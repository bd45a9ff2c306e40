package record

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"unique"
)

// readRun reads a run.json. Nearly all of it is metrics, which are read by themselves: the same names in every run share their
// memory, and it takes a part of the time.
func readRun(path string) (*Run, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	r := new(Run)
	var metrics Windows
	rest, ok := apart(b, "metrics", func(s *scanner) (ok bool) {
		metrics, ok = s.windows()
		return ok
	})
	if !ok {
		rest = b
	}
	if err := json.Unmarshal(rest, r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if ok {
		r.Metrics = metrics
	}
	for k, why := range r.Missing {
		delete(r.Missing, k)
		r.Missing[unique.Make(k).Value()] = unique.Make(why).Value()
	}
	return r, nil
}
