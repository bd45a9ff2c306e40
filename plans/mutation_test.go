package plans_test

import (
	"bytes"
	"testing"

	"github.com/planrun/planrun/dsl/mutate"
)

// TestOneWrongLetter changes one letter of every key of every shipped file, one at a time, and wants an error at the key
// each time. TestShippedPlans shows that there is none without it.
func TestOneWrongLetter(t *testing.T) {
	sample := 1
	if testing.Short() {
		sample = 7
	}
	total := 0
	for _, kind := range []string{"plans", "published", "includes", "targets"} {
		for _, file := range files(t, kind) {
			plan := file
			if kind != "plans" && kind != "published" {
				plan = "round2.yaml" // it uses all of them
			}
			src, err := read(file)
			if err != nil {
				t.Fatal(err)
			}
			all, err := mutate.Keys(src, kind == "targets")
			if err != nil || len(all) == 0 {
				t.Errorf("%s has no keys: %v", file, err)
			}
			total += len(all)
			for i := 0; i < len(all); i += sample {
				k := all[i]
				mutated := mutate.Misspell(src, k, i)
				_, list := check(plan, nil, func(path string) ([]byte, error) {
					if path == file {
						return mutated, nil
					}
					return read(path)
				})
				found := false
				for _, p := range list {
					found = found || !p.Warning && p.Pos.File == file && p.Pos.Line == k.Line && p.Pos.Col == k.Col
				}
				if !found {
					t.Errorf("%s:%d:%d: no error at the key in %q, but %v", file, k.Line, k.Col, bytes.Split(mutated, []byte("\n"))[k.Line-1], list)
				}
			}
		}
	}
	if total < 200 {
		t.Errorf("only %d keys were found", total)
	}
}
