package verdict

import (
	"slices"
	"testing"
)

func TestMentions(t *testing.T) {
	c, err := NewCompiler(&Schema{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"1 + 2": nil, "params.a": {"params", "params.a"}, "params.a.b": {"params", "params.a", "params.a.b"},
		`"params.a" + 'params.b'`:             nil,
		`max(params.a, stage("x").req_per_s)`: {"params", "params.a"},
		"nobody.knows + params.":              nil, // does not parse
		"[params.a, params.b]":                {"params", "params.a", "params", "params.b"},
	} {
		if got := c.Mentions(text); !slices.Equal(got, want) {
			t.Errorf("%s mentions %q, want %q", text, got, want)
		}
	}
}
