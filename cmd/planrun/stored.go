package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
	if _, err := os.Stat(set.Path("environment.json")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s has no environment.json, so what it ran on and what was left out of it is not known: planrun was killed when it began, or the file was taken away", dir)
	}
	plan, list := dsl.Load(file, dsl.Options{Vocabulary: vocabulary})
	var prog *engine.Program
	if !list.HasErrors() {
		var more diag.List
		// Secrets were redacted, and nothing is run: they have no value here.
		prog, more = engine.Compile(plan, engine.Options{Always: always(), Stored: true, Env: func(string) (string, bool) { return dsl.Redacted, true }})
		list = append(list, more...)
	}
	// Warnings were for whoever ran it: nothing is run, and this may be another machine.
	list = slices.DeleteFunc(list, func(x *diag.Problem) bool { return x.Warning })
	if err := p.print(list, plan); err != nil {
		return nil, nil, err
	}
	return set, prog, nil
}

// oneSet wants at most one result set.
func oneSet(args []string) (dir string, err error) {
	switch {
	case len(args) > 1:
		return "", fmt.Errorf("one result set at a time: there is %q beside %q", args[1], args[0])
	case len(args) == 1:
		dir = args[0]
	default:
		dir = filepath.Join("results", "latest")
	}
	if isPlan(dir) {
		return "", fmt.Errorf("%s is a plan; a result set is a directory such as results/%s-TIME, and results/latest the newest one", dir, filepath.Base(dir[:len(dir)-len(filepath.Ext(dir))]))
	}
	if _, err := os.Stat(filepath.Join(dir, "journal.jsonl")); err != nil {
		_, there := os.Stat(dir)
		if len(args) == 0 {
			return "", fmt.Errorf("there is no results/latest here; name a result set: planrun leaves them in results/PLAN-TIME")
		}
		if errors.Is(there, fs.ErrNotExist) {
			return "", fmt.Errorf("%s is no result set: there is no such directory; planrun leaves result sets in results/PLAN-TIME", dir)
		}
		return "", fmt.Errorf("%s is no result set: it has no journal.jsonl; planrun leaves result sets in results/PLAN-TIME", dir)
	}
	return dir, nil
}
