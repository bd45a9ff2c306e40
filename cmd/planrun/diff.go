package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
)

// diffFlags are those of planrun diff.
type diffFlags struct {
	metrics, only []string
	gate, format  string
	force         bool
}

// diffFormats are the forms of a comparison.
var diffFormats = map[string]func(*diff.Diff, io.Writer) error{
	"text": func(d *diff.Diff, w io.Writer) error { return report.WriteText(w, d.Document()) },
	"md":   func(d *diff.Diff, w io.Writer) error { return report.WriteMarkdown(w, d.Document()) },
	"json": (*diff.Diff).WriteJSON,
	"csv":  (*diff.Diff).WriteCSV,
}

func (p *program) diffCommand() *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two result sets: what differs between them, and what B is better and worse in",
		Long: `Compare two result sets, A (before) and B (after), or two targets of one: DIR:TARGET DIR:TARGET.

First comes what differs beside the figures: the plan, the machine, the programs. Then each metric of each cell that both
have, with the ratio B/A, its range, and whether B is better, worse, within the noise, or why that cannot be said; what got
worse stands first. Sets that did not measure the same thing (other windows, other loads, metrics of another definition)
are refused unless --force is given.

--gate is a condition over each row, in the language of verdicts. It may read metric, scenario, target, stage, matrix.AXIS,
ratio (B/A), low and high (its range), noise ("beyond", "within", "unknown"), floor (the noise floor, as a factor),
outcome ("better", "worse", "differs", "within noise", "equal"; failures where A has none are worse), better ("lower", "higher", ""), value_a, value_b,
n_a and n_b (runs). The value of what is summed, such as failed, is that of all runs, so value_a and value_b can be
judged only if n_a == n_b; failed.mean is that of one run. What a row does not have, because it is n/a, its noise is not known or a guard spoils it, satisfies
nothing: a gate over all metrics cannot be judged as soon as it asks something of a row that the row does not have, so
choose with --metric, or in the condition (metric != "failed" || ...). So it is as soon as B lacks a cell that A has results
of; choose with --only. The gate of a release: --metric req_per_s --gate 'ratio >= 0.98 || outcome == "within noise"'.

Exit codes: 0, or with --gate 1 if it is false for a row and 3 if it cannot be evaluated for one, or there is no row;
2 if the sets cannot be compared.`,
		Example: `  planrun diff results/before results/latest
  planrun diff results/before results/latest --metric '*_ms' --format csv
  planrun diff results/before results/latest --metric failed.mean --gate 'value_b <= value_a'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("gate") && strings.TrimSpace(f.gate) == "" {
				return errors.New("--gate has no condition; give one, such as --gate 'outcome != \"worse\"', or leave --gate out")
			}
			return p.diff(args, f)
		},
	}
	s := c.Flags()
	s.StringArrayVar(&f.metrics, "metric", nil, "`METRIC`S to compare instead of the usual ones: p99_ms, *_ms, phase/fault/p99_ms.max; may be repeated")
	s.StringSliceVar(&f.only, "only", nil, "only these `CELLS`: a stage, target, scenario or axis=value, or several with / between them, of which all must fit (* is any); given again, or with a comma, it adds cells")
	s.StringVar(&f.gate, "gate", "", "a condition (`EXPR`) that must hold for every row")
	s.StringVar(&f.format, "format", "text", "`FORM` of the output: text, md, json, csv")
	s.BoolVar(&f.force, "force", false, "compare also what was not measured in the same way")
	return c
}

func (p *program) diff(args []string, f diffFlags) error {
	write, ok := diffFormats[f.format]
	if !ok {
		return fmt.Errorf("--format %s: %s", f.format, dsl.Suggest(f.format, []string{"text", "md", "json", "csv"}, "there are"))
	}
	a, b, err := twoSets(args)
	if err != nil {
		return err
	}
	if err := knownCells(f.only, a, b); err != nil {
		return err
	}
	opt := diff.CompareOptions{Metrics: f.metrics}
	if len(f.only) > 0 {
		opt.Only = func(c record.Coord) bool {
			return slices.ContainsFunc(f.only, func(pattern string) bool { return engine.Selects(pattern, c) })
		}
	}
	d, err := diff.Compare(a, b, opt)
	var none *diff.NoMetric
	if errors.As(err, &none) {
		return fmt.Errorf("--metric %w; %s", err, dsl.Suggest(none.Pattern, none.Known, "there are"))
	}
	if err != nil {
		return err
	}
	if len(d.Mismatches) > 0 && !f.force {
		return refused(d)
	}
	d.Forced = f.force && len(d.Mismatches) > 0
	gate, err := p.rowGate(f.gate, d)
	if err != nil {
		return err
	}
	if err := write(d, p.out); err != nil {
		p.exit = exitHarness
		return fmt.Errorf("writing the comparison: %w", err)
	}
	if gate != nil {
		p.exit, err = gate.judge(d, p.err)
	}
	return err
}

// refused says what keeps two sets from being compared.
func refused(d *diff.Diff) error {
	var s strings.Builder
	s.WriteString("A and B did not measure the same thing:\n")
	for _, m := range d.Mismatches {
		fmt.Fprintf(&s, "  - %s\n", m)
	}
	s.WriteString("run one of them again like the other, leave cells out with --only, or compare all the same with --force")
	return errors.New(s.String())
}

// twoSets opens what the arguments name: two result sets, or a target of each.
func twoSets(args []string) (a, b *diff.Set, err error) {
	if len(args) != 2 {
		return nil, nil, fmt.Errorf("diff compares two result sets: planrun diff A B; there %s", are(len(args), "argument"))
	}
	var sets [2]*diff.Set
	var targets int
	for i, arg := range args {
		dir, target := arg, ""
		if _, err := os.Stat(dir); err != nil {
			if at := strings.LastIndexByte(arg, ':'); at > 0 {
				dir, target = arg[:at], arg[at+1:]
				targets++
			}
		}
		if dir, err = oneSet([]string{filepath.Clean(dir)}); err != nil {
			return nil, nil, err
		}
		sets[i], err = diff.Open(dir, diff.Options{Name: dir, Target: target, Tree: dsl.Tree})
		var none *diff.NoTarget
		if errors.As(err, &none) {
			return nil, nil, fmt.Errorf("%w; %s", err, dsl.Suggest(none.Target, none.Known, "there are"))
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if targets == 1 {
		return nil, nil, fmt.Errorf("one side names a target, the other does not; name one on both: %s:TARGET %s:TARGET", sets[0].Name, sets[1].Name)
	}
	return sets[0], sets[1], nil
}

func are(n int, what string) string {
	if n == 1 {
		return "is 1 " + what
	}
	return "are " + plural(n, what)
}

// knownCells finds words of --only that neither set has.
func knownCells(only []string, sets ...*diff.Set) error {
	names := []string{"*"}
	for _, s := range sets {
		for _, c := range s.Results.Cells {
			names = append(names, c.Coord.Stage, c.Coord.Target, c.Coord.Scenario)
			for _, a := range c.Coord.Matrix {
				names = append(names, a.Name+"="+a.Value)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, pattern := range only {
		for _, part := range strings.Split(pattern, "/") {
			if !slices.Contains(names, part) {
				return fmt.Errorf("--only %s: neither set has a stage, target, scenario or axis=value %q; %s", pattern, part, dsl.Suggest(part, names, "there are"))
			}
		}
	}
	return nil
}
