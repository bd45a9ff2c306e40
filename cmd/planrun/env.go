package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/machine"
)

func (p *program) envCommand() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "env [PLAN.yaml]",
		Short: "Print what this machine offers and lacks, for a plan",
		Example: `  planrun env
  planrun env quickstart.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			var prog *engine.Program
			if len(args) > 1 {
				return fmt.Errorf("one plan at a time: there is %q beside %q", args[1], args[0])
			}
			if len(args) == 1 {
				var err error
				if prog, err = p.compile(args[0], f); err != nil {
					return err
				}
			}
			w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
			offers(w)
			if prog != nil {
				wants(w, prog)
			}
			return w.Flush()
		},
	}
	f.add(c.Flags())
	return c
}

// offers prints what the machine has.
func offers(w io.Writer) {
	e := machine.Environment()
	fmt.Fprintf(w, "machine\t%s, %d CPUs (%s), %.0f MiB, kernel %s\n", e.OS, e.CPUs, e.CPUModel, e.MemoryMiB, e.Kernel)
	for _, o := range machine.Offers() {
		mark := "yes"
		if !o.OK {
			mark = "no"
		}
		fmt.Fprintf(w, "%s\t%s: %s\n", o.Feature, mark, o.Detail)
	}
}

// wants prints what a plan needs of it.
func wants(w io.Writer, prog *engine.Program) {
	t := prog.Takes()
	fmt.Fprintf(w, "\n%s wants\t\n", prog.Plan.Name)
	fmt.Fprintf(w, "connections\t%d at the same time, at most\n", t.Connections)
	layout := map[string][]int{}
	for _, c := range prog.Host.CPUs {
		layout[c.Name] = c.Val
		fmt.Fprintf(w, "CPUs of %s\t%s\n", c.Name, machine.List(c.Val))
	}
	l := machine.CheckLayout(layout)
	for _, x := range l.Problems {
		fmt.Fprintf(w, "CPUs\tno: %s\n", x)
	}
	for _, x := range l.Warnings {
		fmt.Fprintf(w, "CPUs\twarning: %s\n", x)
	}
	for _, x := range prog.Wants() {
		found := "yes: " + x.Detail
		if !x.OK {
			found = fmt.Sprintf("no: %s; the cells that need it (%d) will be unsupported", x.Detail, x.Cells)
		}
		fmt.Fprintf(w, "%s\t%s\n", x.Feature, found)
	}
	programs := prog.Programs()
	for _, m := range programs {
		found := "yes: " + m.Path
		switch {
		case m.Path == "" && m.Optional:
			found = "no: not in PATH; what needs it will be left out"
		case m.Path == "":
			found = "no: not in PATH; its cells will be unsupported"
		}
		fmt.Fprintf(w, "program %s (%s)\t%s\n", m.Name, m.Target, found)
	}
	if len(programs) == 0 {
		fmt.Fprintf(w, "programs\tnone but planrun itself\n")
	}
	for _, x := range prog.Later {
		fmt.Fprintf(w, "not in this build\t%s: %s\n", x.Pos, x.Msg)
	}
}
