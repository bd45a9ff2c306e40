package record

import (
	"strings"
	"testing"
)

// Of a flag that is given more than once the last counts, as it did in the run.
func TestOption(t *testing.T) {
	for command, want := range map[string]string{
		"planrun run a.yaml":                     "",
		"planrun run a.yaml --out":               "",
		"planrun run a.yaml --output x":          "",
		"planrun run --out a a.yaml":             "a",
		"planrun run --out=a a.yaml":             "a",
		"planrun run --out a a.yaml --out=b":     "b",
		"planrun run --out=a --out b a.yaml":     "b",
		"planrun run --out a --out= a.yaml":      "",
		"planrun run --out=a --out=b=c --keep=d": "b=c",
		"planrun run --out a -- --out=b.yaml":    "a",
		"planrun run -- --out x.yaml":            "",
		"planrun run --out -- a.yaml --out=b":    "b",
		"planrun run --set --out a.yaml":         "",
		"planrun run --set --out=a a.yaml":       "",
	} {
		e := &Environment{Command: strings.Fields(command)}
		if got := e.Option("out"); got != want {
			t.Errorf("%s: %q, not %q", command, got, want)
		}
	}
}

// What runs a plan again names no result set, and still the same plan.
func TestWithout(t *testing.T) {
	for command, want := range map[string]string{
		"planrun a.yaml --out x --set a=b":    "planrun a.yaml --set a=b",
		"planrun a.yaml --out=x --output y":   "planrun a.yaml --output y",
		"planrun --out x -- --out=y.yaml":     "planrun -- --out=y.yaml",
		"planrun --out x --out y -- --out -z": "planrun -- --out -z",
	} {
		e := &Environment{Command: strings.Fields(command)}
		if got, _ := e.Without("out"); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, not %q", command, got, want)
		}
	}
}
