package plans_test

import (
	"bytes"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// named are the keys below which names of the plan's own stand, where the language has keys elsewhere.
var named = map[string]bool{
	"params": true, "targets": true, "scenarios": true, "loads": true, "backends": true, "relays": true, "metrics": true, "with": true,
	"vars": true, "matrix": true, "cpus": true, "limits": true, "routes": true, "unsupported": true, "endpoints": true, "let": true,
	"keep": true, "env": true, "headers": true,
}

// A key is one to which the language gives a meaning.
type key struct {
	line, col int
	name      string
}

// keys finds the keys of a file, without names of the plan's own.
func keys(t *testing.T, src []byte, target bool) (out []key) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(n *yaml.Node, under string, depth int)
	walk = func(n *yaml.Node, under string, depth int) {
		if n.Kind == yaml.SequenceNode {
			for _, item := range n.Content {
				walk(item, "", depth)
			}
		}
		for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			preset := under == "presets" && depth == 1
			switch {
			case preset:
				continue // names of presets, and of params below
			case named[under]:
				walk(v, "", depth+1)
			default:
				out = append(out, key{k.Line, k.Column, k.Value})
				walk(v, k.Value, depth+1)
			}
		}
	}
	depth := 0
	if target {
		depth = 1
	}
	walk(doc.Content[0], "", depth)
	return out
}

// TestOneWrongLetter changes one letter of every key of every shipped file, one at a time, and wants an error at the key
// each time. TestShippedPlans shows that there is none without it.
func TestOneWrongLetter(t *testing.T) {
	sample := 1
	if testing.Short() {
		sample = 7
	}
	total := 0
	for _, kind := range []string{"plans", "includes", "targets"} {
		for _, file := range files(t, kind) {
			plan := file
			if kind != "plans" {
				plan = "round2.yaml" // it uses all of them
			}
			src, err := read(file)
			if err != nil {
				t.Fatal(err)
			}
			all := keys(t, src, kind == "targets")
			if len(all) == 0 {
				t.Errorf("%s has no keys", file)
			}
			total += len(all)
			for i := 0; i < len(all); i += sample {
				k := all[i]
				mutated := wrong(src, k, i)
				_, list := check(plan, nil, func(path string) ([]byte, error) {
					if path == file {
						return mutated, nil
					}
					return read(path)
				})
				found := false
				for _, p := range list {
					found = found || !p.Warning && p.Pos.File == file && p.Pos.Line == k.line && p.Pos.Col == k.col
				}
				if !found {
					t.Errorf("%s:%d:%d: no error at the key in %q, but %v", file, k.line, k.col, bytes.Split(mutated, []byte("\n"))[k.line-1], list)
				}
			}
		}
	}
	if total < 200 {
		t.Errorf("only %d keys were found", total)
	}
}

// wrong replaces one letter of a key, another one for each key in turn.
func wrong(src []byte, k key, i int) []byte {
	lines := strings.SplitAfter(string(src), "\n")
	line := []rune(lines[k.line-1])
	at := k.col - 1 + i%len(k.name)
	if line[at] == 'q' {
		line[at] = 'z'
	} else {
		line[at] = 'q'
	}
	lines[k.line-1] = string(line)
	return []byte(strings.Join(lines, ""))
}
