package dsl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
)

// A plan that is written with what the environment gave is read with the same values, whatever they hold, and needs no
// environment; a secret stays out.
func TestResolvedKeepsWhatTheEnvironmentGave(t *testing.T) {
	t.Parallel()
	read := func(text []byte) *dsl.Plan {
		p, list := dsl.Load("plan.yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: func(string) ([]byte, error) { return text, nil }})
		if list.HasErrors() {
			t.Fatalf("%v\n%s", list, text)
		}
		return p
	}
	p := read([]byte("plan: p\nparams:\n  n: {value: 7, env: N, about: how many}\n  key: {env: KEY, secret: true}\n" +
		"targets: {t: {endpoints: {http: \"127.0.0.1:1\"}}}\nscenarios: {s: {phases: [measure: {for: 1s}]}}\n"))
	for _, given := range []string{"8", "010", "true", "", "5s", "64KiB", "2%", "200/s", "a b", " 8", "null", "# no comment", "a: b", "two\nlines", "é\x07\"'"} {
		text := dsl.Resolved(p, dsl.ResolvedOptions{Environment: map[string]string{"n": given, "key": "hush-hush"}})
		n := read(text).Params.Get("n")
		bound, list := n.Bind(nil)
		if list.HasErrors() {
			t.Fatal(list)
		}
		if got, want := bound.Val.Value.V, dsl.ScalarValue(given); got != want || bound.Val.Env != "" || bound.Val.About != "how many" {
			t.Errorf("%q is read as %#v, not %#v, env %q, about %q:\n%s", given, got, want, bound.Val.Env, bound.Val.About, text)
		}
		if s := string(text); !strings.Contains(s, "# from the environment variable N\n") || strings.Contains(s, "hush") || !strings.Contains(s, "env: KEY") {
			t.Error(s)
		}
	}
	text := dsl.Resolved(p, dsl.ResolvedOptions{Environment: map[string]string{"n": "a ${{ b }}"}})
	if got := fmt.Sprint(read(text).Params.Get("n").Holes()[0].Text); got != "'$' + '{{'" {
		t.Errorf("an expression of the environment: %s\n%s", got, text)
	}
	if text := string(dsl.Resolved(p, dsl.ResolvedOptions{Environment: map[string]string{"n": "\xff"}})); !strings.Contains(text, "env: N") {
		t.Error(text)
	}
}
