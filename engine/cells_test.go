package engine_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

func TestSelects(t *testing.T) {
	cell := record.Coord{Stage: "main", Target: "nginx", Scenario: "small", Matrix: []record.Axis{{Name: "size", Value: "1"}}}
	for pattern, want := range map[string]bool{
		"*": true, "*/*": true, "nginx": true, "main": true, "small": true, "size=1": true, "nginx/*/size=1": true,
		"caddy": false, "size=2": false, "nginx/size=2": false, "*/caddy": false, "": false,
	} {
		if engine.Selects(pattern, cell) != want {
			t.Errorf("%q selects the cell: %v", pattern, !want)
		}
	}
}

// Who left a cell out is said as it was: the plan, or the command line beside it. A value that no cell has is a problem,
// also where an expression gives the values.
func TestCellsLeftOut(t *testing.T) {
	const plan = `
plan: p
only: %s
skip: %s
params: {big: 2}
targets: {t: {endpoints: {http: "127.0.0.1:1"}}, u: {extends: t}, v: {extends: t}}
scenarios: {s: {matrix: {size: [1, "${{ params.big }}"]}, phases: [measure: {for: 1s}]}}
`
	for _, c := range []struct {
		only, skip   string
		flags        dsl.Options
		want         []string
		wantProblems string
	}{
		{"[t, u]", "[size=2]", dsl.Options{Only: []string{"t"}, Skip: []string{"t"}}, []string{"the plan's only", "the plan's skip", "--only", "--skip"}, ""},
		{`"*"`, "[u, v]", dsl.Options{}, []string{"", "the plan's skip"}, ""},
		{"[t]", "[size=7]", dsl.Options{Skip: []string{"u"}}, nil, "skip: no cell has size=7"},
	} {
		file := write(t, fmt.Sprintf(plan, c.only, c.skip))
		c.flags.Vocabulary, c.flags.ReadFile = vocabulary, os.ReadFile
		p, list := dsl.Load(file, c.flags)
		if list.HasErrors() {
			t.Fatal(list)
		}
		prog, list := engine.Compile(p, engine.Options{})
		if prog == nil {
			if c.wantProblems == "" || len(list) != 1 || !strings.Contains(fmt.Sprint(list), c.wantProblems) {
				t.Errorf("only %s, skip %s: %v", c.only, c.skip, list)
			}
			continue
		}
		var got []string
		for _, cell := range prog.Cells {
			got = append(got, strings.TrimPrefix(cell.LeftOut, "left out by "))
		}
		for _, why := range append(got, c.want...) {
			if !slices.Contains(c.want, why) || !slices.Contains(got, why) {
				t.Errorf("only %s, skip %s: left out by %q, want %q", c.only, c.skip, got, c.want)
				break
			}
		}
	}
}
