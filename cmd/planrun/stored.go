package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// stored opens a result set with its plan, which may have been edited since: its verdicts are judged, its report made.
func (p *program) stored(dir string) (*record.Set, *engine.Program, error) {
	set, err := record.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	if set.Dir, err = filepath.Abs(set.Dir); err != nil {
		return nil, nil, err
	}
	file := filepath.Join(dir, "plan.yaml")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s has no plan.yaml: planrun was killed before it had written anything", dir)
	}
	plan, list := dsl.Load(file, dsl.Options{Vocabulary: vocabulary})
	var prog *engine.Program
	if !list.HasErrors() {
		var more diag.List
		// Secrets were redacted, and nothing is run: they have no value here.
		prog, more = engine.Compile(plan, engine.Options{Always: always(), Env: func(string) (string, bool) { return dsl.Redacted, true }})
		list = append(list, more...)
	}
	if err := diag.Render(p.err, list, plan.Sources); err != nil {
		return nil, nil, err
	}
	if list.HasErrors() {
		p.exit = exitUsage
		return nil, nil, fmt.Errorf("%s has %s", file, plural(len(list), "problem"))
	}
	return set, prog, nil
}

// setDir is the result set that a command line means: the newest one if it names none.
func setDir(args []string) string {
	if len(args) == 0 {
		return filepath.Join("results", "latest")
	}
	return args[0]
}
