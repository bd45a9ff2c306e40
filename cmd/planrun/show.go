package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/internal/plural"
)

func (p *program) showCommand() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "show PLAN.yaml",
		Short: "Print what a plan would do, when, and what it takes; run nothing",
		Long: `Print what a plan would do: the cells of each stage, target by target, when each action happens, and how many requests,
connections, descriptors and ports it takes. A stage that has rounds or another order says so. Nothing is run.`,
		Example: `  planrun show quickstart.yaml
  planrun show plan.yaml --preset smoke --only mine`,
		Args: onePlan,
		RunE: func(_ *cobra.Command, args []string) error {
			prog, err := p.compile(args[0], f)
			if err != nil {
				return err
			}
			w := bufio.NewWriter(p.out)
			show(w, prog)
			return w.Flush()
		},
	}
	f.add(c.Flags())
	return c
}

func show(w io.Writer, prog *engine.Program) {
	fmt.Fprint(w, prog.Plan.Name)
	if prog.Plan.About != "" {
		fmt.Fprintf(w, ": %s", prog.Plan.About)
	}
	fmt.Fprintln(w)
	last, stage := "", ""
	for _, c := range prog.Cells {
		if c.Coord.Stage != stage {
			stage = c.Coord.Stage
			showOrder(w, prog, stage)
		}
		if head := c.Coord.Stage + " / " + c.Coord.Target; head != last {
			fmt.Fprintf(w, "\n%s\n", head)
			last = head
			if c.LeftOut == "" && c.Unsupported == "" {
				for _, l := range c.Install() {
					fmt.Fprintf(w, "  install  %s%s\n", l.Name, open(l.Open))
				}
			}
		}
		showCell(w, c)
	}
	if prog.Plan.IsPublished() {
		fmt.Fprintf(w, "\nNothing of it is run: these are figures that others published (%s).\n", prog.Plan.Published)
		return
	}
	t := prog.Takes()
	fmt.Fprintf(w, "\nIn all: %s, about %s without installing and draining", plural.Of(t.Runs, "run"), round(t.Time))
	if t.Open > 0 {
		fmt.Fprintf(w, " (%s that only running will determine are not counted)", plural.Of(t.Open, "length"))
	}
	fmt.Fprint(w, ".\n")
	if t.Checks > 0 {
		fmt.Fprintf(w, "Of this at most %s are cross-checks by other load generators; %s.\n", round(t.Checks), without(prog.CheckedBy()))
	}
	if t.Requests > 0 {
		fmt.Fprintf(w, "Open loops send %s requests; closed", plural.Grouped(int64(t.Requests)))
	} else {
		fmt.Fprint(w, "Closed")
	}
	fmt.Fprint(w, " loops send as many as the targets answer.\n")
	fmt.Fprintf(w, "At most %s at the same time: as many descriptors and source ports of the load, and as many descriptors of the target.\n", plural.Of(t.Connections, "connection"))
}

// without says how cross-checks are left out, which these params of the plan list.
func without(params []string) string {
	if len(params) == 0 {
		return "to leave them out, write cross-check: [] in the loads"
	}
	for i, name := range params {
		params[i] = "--set " + name + "='[]'"
	}
	return "to leave them out: " + strings.Join(params, " ")
}

// showOrder says how a stage orders its runs, if not once and target by target.
func showOrder(w io.Writer, prog *engine.Program, name string) {
	for _, st := range prog.Stages {
		if st.Name != name {
			continue
		}
		var how []string
		if st.Rounds == 0 {
			how = append(how, "rounds that only running will determine")
		} else if st.Rounds > 1 {
			how = append(how, plural.Of(st.Rounds, "round"))
		}
		if o := st.Part.Val.Order; o != "" && o != "blocked" {
			how = append(how, "order "+o)
		}
		if st.Part.Val.Together {
			how = append(how, "all targets installed together")
		}
		if len(how) > 0 {
			fmt.Fprintf(w, "\nstage %s: %s\n", name, strings.Join(how, ", "))
		}
	}
}

func showCell(w io.Writer, c *engine.Cell) {
	name := c.Coord.Scenario
	for _, a := range c.Coord.Matrix {
		name += " " + a.Name + "=" + a.Value
	}
	switch {
	case c.LeftOut != "":
		fmt.Fprintf(w, "  %s: %s\n", name, c.LeftOut)
		return
	case c.Unsupported != "":
		fmt.Fprintf(w, "  %s: unsupported: %s\n", name, c.Unsupported)
		return
	case c.Repeats == 0:
		fmt.Fprintf(w, "  %s, as often as its stage determines\n", name)
	default:
		fmt.Fprintf(w, "  %s, %s\n", name, plural.Of(c.Repeats, "run"))
	}
	phase, begin := "", time.Duration(0)
	length := time.Duration(0)
	var checks []string
	for _, l := range c.Timeline() {
		for _, generator := range l.CrossChecks {
			checks = append(checks, fmt.Sprintf("              then cross-check of %s by %s for at most %s", l.Name, generator, round(l.CheckFor)))
		}
		if l.Phase != phase {
			begin += length
			phase, length = l.Phase, l.PhaseFor
			until := "until its actions are over"
			if l.PhaseFor > 0 {
				until = "for " + l.PhaseFor.String()
			}
			fmt.Fprintf(w, "    %8s  %s (%s) %s\n", round(begin), l.Phase, l.PhaseKind, until)
		}
		if l.Kind != "" {
			fmt.Fprintf(w, "    %8s    %s\n", round(begin+l.At), action(l))
		}
	}
	for _, text := range checks {
		fmt.Fprintln(w, text)
	}
}

func action(l engine.Line) string {
	s := l.Kind
	switch {
	case strings.HasPrefix(l.Name, l.Kind+" "): // it says the kind itself
		s = l.Name
	case l.Name != l.Kind:
		s += " " + l.Name
	}
	if l.Every > 0 {
		s += fmt.Sprintf(", every %v", l.Every)
	}
	switch {
	case l.Through != "":
		s += ", through " + l.Through
	case l.Lasts > 0:
		s += fmt.Sprintf(", for %v", l.Lasts)
	}
	if l.Requests > 0 {
		s += fmt.Sprintf(", %.0f requests", l.Requests)
	}
	if l.Needs.Connections > 0 {
		s += ", " + plural.Of(l.Needs.Connections, "connection")
	}
	return s + open(l.Open)
}

func open(exprs []string) string {
	if len(exprs) == 0 {
		return ""
	}
	return "  (known later: " + strings.Join(slices.Compact(slices.Sorted(slices.Values(exprs))), ", ") + ")"
}

func round(d time.Duration) string { return d.Round(time.Millisecond).String() }
