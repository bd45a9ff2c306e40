package dsl

import (
	"errors"

	"github.com/planrun/planrun/dsl/diag"
)

// Tree reads a plan's text as plain data, to be compared with another one's: map[string]any, []any, and scalars as they are
// written (1.0 is not 1). Keys without a value are left out. Nothing is checked but what YAML itself asks for.
func Tree(text []byte) (map[string]any, error) {
	var probs diag.List
	n := parse(&source{name: "plan.yaml", bytes: text}, &probs)
	if err := probs.Err(); err != nil {
		return nil, err
	}
	if n == nil || n.kind != mapNode {
		return nil, errors.New("the plan is no mapping")
	}
	return n.tree().(map[string]any), nil
}

func (n *node) tree() any {
	switch n.kind {
	case listNode:
		out := make([]any, len(n.items))
		for i, it := range n.items {
			out[i] = it.tree()
		}
		return out
	case mapNode:
		out := map[string]any{}
		for _, f := range n.fields {
			if f.val.kind != nullNode {
				out[f.key.text] = f.val.tree()
			}
		}
		return out
	}
	return n.text
}
