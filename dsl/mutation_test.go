package dsl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/mutate"
)

// TestOneWrongLetter changes one letter of every key of every sketch and of what it includes, one at a time, and expects
// an error at the key.
func TestOneWrongLetter(t *testing.T) {
	files, _ := filepath.Glob("testdata/sketches/*.yaml")
	more, _ := filepath.Glob("testdata/sketches/lib/*.yaml")
	targets, _ := filepath.Glob("testdata/sketches/lib/targets/*.yaml")
	total := 0
	for _, file := range append(append(files, more...), targets...) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plan := file
		if strings.Contains(file, "/lib/") {
			plan = "testdata/sketches/round2.yaml"
		}
		keys, err := mutate.Keys(src, strings.Contains(file, "/targets/"))
		if err != nil {
			t.Fatal(err)
		}
		total += len(keys)
		for i, k := range keys {
			mutated := mutate.Misspell(src, k, i)
			_, list := dsl.Load(plan, dsl.Options{Vocabulary: vocabulary, ReadFile: func(path string) ([]byte, error) {
				if path == file {
					return mutated, nil
				}
				return readSketch(path)
			}})
			found := false
			for _, p := range list {
				found = found || !p.Warning && p.Pos.File == file && p.Pos.Line == k.Line && p.Pos.Col == k.Col
			}
			if !found {
				t.Errorf("%s:%d:%d: no error at the key in %q, but %v", file, k.Line, k.Col, strings.Split(string(mutated), "\n")[k.Line-1], list)
			}
		}
	}
	if total < 300 {
		t.Errorf("only %d keys", total)
	}
}
