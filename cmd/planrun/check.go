package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/internal/plural"
)

func (p *program) checkCommand() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "check PLAN.yaml",
		Short: "Print every problem of a plan; run nothing",
		Long: `Print every problem of a plan and of what it includes, in one pass: where it is, what is wrong, and what to do. Nothing is run.
Exit code 2 if there is one. Warnings are printed too, and are no problem.`,
		Example: `  planrun check plan.yaml
  planrun check quickstart.yaml --set measure=500ms`,
		Args: onePlan,
		RunE: func(_ *cobra.Command, args []string) error {
			prog, err := p.compile(args[0], f)
			if err != nil {
				return err
			}
			later := ""
			if len(prog.Later) > 0 {
				later = fmt.Sprintf("; %s of it this build cannot run yet: planrun run says which", plural.Of(len(prog.Later), "part"))
			}
			_, err = fmt.Fprintf(p.out, "%s: no problem in %s and %s%s\n", args[0], plural.Of(len(prog.Cells), "cell"), plural.Of(len(prog.Plan.Verdicts), "verdict"), later)
			return err
		},
	}
	f.add(c.Flags())
	return c
}
