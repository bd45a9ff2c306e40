package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
)

//go:embed first.yaml
var firstPlan string

// A first is what init writes into a first plan.
type first struct{ Address, Backend, Binary string }

func (p *program) initCommand() *cobra.Command {
	var f first
	c := &cobra.Command{
		Use:   "init [PLAN.yaml]",
		Short: "Write a first plan: a target of your own beside nginx",
		Long: `Write a first plan (plan.yaml if no other name is given): a target of your own beside nginx, in front of the same backend, with
its ratio to nginx in the report. Your own target is a program that planrun starts, or something that already runs.`,
		Example: `  planrun init
  planrun init mine.yaml --binary ./my-proxy
  planrun init running.yaml --address 127.0.0.1:8080 --backend 127.0.0.1:9000`,
		RunE: func(c *cobra.Command, args []string) error {
			file := "plan.yaml"
			if len(args) > 0 {
				file = args[0]
			}
			if strings.HasPrefix(file, "-") { // it stood behind --; the commands that are printed need none
				file = "./" + file
			}
			if len(args) > 1 {
				return fmt.Errorf("one plan at a time: there is %q beside %q", args[1], args[0])
			}
			if !isPlan(file) {
				return fmt.Errorf("%s: a plan's name ends in .yaml or .yml", file)
			}
			switch given := c.Flags().Changed; {
			case given("address") && given("binary"):
				return errors.New("--binary and --address: your own target is a program that planrun starts, or something that already runs; give one of them")
			case given("backend") && !given("address"):
				return errors.New("--backend is what the target of --address forwards to; a program that planrun starts gets a backend of planrun's own")
			}
			text, err := f.plan(file)
			if err != nil {
				return err
			}
			if err := writeNew(file, text); err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.out, "%s is written: see what it says of the target mine, then\n  planrun check %s\n  planrun %s\n", file, file, file)
			return err
		},
	}
	c.Flags().StringVar(&f.Binary, "binary", "my-proxy", "your own `PROGRAM`, by its path or as it is found in PATH")
	c.Flags().StringVar(&f.Address, "address", "", "`HOST:PORT` where your own target already listens, instead of a program")
	c.Flags().StringVar(&f.Backend, "backend", "127.0.0.1:9000", "with --address: `HOST:PORT` of what it forwards to, so that nginx forwards there too")
	return c
}

// plan is the text of the plan that will be in a file.
func (f first) plan(file string) (string, error) {
	for _, a := range []struct{ flag, value string }{{"--address", f.Address}, {"--backend", f.Backend}} {
		if _, port, err := net.SplitHostPort(a.value); a.value != "" && (err != nil || port == "") {
			return "", fmt.Errorf("%s %s: want HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080", a.flag, a.value)
		}
	}
	if strings.Contains(f.Binary, "/") && !filepath.IsAbs(f.Binary) { // a plan's paths begin at its file
		path, err := between(filepath.Dir(file), f.Binary)
		if err != nil {
			return "", fmt.Errorf("finding %s: %w", f.Binary, err)
		}
		f.Binary = "./" + path
	}
	f.Binary = strconv.Quote(f.Binary) // also a scalar of YAML
	var b bytes.Buffer
	err := template.Must(template.New("first").Delims("[[", "]]").Parse(firstPlan)).Execute(&b, f)
	return b.String(), err
}

// between is the path from a directory to a file.
func between(dir, file string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// writeNew writes a file that is not there yet.
func writeNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; name another file", file)
	}
	if err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	if _, err := f.WriteString(text); err != nil {
		return errors.Join(fmt.Errorf("writing the plan: %w", err), f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}
