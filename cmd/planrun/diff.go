package main

import (
	"errors"
	"fmt"
	"io"
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
		Use:   "diff A[,A2...] B[,B2...]",
		Short: "Compare two result sets: what differs between them, and what B is better and worse in",
		Long: `Compare two result sets, A (before) and B (after), or two targets of one: DIR:TARGET DIR:TARGET.

A side may be several sets of the same thing, with commas between them: A,A2 B,B2. Its runs are then those of all of them, and
how far its sets lie apart is part of the noise floor. Of a side of one set that is not known: runs that follow one another
lie closer together than those of another hour. Three sets a side, measured in turns, tell it well.

First comes what differs beside the figures: the plan, the machine, the programs. Then each metric of each cell that both
have, with the ratio B/A, its range, and whether B is better, worse, within the noise, or why that cannot be said; what got
worse stands first. Beyond the noise is a ratio that is outside the noise floor, and whose 95 % interval is all on that side of 1. Sets that did not measure the same thing (other windows, other loads, metrics of another definition)
are refused unless --force is given.

--gate is a condition over each row, in the language of verdicts. It may read metric, scenario, target, stage, matrix.AXIS,
ratio (B/A), low and high (its range), noise ("beyond", "within", "unknown"), floor (the noise floor, as a factor),
repeats (the part of it that is of further sets and of other stages), outcome ("better", "worse", "differs", "within noise", "equal"; failures where A has none are worse), better ("lower", "higher", ""), value_a, value_b,
n_a and n_b (runs). The value of what is summed, such as failed, is that of all runs, so value_a and value_b can be
judged only if n_a == n_b; failed.mean is that of one run. What a row does not have, because it is n/a, its noise is not known or a guard spoils it, satisfies
nothing: a gate over all metrics cannot be judged as soon as it asks something of a row that the row does not have, so
choose with --metric, or in the condition (metric != "failed" || ...). So it is as soon as B lacks a cell that A has results
of; choose with --only. The gate of a release: --metric req_per_s --gate 'ratio >= 0.98 || outcome == "within noise"'.

Exit codes: 0, or with --gate 1 if it is false for a row and 3 if it cannot be evaluated for one, or there is no row;
2 if the sets cannot be compared.`,
		Example: `  planrun diff results/before results/latest
  planrun diff results/before results/latest --metric '*_ms' --format csv
  planrun diff results/before,results/again results/latest
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
	defer sparing()()
	write, ok := diffFormats[f.format]
	if !ok {
		return fmt.Errorf("--format %s: %s", f.format, dsl.Suggest(f.format, []string{"text", "md", "json", "csv"}, "there are"))
	}
	a, b, err := twoSides(args)
	if err != nil {
		return err
	}
	if err := knownCells(f.only, slices.Concat([]*diff.Set{a, b}, a.More, b.More)...); err != nil {
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
		return fmt.Errorf("--metric: %w; %s", err, dsl.Suggest(none.Pattern, none.Known, "there are"))
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

// knownCells finds words of --only that neither set has, and words that no cell has together.
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
		chosen := func(s *diff.Set) bool {
			return slices.ContainsFunc(s.Results.Cells, func(c record.Cell) bool {
				return (s.Target == "" || s.Target == c.Coord.Target) && engine.Selects(pattern, c.Coord)
			})
		}
		if !slices.ContainsFunc(sets, chosen) {
			return fmt.Errorf("--only %s: no cell that is compared has all of that; leave a part of it out, or write * for one", pattern)
		}
	}
	return nil
}
