package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine"
)

// A result set holds what the environment gave, so it is judged to the same anywhere; of a secret it holds nothing.
func TestStoredPlanHoldsWhatTheEnvironmentGave(t *testing.T) {
	given := map[string]string{"LEAST": "3", "NAME": "a ${{ b }}", "KEY": "hush-hush"}
	file := write(t, `
plan: given
params: {least: {value: 1000000, env: LEAST}, name: {env: NAME}, key: {env: KEY, secret: true}}
targets: {t: {install: [{start: {builtin: origin, listen: [http]}}]}}
scenarios: {s: {phases: [{measure: {for: 500ms, do: [{load: {path: /small, headers: {authorization: "${{ params.key }}"}}}]}}]}}
verdicts:
  - verdict: v
    pass: requests >= params.least && params.name == "a $" + "{{ b }}"
`)
	prog, list := check(file, engine.Options{Env: func(name string) (string, bool) { v, ok := given[name]; return v, ok }})
	if list.HasErrors() {
		t.Fatal(list)
	}
	out := run(t, prog, engine.RunOptions{})
	if v := verdictsOf(out)["v"]; !slices.Equal(v, []string{"pass"}) {
		t.Fatalf("%v\n%s", v, reasons(out))
	}
	b, err := os.ReadFile(out.Set.Path("plan.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); !strings.Contains(text, "value: 3 # from the environment variable LEAST\n") || strings.Contains(text, "hush") {
		t.Error(text)
	}
	prog, list = check(out.Set.Path("plan.yaml"), engine.Options{Env: func(string) (string, bool) { return dsl.Redacted, true }})
	if list.HasErrors() {
		t.Fatal(list)
	}
	again, err := engine.Conclude(out.Set, prog, engine.ConcludeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if v := verdictsOf(again)["v"]; !slices.Equal(v, []string{"pass"}) {
		t.Errorf("elsewhere: %v\n%s", v, reasons(again))
	}
}
