// Package mutate misspells the keys of plans, for tests that every misspelling is found at its place.
package mutate

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// A Key is one of a plan's file to which the language gives a meaning, and no name of the plan's own.
type Key struct {
	Line, Col int // count from 1, the column in runes
	Name      string
}

// named are the keys below which names of the plan's own stand, where the language has keys elsewhere.
var named = map[string]bool{
	"params": true, "targets": true, "scenarios": true, "loads": true, "backends": true, "relays": true, "metrics": true, "with": true,
	"matrix": true, "cpus": true, "limits": true, "routes": true, "unsupported": true, "endpoints": true, "let": true, "keep": true,
	"env": true, "headers": true,
}

// Keys finds the keys of a file. target says that it holds a target and no plan.
func Keys(src []byte, target bool) (out []Key, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("the file is empty")
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
			switch {
			case under == "presets" && depth == 1, under == "vars": // values by names of the plan's own
			case named[under], depth == 0 && strings.HasPrefix(k.Value, "x-"): // x-... hold anchors
				walk(v, "", depth+1)
			default:
				out = append(out, Key{k.Line, k.Column, k.Value})
				walk(v, k.Value, depth+1)
			}
		}
	}
	depth := 0
	if target {
		depth = 1
	}
	walk(doc.Content[0], "", depth)
	return out, nil
}

// Misspell replaces one letter of a key, the one at i modulo its length.
func Misspell(src []byte, k Key, i int) []byte {
	lines := strings.SplitAfter(string(src), "\n")
	line := []rune(lines[k.Line-1])
	at := k.Col - 1 + i%len([]rune(k.Name))
	if line[at] == 'q' {
		line[at] = 'z'
	} else {
		line[at] = 'q'
	}
	lines[k.Line-1] = string(line)
	return []byte(strings.Join(lines, ""))
}
