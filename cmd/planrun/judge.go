package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
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

// conclude judges a result set again and writes its report.
func (p *program) conclude(args []string, gate string) (*engine.Outcome, error) {
	return p.concludeBeside(args, gate, nil)
}

// concludeBeside is conclude with earlier sets (DIR or DIR=LABEL) beside those that the plan names.
func (p *program) concludeBeside(args []string, gate string, old []string) (*engine.Outcome, error) {
	defer sparing()()
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
	earlier, err := earlierOf(prog, old)
	if err != nil {
		return nil, err
	}
	out, err := engine.Conclude(set, prog, engine.ConcludeOptions{Gate: gate, Beside: func(set *record.Set, in *report.Input) error {
		err := earlier.into(set, in)
		if err != nil {
			p.exit = exitUsage // what was named does not go together
		}
		return err
	}})
	if err != nil && p.exit == exitOK {
		p.exit = exitHarness
	}
	return out, err
}

// sparing lets what reads large result sets have a third more memory than it needs, not twice as much, until done is called.
// It costs hardly any time: little of what is read is kept, and most of that to the end.
func sparing() (done func()) {
	before := debug.SetGCPercent(33)
	return func() { debug.SetGCPercent(before) }
}
