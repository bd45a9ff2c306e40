package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/actions"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/report"
)

func (p *program) runCommand() *cobra.Command {
	var f planFlags
	var opt engine.RunOptions
	c := &cobra.Command{
		Use:   "run PLAN.yaml",
		Short: "Run a plan, judge it and write its report",
		Long: `Run a plan, judge it and write its report into results/PLAN-TIME; results/latest leads to the newest one.

Exit codes, the first that applies:
    5  something could not be undone; it is listed, and planrun clean tries again
  130  interrupted; undone and reported
    4  the harness failed: an install, an action, a worker, a self-check; or what it came to could not be written or printed, or not all that was recorded could be read
    1  a gating verdict failed
    3  a gating verdict is inconclusive, or judged nothing
    0  every gate passed
    2  the plan or the command line is wrong; nothing was run

The first interrupt stops, undoes and reports; the second does not wait for in-flight requests; the third leaves at once.`,
		Example: `  planrun quickstart.yaml
  planrun plan.yaml --preset smoke --set in_flight=8
  planrun plan.yaml --only throughput/mine --repeats 2
  planrun run plan.yaml --out results/before --gate none`,
		Args: onePlan,
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range []string{"out", "results"} {
				if flag := c.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
					return fmt.Errorf("--%s '' names no directory; name one, or leave --%s out", name, name)
				}
			}
			return p.runPlan(c.Context(), args[0], f, opt)
		},
	}
	f.add(c.Flags())
	c.Flags().StringVar(&opt.Out, "out", "", "`DIR` of the result set, instead of one below --results; it must not exist, or be empty")
	c.Flags().StringVar(&opt.Root, "results", "results", "`DIR` in which result sets are made")
	c.Flags().StringVar(&opt.Gate, "gate", "plan", "`WHICH` verdicts gate: plan (as it says), all, none, or those of a TARGET")
	c.Flags().StringSliceVar(&opt.Allow, "allow", nil, "public `HOSTS` or networks that load may be sent to, if the plan allows them too")
	return c
}

func (p *program) runPlan(ctx context.Context, file string, f planFlags, opt engine.RunOptions) error {
	prog, err := p.compile(file, f)
	if err != nil {
		return err
	}
	if err := checkCells(prog, f, opt.Gate); err != nil {
		return err
	}
	if err := emptyDir(opt.Out); err != nil {
		return err
	}
	if _, err := machine.RaiseFiles(); err != nil {
		fmt.Fprintf(p.err, "planrun: warning: %v\n", err)
	}
	progress := newProgress(p.err, prog)
	ctx, hurry, done := interrupts(ctx, progress)
	restore := capture(progress)
	opt.Command, opt.Undos, opt.Hurry, opt.Progress, opt.Beside = append([]string{"planrun"}, p.args...), actions.Undos, hurry, progress, besideOf(prog)
	out, err := prog.Run(ctx, opt)
	restore()
	done()
	progress.close()
	var list diag.List
	if errors.As(err, &list) {
		return p.print(list, prog.Plan)
	}
	if err != nil {
		p.exit = exitHarness
		return err
	}
	p.exit = out.Exit
	return p.summary(out)
}

// emptyDir refuses a directory for a result set that holds something.
func emptyDir(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if to, err := os.Readlink(dir); err == nil {
			return fmt.Errorf("--out %s is a link to %s, which is not there; name a new directory", dir, to)
		}
		return nil
	case err != nil:
		return fmt.Errorf("--out %s: %w", dir, err)
	case len(entries) > 0:
		return fmt.Errorf("--out %s holds files already; name a new directory", dir)
	}
	return nil
}

// summary prints what came of it.
func (p *program) summary(out *engine.Outcome) error {
	width := columns(p.out)
	if err := report.Summary(p.out, out.Input, report.Options{Dir: relative(out.Set.Dir), Width: width}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.out, report.Wrap(fmt.Sprintf("exit %d: %s", out.Exit, out.Why), width))
	return err
}

// relative is a path as one would type it here.
func relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if r, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(r, "..") {
		return r
	}
	return path
}
