package actions

import "testing"

func FuzzJSONPath(f *testing.F) {
	for _, s := range []string{".", "a.b[0].c", "$.a", "[1][2]", "a..b", "a["} {
		f.Add(s)
	}
	doc := map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": 1.0}}}}
	f.Fuzz(func(t *testing.T, s string) {
		path, err := parsePath(s)
		if err != nil {
			return
		}
		if v, err := lookUp(doc, path); err == nil && v == nil {
			t.Errorf("%q finds nothing", s)
		}
	})
}
