package dsl_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/dsl"
)

func TestTree(t *testing.T) {
	got, err := dsl.Tree([]byte("plan: x\nparams: {rate: 1.0, gone: null}\nlist: [a, {b: \"${{ c }}\"}]\n"))
	want := map[string]any{"plan": "x", "params": map[string]any{"rate": "1.0"}, "list": []any{"a", map[string]any{"b": "${{ c }}"}}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for _, bad := range []string{"", "[a]", "a: [", "a: 1\na: 2"} {
		if got, err := dsl.Tree([]byte(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}
