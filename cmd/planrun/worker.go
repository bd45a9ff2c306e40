package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/serve/faults"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/proxy"
	"github.com/planrun/planrun/internal/serve/relay"
)

// workers are the processes of planrun's own, by kind. They are spoken to over standard input and output.
var workers = map[string]func(io.Reader, io.Writer) error{
	"load": load.Main, "origin": origin.Main, "proxy": proxy.Main, "relay": relay.Main, "faults": faults.Main,
}

func (p *program) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker KIND",
		Short:  "Be a worker process of an engine, over standard input and output",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			main, ok := workers[args[0]]
			if !ok {
				return fmt.Errorf("no worker is called %q; there are %s", args[0], strings.Join(slices.Sorted(maps.Keys(workers)), ", "))
			}
			if err := main(p.in, p.out); err != nil {
				p.exit = exitHarness
				return err
			}
			return nil
		},
	}
}
