package record

import (
	"fmt"
	"path/filepath"
	"unique"
)

// readRun reads a run.json.
func readRun(path string) (*Run, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	r := new(Run)
	if err := decode(b, r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	for k, why := range r.Missing { // the same in many runs
		delete(r.Missing, k)
		r.Missing[unique.Make(k).Value()] = unique.Make(why).Value()
	}
	return r, nil
}
