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
	} {
		e := &Environment{Command: strings.Fields(command)}
		if got := e.Option("out"); got != want {
			t.Errorf("%s: %q, not %q", command, got, want)
		}
	}
}
