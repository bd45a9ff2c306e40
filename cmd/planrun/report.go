package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
)

func (p *program) reportCommand() *cobra.Command {
	var old []string
	c := &cobra.Command{
		Use:   "report [DIR]",
		Short: "Write the report of a result set again",
		Long: `Write the report of a result set again (the newest one if none is named), also of one whose planrun was killed: what there is
is reported.

With --beside the figures of an earlier result set stand in every table behind today's, with the ratio of today's to them and
how that stands against the noise. Cells are matched by stage, scenario, target and matrix values; what has no counterpart,
and what was not measured alike, is listed.`,
		Example: `  planrun report
  planrun report results/before
  planrun report results/latest --beside results/before=v1.2`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := oneSet(args)
			if err != nil {
				return err
			}
			earlier, err := earlierSets(old)
			if err != nil {
				return err
			}
			out, err := p.concludeBeside(args, "plan", func(res *record.Results) ([]report.Beside, error) {
				columns, err := earlier.beside(dir, res)
				if err != nil {
					p.exit = exitUsage // what was named does not go together
				}
				return columns, err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.out, "%s\n%s\n", relative(out.Set.Path("report.md")), relative(out.Set.Path("report.html")))
			return err
		},
	}
	c.Flags().StringArrayVar(&old, "beside", nil, "an earlier result set as columns: `DIR` or DIR=LABEL; may be repeated")
	return c
}

// earlier are the result sets that stand beside another one, with what heads their columns.
type earlier struct {
	sets   []*diff.Set
	labels []string
}

func earlierSets(args []string) (e earlier, err error) {
	for _, arg := range args {
		dir, label := labelled(arg)
		if label == "" {
			label = filepath.Base(filepath.Clean(dir))
		}
		if slices.Contains(e.labels, label) {
			return e, fmt.Errorf("--beside: two result sets are called %s; give them labels: --beside %s=LABEL", label, dir)
		}
		if _, err := oneSet([]string{dir}); err != nil {
			return e, fmt.Errorf("--beside: %w", err)
		}
		set, err := diff.Open(dir, diff.Options{Name: dir, Tree: dsl.Tree})
		if err != nil {
			return e, err
		}
		e.sets, e.labels = append(e.sets, set), append(e.labels, label)
	}
	return e, nil
}

// labelled splits DIR=LABEL at the first = before which a directory stands; where none does, at the last one.
func labelled(arg string) (dir, label string) {
	there := func(path string) bool { info, err := os.Stat(path); return err == nil && info.IsDir() }
	if there(arg) {
		return arg, ""
	}
	dir = arg
	for at, r := range arg {
		if r != '=' || at == 0 {
			continue
		}
		if dir, label = arg[:at], arg[at+1:]; there(dir) {
			break
		}
	}
	return dir, label
}

// beside matches them with the result set that is reported, whose results are res.
func (e earlier) beside(dir string, res *record.Results) (out []report.Beside, err error) {
	if len(e.sets) == 0 {
		return nil, nil
	}
	now, err := diff.Open(dir, diff.Options{Name: dir, Tree: dsl.Tree})
	if err != nil {
		return nil, err
	}
	now.Results = res
	for i, then := range e.sets {
		b, err := diff.Beside(then, now, e.labels[i])
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
