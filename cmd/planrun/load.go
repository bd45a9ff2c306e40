package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/internal/plural"
	"github.com/planrun/planrun/probes"
)

// isPlan reports whether a word that is no flag names a plan.
func isPlan(arg string) bool {
	ext := filepath.Ext(arg)
	return ext == ".yaml" || ext == ".yml"
}

// onePlan wants the one argument of a command to be a plan.
func onePlan(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("which plan? planrun %s PLAN.yaml; planrun ships %s", c.Name(), strings.Join(shippedPlans(), ", "))
	case len(args) > 1:
		return fmt.Errorf("one plan at a time: there is %q beside %q", args[1], args[0])
	}
	return nil
}

// planFlags are those of every command that reads a plan.
type planFlags struct {
	given                    *pflag.FlagSet // with what was written of them
	set, presets, only, skip []string
	repeats                  int
}

func (f *planFlags) add(s *pflag.FlagSet) {
	f.given = s
	s.StringArrayVar(&f.set, "set", nil, "`NAME=VALUE`: another value for a param; may be repeated")
	s.StringSliceVar(&f.presets, "preset", nil, "a `PRESET` of the plan: values for several params")
	s.StringSliceVar(&f.only, "only", nil, "run only these `CELLS`: a stage, target, scenario or axis=value, or several with / between them, of which all must fit (* is any); given again, or with a comma, it adds cells: nginx/h1-small, not nginx,h1-small, is that scenario of that target")
	s.StringSliceVar(&f.skip, "skip", nil, "leave these `CELLS` out")
	s.IntVar(&f.repeats, "repeats", 0, "runs of each cell, instead of what the scenarios say")
}

// compile loads and compiles a plan. What is wrong with it is printed, and the error says how much that was.
func (p *program) compile(file string, f planFlags) (*engine.Program, error) {
	if _, err := readFile(file); err != nil {
		return nil, noPlan(file, err)
	}
	if f.repeats < 1 && f.given.Changed("repeats") {
		return nil, fmt.Errorf("--repeats %d: at least 1", f.repeats)
	}
	plan, list := dsl.Load(file, dsl.Options{Vocabulary: vocabulary, ReadFile: readFile, Presets: f.presets, Set: f.set, Only: f.only, Skip: f.skip, Repeats: f.repeats})
	var prog *engine.Program
	opt := engine.Options{Always: always(), ReadFile: readFile}
	if list.HasErrors() {
		list = append(list, engine.Check(plan, list, opt)...)
	} else {
		var more diag.List
		prog, more = engine.Compile(plan, opt)
		list = append(list, more...)
	}
	if err := p.print(list, plan); err != nil {
		return nil, err
	}
	if err := checkCells(prog, f, "plan"); err != nil {
		return nil, err
	}
	return prog, nil
}

// print prints the problems of a plan; they are an error if one is more than a warning.
func (p *program) print(list diag.List, plan *dsl.Plan) error {
	list.Sort(plan.Files)
	if err := diag.Render(p.err, list, plan.Sources); err != nil || !list.HasErrors() {
		return err
	}
	p.exit = exitUsage
	n := len(slices.DeleteFunc(slices.Clone(list), func(x *diag.Problem) bool { return x.Warning }))
	return fmt.Errorf("%s has %s; nothing was run", plan.File, plural.Of(n, "problem"))
}

// always are the probes that every run has.
func always() []dsl.Kind {
	return slices.DeleteFunc(slices.Clone(probes.Kinds), func(k dsl.Kind) bool { return k.Name != "process" && k.Name != "host" })
}
