package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/internal/plural"
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
and what was not measured alike, is listed. They come behind those that the plan names itself (beside: in its report).`,
		Example: `  planrun report
  planrun report results/before
  planrun report results/latest --beside results/before=v1.2`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			out, err := p.concludeBeside(args, "plan", old)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(p.out, "%s\n%s\n", relative(out.Set.Path("report.md")), relative(out.Set.Path("report.html"))); err != nil {
				return err
			}
			if n := len(out.Input.Unread); n > 0 {
				p.exit = exitHarness
				return fmt.Errorf("not everything that was recorded of %s could be read: the report is made of the rest, and says which", plural.Of(n, "run"))
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&old, "beside", nil, "an earlier result set as columns: `DIR` or DIR=LABEL; may be repeated")
	return c
}
