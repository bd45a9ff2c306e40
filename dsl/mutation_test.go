package dsl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/planrun/planrun/dsl"
)

// A schemaKey is a key of a plan's file that the language gives a meaning, and no name of the plan's own.
type schemaKey struct{ line, col, length int }

// schemaKeys finds the keys of a file: all but those of mappings whose keys are names.
func schemaKeys(t testing.TB, file string) []schemaKey {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{"params": true, "targets": true, "scenarios": true, "loads": true, "backends": true, "relays": true, "metrics": true,
		"with": true, "vars": true, "matrix": true, "cpus": true, "limits": true, "routes": true, "unsupported": true, "endpoints": true, "let": true, "keep": true, "env": true, "headers": true}
	var out []schemaKey
	var walk func(n *yaml.Node, under string, depth int)
	walk = func(n *yaml.Node, under string, depth int) {
		if n.Kind == yaml.SequenceNode {
			for _, it := range n.Content {
				walk(it, "", depth)
			}
		}
		for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			names := named[under] || under == "presets" && depth == 1 || under == "a preset"
			switch {
			case under == "vars": // values of the plan's own
			case names:
				next := ""
				if under == "presets" {
					next = "a preset"
				}
				walk(v, next, depth+1)
			default:
				out = append(out, schemaKey{k.Line, k.Column, len(k.Value)})
				walk(v, k.Value, depth+1)
			}
		}
	}
	if strings.Contains(file, "/targets/") {
		walk(doc.Content[0], "", 1)
	} else {
		walk(doc.Content[0], "", 0)
	}
	return out
}

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
		keys := schemaKeys(t, file)
		total += len(keys)
		for i, k := range keys {
			mutated := wrongLetter(src, k, i)
			_, list := dsl.Load(plan, dsl.Options{Vocabulary: vocabulary, ReadFile: func(path string) ([]byte, error) {
				if path == file {
					return mutated, nil
				}
				return readSketch(path)
			}})
			found := false
			for _, p := range list {
				found = found || !p.Warning && p.Pos.File == file && p.Pos.Line == k.line && p.Pos.Col == k.col
			}
			if !found {
				t.Errorf("%s:%d:%d: no error at the key in %q, but %v", file, k.line, k.col, strings.Split(string(mutated), "\n")[k.line-1], list)
			}
		}
	}
	if total < 300 {
		t.Errorf("only %d keys", total)
	}
}

// wrongLetter replaces one letter of a key, another one for each key in turn.
func wrongLetter(src []byte, k schemaKey, i int) []byte {
	lines := strings.SplitAfter(string(src), "\n")
	line := []rune(lines[k.line-1])
	at := k.col - 1 + i%k.length
	if line[at] == 'q' {
		line[at] = 'z'
	} else {
		line[at] = 'q'
	}
	lines[k.line-1] = string(line)
	return []byte(strings.Join(lines, ""))
}
