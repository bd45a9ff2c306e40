package dsl_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
)

// A file that plans include, or take a target from, is told from a plan that lacks something: that is the only problem of it.
func TestLibrary(t *testing.T) {
	const include, target = "something for plans to include", "a target for plans"
	for text, want := range map[string]string{
		"params: {a: 1}\nscenarios: {s: {phases: [measure: {for: 1s}]}}": include,
		"loads: {l: {use: nowhere}}\nx-notes: 1":                         include,
		"about: mine\nversion: [mine, -v]\ninstall: []":                  target,
		"endpoints: {http: 127.0.0.1:1}\nwith: {a: 1}":                   target,
		"plan: a\nscenarios: {s: {phases: [measure: {for: 1s}]}}":        "the plan has no targets",
		"targets: {t: {endpoints: {http: 127.0.0.1:1}}}\nscenarios: {}":  "the plan has no plan",
		"params: {a: 1}": "the plan has no plan",
		"include: b.yaml\nscenarios: {s: {phases: [measure: {for: 1s}]}}":                 "the plan has no plan",
		"scenarioss: {s: {phases: [measure: {for: 1s}]}}\nloads: {}\ninstalll: [exec: a]": "the plan has no plan",
	} {
		read := func(path string) ([]byte, error) {
			return []byte(map[bool]string{true: text, false: "params: {b: 1}"}[path == "a.yaml"]), nil
		}
		_, list := dsl.Load("a.yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: read})
		all := list.Error()
		if !strings.Contains(all, want) || (want == include || want == target) != (len(list) == 1 && strings.Contains(all, "no plan by itself")) {
			t.Errorf("%s:\n%s\nwant %s", text, all, want)
		}
	}
}
