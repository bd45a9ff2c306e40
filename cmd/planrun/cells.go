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
	left := false
	for _, c := range prog.Cells {
		names = append(names, c.Coord.Stage, c.Coord.Target, c.Coord.Scenario)
		for _, a := range c.Coord.Matrix {
			names = append(names, a.Name+"="+a.Value)
		}
		targets = append(targets, c.Coord.Target)
		left = left || c.LeftOut == ""
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
	if !left {
		return fmt.Errorf("nothing is left to run: --only, --skip and `when` leave every cell out; planrun show lists the cells")
	}
	if !slices.Contains(targets, gate) {
		return fmt.Errorf("--gate %s: neither plan, all or none, nor a target of the plan; %s", gate, dsl.Suggest(gate, targets, "there are"))
	}
	return nil
}
