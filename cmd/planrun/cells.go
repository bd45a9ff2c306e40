package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine"
)

// checkCells finds what the command line says of cells and targets that the plan does not have.
func checkCells(prog *engine.Program, f planFlags, gate string) error {
	names, targets := []string{"*"}, []string{"plan", "all", "none"}
	var out []string // why cells are left out
	for _, c := range prog.Cells {
		names = append(names, c.Coord.Stage, c.Coord.Target, c.Coord.Scenario)
		for _, a := range c.Coord.Matrix {
			names = append(names, a.Name+"="+a.Value)
		}
		targets = append(targets, c.Coord.Target)
		if c.LeftOut != "" {
			out = append(out, strings.TrimPrefix(c.LeftOut, "left out "))
		}
	}
	slices.Sort(names)
	slices.Sort(targets[3:])
	names, targets = slices.Compact(names), slices.Compact(targets)
	for _, flag := range []struct {
		name     string
		patterns []string
	}{{"--only", f.only}, {"--skip", f.skip}} {
		for _, pattern := range flag.patterns {
			for _, part := range strings.Split(pattern, "/") {
				if !slices.Contains(names, part) {
					return fmt.Errorf("%s %s: the plan has no stage, target, scenario or axis=value %q; %s", flag.name, pattern, part, dsl.Suggest(part, names, "there are"))
				}
			}
		}
	}
	if len(out) == len(prog.Cells) {
		slices.Sort(out)
		return fmt.Errorf("nothing is left to run: every cell is left out (%s); planrun show lists the cells", strings.Join(slices.Compact(out), ", "))
	}
	if !slices.Contains(targets, gate) {
		return fmt.Errorf("--gate %s: neither plan, all or none, nor a target of the plan; %s", gate, dsl.Suggest(gate, targets, "there are"))
	}
	return nil
}
