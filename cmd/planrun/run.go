package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

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
		Long: `Run a plan, judge it and write its report into results/PLAN-TIME.

Exit codes, the first that applies: 5 something could not be undone (planrun clean tries again), 130 interrupted,
4 the harness failed, 1 a gating verdict failed, 3 a gating verdict is inconclusive or judged nothing, 0 otherwise.
2: the plan or the command line is wrong, and nothing was run.

The first interrupt stops, undoes and reports; the second does not wait for in-flight requests; the third leaves at once.`,
		Args: onePlan,
		RunE: func(c *cobra.Command, args []string) error { return p.runPlan(c.Context(), args[0], f, opt) },
	}
	f.add(c.Flags())
	c.Flags().StringVar(&opt.Out, "out", "", "directory of the result set; must not exist or be empty")
	c.Flags().StringVar(&opt.Root, "results", "results", "directory in which result sets are made")
	c.Flags().StringVar(&opt.Gate, "gate", "plan", "which verdicts gate: plan (as it says), all, none, or those of a TARGET")
	c.Flags().StringSliceVar(&opt.Allow, "allow", nil, "public hosts or networks that load may be sent to, if the plan allows them too")
	return c
}

func onePlan(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("one plan is wanted, %d are given", len(args))
	}
	return nil
}

func (p *program) runPlan(ctx context.Context, file string, f planFlags, opt engine.RunOptions) error {
	prog, err := p.compile(file, f)
	if err != nil {
		return err
	}
	if _, err := machine.RaiseFiles(); err != nil {
		fmt.Fprintf(p.err, "planrun: warning: %v\n", err)
	}
	ctx, hurry, done := p.interrupts(ctx)
	defer done()
	opt.Command, opt.Undos, opt.Hurry = append([]string{"planrun"}, p.args...), actions.Undos, hurry
	progress := newProgress(p.err)
	opt.Progress = progress
	out, err := prog.Run(ctx, opt)
	progress.close()
	var list diag.List
	if errors.As(err, &list) {
		diag.Render(p.err, list, prog.Plan.Sources)
		p.exit = exitUsage
		return fmt.Errorf("%s cannot be run as it is; nothing was run", file)
	}
	if err != nil {
		p.exit = exitHarness
		return err
	}
	p.exit = out.Exit
	return p.summary(out)
}

// summary prints what came of it.
func (p *program) summary(out *engine.Outcome) error {
	if err := report.Summary(p.out, out.Input, report.Options{Dir: relative(out.Set.Dir)}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "exit %d: %s\n", out.Exit, out.Why)
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

// interrupts makes the first interrupt end the context, the second close hurry, and the third end the process.
func (p *program) interrupts(ctx context.Context) (_ context.Context, hurry <-chan struct{}, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	fast := make(chan struct{})
	sig := make(chan os.Signal, 3)
	signal.Notify(sig, syscall.SIGINT, syscall.SIGTERM)
	stop := make(chan struct{})
	go func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			case <-sig:
			}
			switch n {
			case 1:
				fmt.Fprintln(p.err, "\ninterrupted: stopping the loads, then undoing everything; interrupt again not to wait for what is in flight")
				cancel(engine.ErrInterrupted)
			case 2:
				fmt.Fprintln(p.err, "\nnot waiting any more; interrupt again to leave at once")
				close(fast)
			default:
				leave(p.err)
			}
		}
	}()
	return ctx, fast, func() { signal.Stop(sig); close(stop); cancel(nil) }
}

// leave ends the process where it is.
func leave(w io.Writer) {
	fmt.Fprintf(w, "\nleft at once; what was changed is still there. Undo it with: planrun clean %s\n", latest())
	os.Exit(130)
}

// latest is the newest result set.
func latest() string {
	dir, err := filepath.EvalSymlinks(filepath.Join("results", "latest"))
	if err != nil {
		return "DIR"
	}
	return dir
}
