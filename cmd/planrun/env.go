package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/engine/machine"
)

func (p *program) envCommand() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "env [PLAN.yaml]",
		Short: "Print what this machine offers and lacks, for a plan",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e := machine.Environment()
			w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
			fmt.Fprintf(w, "machine\t%s, %d CPUs (%s), %.0f MiB, kernel %s\n", e.OS, e.CPUs, e.CPUModel, e.MemoryMiB, e.Kernel)
			for _, o := range machine.Offers() {
				mark := "yes"
				if !o.OK {
					mark = "no"
				}
				fmt.Fprintf(w, "%s\t%s: %s\n", o.Feature, mark, o.Detail)
			}
			if len(args) == 1 {
				prog, err := p.compile(args[0], f)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "\n%s wants\t\n", prog.Plan.Name)
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
				for _, m := range prog.Programs() {
					found := "yes: " + m.Path
					if m.Path == "" {
						found = "no: not on PATH; its cells will be unsupported"
					}
					fmt.Fprintf(w, "program %s (%s)\t%s\n", m.Name, m.Target, found)
				}
				for _, x := range prog.Later {
					fmt.Fprintf(w, "not in this build\t%s: %s\n", x.Pos, x.Msg)
				}
			}
			return w.Flush()
		},
	}
	f.add(c.Flags())
	return c
}
