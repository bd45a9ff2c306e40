package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed first.yaml
var firstPlan string

func (p *program) initCommand() *cobra.Command {
	var address string
	c := &cobra.Command{
		Use:   "init [FILE.yaml]",
		Short: "Write a first plan: a target of your own beside nginx",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file := "plan.yaml"
			if len(args) == 1 {
				file = args[0]
			}
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s is there already; name another file", file)
			}
			if err != nil {
				return fmt.Errorf("writing the plan: %w", err)
			}
			if _, err := f.WriteString(strings.ReplaceAll(firstPlan, "127.0.0.1:8080", address)); err != nil {
				return errors.Join(fmt.Errorf("writing the plan: %w", err), f.Close())
			}
			if err := f.Close(); err != nil {
				return fmt.Errorf("writing the plan: %w", err)
			}
			_, err = fmt.Fprintf(p.out, "%s: edit the target \"mine\", then: planrun check %s && planrun %s\n", file, file, file)
			return err
		},
	}
	c.Flags().StringVar(&address, "address", "127.0.0.1:8080", "where your own target listens")
	return c
}
