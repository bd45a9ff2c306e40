package verdict

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Every function is documented with an example that works, in the current cell throughput/h1-small/ours or latency.
func TestExamples(t *testing.T) {
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, lat)
	seen := map[string]bool{}
	for _, f := range Functions() {
		if f.Doc == "" || f.Usage == "" || f.Family == "" || f.Example == "" {
			t.Errorf("%s lacks a part of its documentation", f.Name)
		}
		if !strings.Contains(f.Example, f.Name) && f.Name != "load" {
			t.Errorf("the example of %s does not use it: %s", f.Name, f.Example)
		}
		if key := f.Family + f.Name; seen[key] {
			t.Errorf("%s is documented twice", f.Name)
		} else {
			seen[key] = true
		}
		res := mustCompile(t, c, f.Example, AtJudge, at).Eval(context.Background(), Values{At: at, Data: d})
		got := fmt.Sprint(res.Value)
		if x, ok := res.Value.(float64); ok {
			got = number(math.Round(x*1e6) / 1e6)
		}
		if got != f.Result || len(res.Absorbed) > 0 {
			t.Errorf("%s = %s (%v), documented as %s", f.Example, got, res.Err, f.Result)
		}
	}
	env, err := c.env(AtJudge)
	if err != nil {
		t.Fatal(err)
	}
	for name := range env.Functions() { // what can be called is documented
		if identifier.MatchString(name) && name[0] != '@' && !strings.HasSuffix(name, "_") &&
			!slices.ContainsFunc(Functions(), func(f Doc) bool { return f.Name == name }) {
			t.Errorf("%s() is offered but not documented", name)
		}
	}
}
