package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/plans"
)

// readFile reads a plan's file from the disk, else one that planrun ships: plans/quickstart.yaml works anywhere.
func readFile(path string) ([]byte, error) {
	b, err := dsl.ReadFile(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	if b, e := fs.ReadFile(plans.FS, shipped(path)); e == nil {
		return b, nil
	}
	return nil, err
}

// shipped is the name that a path has in the embedded plans: what follows its last directory called plans, so that a plan
// in any directory can include plans/lib/targets/nginx.yaml.
func shipped(path string) string {
	path = "/" + filepath.ToSlash(filepath.Clean(path))
	if i := strings.LastIndex(path, "/plans/"); i >= 0 {
		return path[i+len("/plans/"):]
	}
	return path[1:]
}

// shippedPlans are the names of the plans that planrun ships.
func shippedPlans() (out []string) {
	names, _ := fs.Glob(plans.FS, "*.yaml") // the pattern is right
	return append(out, names...)
}

// noPlan says what to do about a plan that cannot be read.
func noPlan(file string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	hint := dsl.Suggest(filepath.Base(file), shippedPlans(), "planrun ships")
	if errors.Is(err, fs.ErrNotExist) && !strings.HasPrefix(hint, "did") {
		hint += fmt.Sprintf("; planrun init %s writes a first one", file)
	}
	return fmt.Errorf("the plan %s cannot be read: %w; %s", file, err, hint)
}
