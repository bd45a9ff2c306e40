// Planrun runs plans: it installs targets, drives load at them, breaks what is around them, and judges what happened.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/actions"
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/probes"
)

// vocabulary is everything that a plan may say.
var vocabulary = dsl.Vocabulary{Actions: actions.Kinds, Probes: probes.Kinds}

// undos undo every kind of change, also in another process than the one that made it.
var undos = slices.Concat(proc.Undos(), actions.Undos)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// A program holds what a command writes to, and its exit code.
type program struct {
	in       io.Reader
	out, err io.Writer
	args     []string
	exit     int
}

// Exit codes that are not those of verdicts; `planrun help run` lists them all.
const (
	exitOK          = 0
	exitUsage       = 2
	exitHarness     = 4
	exitNotUndone   = 5
	exitInterrupted = 130
)

// run is planrun as a function: it gives the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{in: stdin, out: stdout, err: stderr, args: args}
	root := p.root()
	root.SetArgs(p.shorthand(root, args))
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var list diag.List
	switch {
	case err == nil:
	case errors.As(err, &list):
		diag.Render(stderr, list, nil)
		p.exit = exitUsage
	default:
		fmt.Fprintf(stderr, "planrun: %v\n", err)
		if p.exit == exitOK {
			p.exit = exitUsage
		}
	}
	return p.exit
}

// root is the tree of commands.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "planrun PLAN.yaml",
		Short: "Prove how a proxy, load balancer or ingress controller behaves",
		Long: `planrun runs a YAML plan: it installs each target, drives load at it, churns and breaks what is around it, samples
what happens, and judges the result. "planrun PLAN.yaml" is short for "planrun run PLAN.yaml".`,
		Version:       machine.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return fmt.Errorf("unknown command %q; a plan's name ends in .yaml or .yml; see planrun --help", args[0])
		},
	}
	root.AddCommand(p.runCommand(), p.checkCommand(), p.showCommand(), p.reportCommand(), p.judgeCommand(), p.listCommand(), p.explainCommand(),
		p.initCommand(), p.schemaCommand(), p.envCommand(), p.cleanCommand(), p.workerCommand())
	return root
}

// shorthand makes `planrun PLAN.yaml ...` into `planrun run PLAN.yaml ...`.
func (p *program) shorthand(root *cobra.Command, args []string) []string {
	for _, a := range args {
		if isPlan(a) {
			break
		}
		if c, _, err := root.Find([]string{a}); err == nil && c != root || a == "help" || a == "completion" {
			return args
		}
	}
	if slices.ContainsFunc(args, isPlan) {
		return append([]string{"run"}, args...)
	}
	return args
}
