package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/serve"
)

// workers are the processes of planrun's own. They are spoken to over standard input and output.
func workers() []serve.Kind {
	return append([]serve.Kind{{Name: "load", Doc: "the load generator", Main: load.Main}}, serve.Kinds...)
}

func (p *program) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker KIND",
		Short:  "Be a worker process of an engine, over standard input and output",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all := workers()
			i := slices.IndexFunc(all, func(k serve.Kind) bool { return k.Name == args[0] })
			if i < 0 {
				var names []string
				for _, k := range all {
					names = append(names, k.Name)
				}
				return fmt.Errorf("no worker is called %q; there are %s", args[0], strings.Join(names, ", "))
			}
			if err := all[i].Main(p.in, p.out); err != nil {
				p.exit = exitHarness
				return err
			}
			return nil
		},
	}
}
