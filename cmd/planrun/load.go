package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/plans"
	"github.com/planrun/planrun/probes"
)

func isPlan(arg string) bool {
	ext := filepath.Ext(arg)
	return !strings.HasPrefix(arg, "-") && (ext == ".yaml" || ext == ".yml")
}

// planFlags are those of every command that reads a plan.
type planFlags struct {
	set, presets, only, skip []string
	repeats                  int
}

func (f *planFlags) add(s *pflag.FlagSet) {
	s.StringArrayVar(&f.set, "set", nil, "NAME=VALUE: a param's value; may be repeated")
	s.StringSliceVar(&f.presets, "preset", nil, "a preset of the plan")
	s.StringSliceVar(&f.only, "only", nil, "run only these cells: a stage, target, scenario or axis=value, or several with / between them")
	s.StringSliceVar(&f.skip, "skip", nil, "leave these cells out")
	s.IntVar(&f.repeats, "repeats", 0, "runs of each cell, instead of what the scenarios say")
}

// readFile reads a plan's file from the disk, else one that planrun ships: plans/quickstart.yaml works anywhere.
func readFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	if b, e := fs.ReadFile(plans.FS, shipped(path)); e == nil {
		return b, nil
	}
	return nil, err
}

// shipped is the name of a path in the embedded plans.
func shipped(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(filepath.Clean(path)), "./"), "plans/")
}

// compile loads and compiles a plan. What is wrong is printed; the program is nil then.
func (p *program) compile(file string, f planFlags) (*engine.Program, error) {
	if _, err := readFile(file); err != nil {
		return nil, p.noPlan(file, err)
	}
	plan, list := dsl.Load(file, dsl.Options{Vocabulary: vocabulary, ReadFile: readFile, Presets: f.presets, Set: f.set})
	var prog *engine.Program
	if !list.HasErrors() {
		var more diag.List
		prog, more = engine.Compile(plan, engine.Options{Only: f.only, Skip: f.skip, Repeats: f.repeats, Always: always(), ReadFile: readFile})
		list = append(list, more...)
	}
	list.Sort(plan.Files)
	if err := diag.Render(p.err, list, plan.Sources); err != nil {
		return nil, err
	}
	if list.HasErrors() {
		p.exit = exitUsage
		n := len(slices.DeleteFunc(slices.Clone(list), func(x *diag.Problem) bool { return x.Warning }))
		return nil, fmt.Errorf("%s has %s; nothing was run", file, plural(n, "problem"))
	}
	return prog, nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (p *program) noPlan(file string, err error) error {
	var names []string
	entries, _ := fs.Glob(plans.FS, "*.yaml")
	for _, e := range entries {
		names = append(names, "plans/"+e)
	}
	return fmt.Errorf("reading the plan: %w; planrun ships %s", err, strings.Join(names, ", "))
}

// always are the probes that every run has.
func always() []dsl.Kind {
	return slices.DeleteFunc(slices.Clone(probes.Kinds), func(k dsl.Kind) bool { return k.Name != "process" && k.Name != "host" })
}
