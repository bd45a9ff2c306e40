package dsl_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
)

func TestExplain(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"load.pool", "load.pool: How connections are made.\n\n  type       a word\n  default    fixed\n  values     fixed, dial, distinct\n"},
		{"host.guards.rate-delivered", "  range      0% to 100%\n"},
		{"scenarios.repeats", "  evaluated  stage: when its stage begins; results of earlier stages too\n"},
		{"phase.require", "  type       an expression, without ${{ }}\n"},
		{"measure", "phase measure: The headline window"},
		{"loads.tls.resume", "loads.tls.resume: Resume sessions.\n"},
		{"relay", "probe relay: Connections of a relay."},
		{"load", "action load: Drive load.\n\n  load: X is short for load: {use: X}\n"},
		{"load", "phase load: A recorded window under load."},
		{"drop", "This build cannot run it: there is no nftables driver yet."},
		{"verdicts.cases", "  outcome  what it means (required)\n"},
		{"", "A plan: one YAML file and what it includes."},
	} {
		got, err := dsl.Explain(vocabulary, tt.path)
		if err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %v\n%s\nwant in it\n%s", tt.path, err, got, tt.want)
		}
	}
	for path, want := range map[string]string{
		"loda":           `nothing is called "loda"; did you mean "load"?`,
		"load.pol":       `load has no key "pol"; did you mean "pool"?`,
		"load.pool.deep": `load.pool has nothing below it`,
	} {
		if _, err := dsl.Explain(vocabulary, path); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

func TestReference(t *testing.T) {
	golden(t, "testdata/reference.md", dsl.Reference(vocabulary))
}
