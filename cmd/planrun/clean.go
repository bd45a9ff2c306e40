package main

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/internal/plural"
)

func (p *program) cleanCommand() *cobra.Command {
	var budget time.Duration
	c := &cobra.Command{
		Use:   "clean [DIR]",
		Short: "Undo what a planrun that was killed left behind, from its journal",
		Long: `Undo what a planrun that was killed left behind (of the newest result set if none is named), from the journal alone, the last
change first. Only processes that the run started are ended: their token, boot and start time must match. It may be repeated.`,
		Example: `  planrun clean
  planrun clean results/before`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := oneSet(args)
			if err != nil {
				return err
			}
			r, err := journal.Clean(c.Context(), dir, undos, budget, slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: slog.LevelWarn})))
			if err != nil {
				return err
			}
			for _, n := range r.Notes {
				fmt.Fprintln(p.err, "note:", n)
			}
			for _, e := range r.Undone {
				if text := journal.About(undos, e); text != "" {
					fmt.Fprintln(p.out, "undone:", text)
				}
			}
			for _, f := range r.Failed {
				fmt.Fprintf(p.out, "not undone: %s: %v (entry %d of %s)\n", f.About, f.Err, f.Line.Seq, filepath.Join(dir, journal.File))
			}
			for _, d := range r.Damaged {
				fmt.Fprintf(p.out, "not undone: %v\n", d)
			}
			if len(r.Damaged) > 0 {
				p.exit = exitNotUndone
				return fmt.Errorf("%s of %s cannot be read: undo by hand what it says, remove the line and run planrun clean %s again",
					plural.Of(len(r.Damaged), "line"), filepath.Join(dir, journal.File), dir)
			}
			if len(r.Failed) > 0 {
				p.exit = exitNotUndone
				return fmt.Errorf("%s could not be undone; run planrun clean %s again", plural.Of(len(r.Failed), "change"), dir)
			}
			if len(r.Undone) == 0 {
				_, err = fmt.Fprintf(p.out, "%s: nothing was left to undo\n", dir)
				return err
			}
			_, err = fmt.Fprintf(p.out, "%s: %s undone, nothing is left\n", dir, plural.Of(len(r.Undone), "change"))
			return err
		},
	}
	c.Flags().DurationVar(&budget, "budget", 30*time.Second, "time for each change")
	return c
}
