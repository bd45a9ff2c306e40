package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/engine"
)

func (p *program) judgeCommand() *cobra.Command {
	var gate string
	c := &cobra.Command{
		Use:   "judge [DIR]",
		Short: "Judge a result set again, by the verdicts in its plan.yaml, which may have been edited",
		Long: `Judge a result set again (the newest one if none is named): its runs stay as they are, its verdicts are evaluated anew, and
the report is written again. The exit code is that of the verdicts, as of planrun run.

To try other verdicts, edit DIR/plan.yaml.`,
		Example: `  planrun judge
  planrun judge results/before --gate all`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			out, err := p.conclude(args, gate)
			if err != nil {
				return err
			}
			p.exit = out.Exit
			return p.summary(out)
		},
	}
	c.Flags().StringVar(&gate, "gate", "plan", "`WHICH` verdicts gate: plan (as it says), all, none, or those of a TARGET")
	return c
}

func (p *program) reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report [DIR]",
		Short: "Write the report of a result set again",
		Long: `Write the report of a result set again (the newest one if none is named), also of one whose planrun was killed: what there is
is reported.`,
		Example: `  planrun report
  planrun report results/before`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			out, err := p.conclude(args, "plan")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.out, "%s\n%s\n", relative(out.Set.Path("report.md")), relative(out.Set.Path("report.html")))
			return err
		},
	}
}

func (p *program) conclude(args []string, gate string) (*engine.Outcome, error) {
	dir, err := oneSet(args)
	if err != nil {
		return nil, err
	}
	set, prog, err := p.stored(dir)
	if err != nil {
		return nil, err
	}
	if err := checkCells(prog, planFlags{}, gate); err != nil {
		return nil, err
	}
	out, err := engine.Conclude(set, prog, engine.ConcludeOptions{Gate: gate})
	if err != nil && p.exit == exitOK {
		p.exit = exitHarness
	}
	return out, err
}
