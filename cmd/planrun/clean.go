package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/report"
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
				if text := undone(e); text != "" {
					fmt.Fprintln(p.out, "undone:", text)
				}
			}
			for _, f := range r.Failed {
				fmt.Fprintf(p.out, "not undone: %v\n", f)
			}
			for _, d := range r.Damaged {
				fmt.Fprintf(p.out, "not undone: %v\n", d)
			}
			if len(r.Damaged) > 0 {
				p.exit = exitNotUndone
				return fmt.Errorf("%s of %s cannot be read: undo by hand what it says, remove the line and run planrun clean %s again",
					report.Count(len(r.Damaged), "line"), filepath.Join(dir, journal.File), dir)
			}
			if len(r.Failed) > 0 {
				p.exit = exitNotUndone
				return fmt.Errorf("%s could not be undone; run planrun clean %s again", report.Count(len(r.Failed), "change"), dir)
			}
			if len(r.Undone) == 0 {
				_, err = fmt.Fprintf(p.out, "%s: nothing was left to undo\n", dir)
				return err
			}
			_, err = fmt.Fprintf(p.out, "%s: %s undone, nothing is left\n", dir, report.Count(len(r.Undone), "change"))
			return err
		},
	}
	c.Flags().DurationVar(&budget, "budget", 30*time.Second, "time for each change")
	return c
}

// undone says what an entry was about; of the two entries of a process only the one that knows its process id speaks.
func undone(e journal.Line) string {
	var d struct {
		Name, Path, URL string
		Replica, PID    int
		Command         []string
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return e.Kind
	}
	switch {
	case e.Kind == proc.KindProcess && d.PID == 0:
		return ""
	case e.Kind == proc.KindProcess:
		return fmt.Sprintf("process %s/%d (was %d) has ended", d.Name, d.Replica, d.PID)
	case d.Path != "":
		return e.Kind + " " + d.Path
	case len(d.Command) > 0:
		return e.Kind + " " + strings.Join(d.Command, " ")
	}
	return e.Kind + " " + cmp.Or(d.Name, d.URL)
}
