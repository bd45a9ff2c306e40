package engine_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
)

// A param that nothing reads is said at its name, with what was probably meant; of included files it is no mistake.
func TestUnreadParams(t *testing.T) {
	const reads = "scenarios: {s: {repeats: '${{ params.repeats + 0 * params.half }}'}}"
	const included = "params: {repeats: 2, half: '${{ params.whole / 2 }}', whole: 4, for_others: 1}\n" + reads
	for text, want := range map[string]string{
		"params: {repeats: 3, whole: 6}": "",
		"params: {repaets: 3}":           `nothing reads the param repaets; did you mean "repeats"?`,
		"params: {other: 3}":             "nothing reads the param other; write params.other where its value is meant, or leave it out",
		"params: {a: 3, b: '${{ params.a }}'}\nverdicts: [{verdict: v, pass: failed == params.b}]": "",
		"params: {a: 3}\nverdicts: [{verdict: v, let: {most: params.a + 1}, pass: failed < most}]": "",
		"params: {a: 3}\nmetrics: {m: req_per_s * params.a}":                                       "",
		"params: {a: /small}\nloads: {unused: {path: '${{ params.a }}'}}":                          "",
		"params: {a: 1}\npresets: {small: {a: 2}}\nscenarios: {s: {about: params.a}}":              "nothing reads the param a; write params.a where its value is meant, or leave it out",
		"params: {a: 1}\nscenarios: {s: {when: params.a == 1}}":                                    "",
	} {
		file := laid(t, included, text)
		_, list := check(file, engine.Options{})
		if list.HasErrors() {
			t.Errorf("%s: %v", text, list)
			continue
		}
		var got []string
		for _, p := range list {
			if strings.HasPrefix(p.Msg, "nothing reads") {
				if got = append(got, p.Msg+"; "+p.Hint); p.Pos.Line != 3 || p.Pos.Col != 10 || p.Pos.File != file {
					t.Errorf("%s: said at %v", text, p.Pos)
				}
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
