package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/published"
	"github.com/planrun/planrun/internal/plural"
)

func (p *program) importCommand() *cobra.Command {
	var f planFlags
	var plan string
	var opt engine.ImportOptions
	c := &cobra.Command{
		Use:   "import FILE.csv --plan PLAN.yaml --out DIR",
		Short: "Make a result set of figures that others published",
		Long: `Make a result set of figures that others measured and published, so that judge, report, diff and export read them as any other.
The report says that they were not measured here. The file is CSV:

    scenario,target,metric,statistic,value
    h1-small,nginx,req_per_s,median,58156

The names are those of the plan, which says who published the figures (published) and which metrics each scenario has
(figures). The statistic is median, min, max, sum or mean of the runs of a cell, or a single run: run1, run2, ...; the value
is in the unit of the metric. Lines that begin with # are comments. Where the runs' own values do not follow from what was
published nothing is said of noise.

Every problem of the file is printed in one pass, and nothing is written if there is one (exit code 2). Else the exit code is
that of the verdicts, as of planrun run.`,
		Example: `  planrun import plans/published/ingress-round2.csv --plan plans/published/ingress-round2.yaml --out results/round2-published
  planrun report results/round2-published`,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return fmt.Errorf("which figures? planrun import FILE.csv --plan PLAN.yaml --out DIR takes one file")
			case isPlan(args[0]):
				return fmt.Errorf("%s is a plan; planrun import FILE.csv --plan PLAN.yaml --out DIR", args[0])
			case plan == "":
				return fmt.Errorf("which plan knows these figures? planrun import %s --plan PLAN.yaml --out DIR", args[0])
			case opt.Out == "":
				return fmt.Errorf("where to? planrun import %s --plan %s --out DIR", args[0], plan)
			}
			opt.File = args[0]
			return p.importFigures(plan, f, opt)
		},
	}
	f.given = c.Flags()
	c.Flags().StringVar(&plan, "plan", "", "the `PLAN` of published figures that says what the names mean")
	c.Flags().StringVar(&opt.Out, "out", "", "`DIR` of the result set; it must not exist, or be empty")
	c.Flags().StringArrayVar(&f.set, "set", nil, "`NAME=VALUE`: another value for a param; may be repeated")
	c.Flags().StringSliceVar(&f.presets, "preset", nil, "a `PRESET` of the plan: values for several params")
	c.Flags().StringVar(&opt.Gate, "gate", "plan", "`WHICH` verdicts gate: plan (as it says), all, none, or those of a TARGET")
	return c
}

func (p *program) importFigures(plan string, f planFlags, opt engine.ImportOptions) (err error) {
	if opt.Content, err = readFile(opt.File); err != nil {
		return fmt.Errorf("the figures cannot be read: %w", err)
	}
	prog, err := p.compile(plan, f)
	if err != nil {
		if _, list := published.Read(opt.File, opt.Content); list != nil { // what can be said without a plan
			err = errors.Join(err, p.printFigures(list, opt))
		}
		return err
	}
	if !prog.Plan.IsPublished() {
		return fmt.Errorf("%s is a plan that is run; published figures need one with published, whose scenarios have figures instead of phases (such as plans/published/ingress-round2.yaml)", plan)
	}
	if err := checkCells(prog, f, opt.Gate); err != nil {
		return err
	}
	if err := emptyDir(opt.Out); err != nil {
		return err
	}
	opt.Command, opt.Beside = append([]string{"planrun"}, p.args...), besideOf(prog)
	out, err := prog.Import(opt)
	var list diag.List
	switch {
	case errors.As(err, &list):
		return p.printFigures(list, opt)
	case err != nil:
		p.exit = exitHarness
		return err
	}
	p.exit = out.Exit
	return p.summary(out)
}

// mostShown is how many problems of a file of figures are printed: each line of a long file may have one.
const mostShown = 200

// printFigures prints the problems of a file of figures, the first of very many.
func (p *program) printFigures(list diag.List, opt engine.ImportOptions) error {
	shown := list[:min(len(list), mostShown)]
	if err := diag.Render(p.err, shown, map[string][]byte{opt.File: opt.Content}); err != nil {
		return err
	}
	if more := len(list) - len(shown); more > 0 {
		if _, err := fmt.Fprintf(p.err, "and %s\n", plural.Of(more, "more problem")); err != nil {
			return err
		}
	}
	p.exit = exitUsage
	return fmt.Errorf("%s has %s; nothing was imported", opt.File, plural.Of(len(list), "problem"))
}
