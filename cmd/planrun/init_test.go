package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"github.com/planrun/planrun/engine/machine"
)

// What planrun starts is kept off the load's CPU, of a target that runs already too.
func TestFirstPlanPins(t *testing.T) {
	for _, f := range []first{{Binary: "x"}, {Address: "127.0.0.1:1", Backend: "127.0.0.1:2"}} {
		file := filepath.Join(t.TempDir(), "plan.yaml")
		text, err := f.plan(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &program{out: t.Output(), err: t.Output()}
		prog, err := p.compile(file, planFlags{given: pflag.NewFlagSet("", pflag.ContinueOnError)})
		if err != nil {
			t.Fatal(err)
		}
		of := map[string][]int{}
		for _, c := range prog.Host.CPUs {
			of[c.Name] = c.Val
		}
		shared := slices.ContainsFunc(of["sut"], func(c int) bool { return slices.Contains(of["load"], c) })
		if len(of["sut"]) == 0 || len(of["load"]) != 1 || shared != (len(machine.Allowed()) == 1) {
			t.Errorf("%+v: %v", f, of)
		}
	}
}
