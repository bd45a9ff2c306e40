// Planrun runs plans: it installs targets, drives load at them, breaks what is around them, and judges what happened.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/planrun/planrun/actions"
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/engine/toxiproxy"
	"github.com/planrun/planrun/probes"
)

// vocabulary is everything that a plan may say.
var vocabulary = dsl.Vocabulary{Actions: actions.Kinds, Probes: probes.Kinds}

// undos undo every kind of change, also in another process than the one that made it.
var undos = slices.Concat(proc.Undos(), toxiproxy.Undos, actions.Undos)

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
	if err != nil {
		fmt.Fprintf(stderr, "planrun: %s\n", report.Visible(err.Error()))
		var written *fs.PathError
		switch {
		case errors.As(err, &written) && written.Op == "write" && p.exit != exitNotUndone && p.exit != exitInterrupted:
			p.exit = exitHarness // whatever the verdicts say: the user was not told
		case p.exit == exitOK:
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
		Example: `  planrun quickstart.yaml            a plan that planrun ships: under a minute, nothing else needed
  planrun init mine.yaml             a first plan of your own: your program beside nginx
  planrun check mine.yaml            every problem of a plan, and what to do about it
  planrun explain load               what the words of a plan mean; planrun list names them`,
		Version:       machine.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		},
	}
	root.SetFlagErrorFunc(unknownFlag)
	root.CompletionOptions.HiddenDefaultCmd = true
	cobra.EnableCommandSorting = false // they stand in the order in which one meets them
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run plans:"}, &cobra.Group{ID: "set", Title: "Read, judge and compare what they left (result sets):"},
		&cobra.Group{ID: "write", Title: "Write plans:"}, &cobra.Group{ID: "machine", Title: "This machine:"})
	root.SetHelpCommandGroupID("write")
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("run", p.runCommand(), p.checkCommand(), p.showCommand())
	add("set", p.reportCommand(), p.judgeCommand(), p.diffCommand(), p.importCommand(), p.exportCommand())
	add("write", p.listCommand(), p.explainCommand(), p.initCommand(), p.schemaCommand())
	add("machine", p.envCommand(), p.cleanCommand())
	root.AddCommand(p.workerCommand())
	return root
}

// unknownCommand says what somebody may have meant.
func unknownCommand(root *cobra.Command, name string) error {
	var known []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			known = append(known, c.Name())
		}
	}
	if slices.Contains(shippedPlans(), name+".yaml") {
		return fmt.Errorf("unknown command %q; did you mean the plan %s.yaml?", name, name)
	}
	hint := dsl.Suggest(name, known, "commands")
	return fmt.Errorf("unknown command %q; %s (a plan's name ends in .yaml or .yml)", name, hint)
}

// unknownFlag says what flags there are instead.
func unknownFlag(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		name := "--" + missing.GetSpecifiedName()
		return fmt.Errorf("%s has no flag %s; %s", c.CommandPath(), name, dsl.Suggest(name, known, "there are"))
	}
	return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
}

// shorthand makes `planrun PLAN.yaml ...` into `planrun run PLAN.yaml ...`, also with flags before the plan. Behind --
// nothing is a flag or a command, so a plan may have any name.
func (p *program) shorthand(root *cobra.Command, args []string) []string {
	if len(args) == 0 || !isPlan(args[0]) && !strings.HasPrefix(args[0], "-") {
		return args
	}
	ended := false
	for _, a := range args {
		switch {
		case isPlan(a) && (ended || !strings.HasPrefix(a, "-")):
			return append([]string{"run"}, args...)
		case ended:
			return args
		case a == "--":
			ended = true
			continue
		}
		if c, _, err := root.Find([]string{a}); err == nil && c != root {
			return args
		}
	}
	return args
}
