package verdict

import (
	"context"
	"strings"
	"testing"
)

// rowCompiler is a compiler of conditions over two rows: throughput of a target with a size, and failures that have no ratio.
func rowCompiler(t *testing.T) *Compiler {
	t.Helper()
	number := TypeOfKind(Number)
	c, err := NewRows([]Name{{Name: "ratio", Type: number}, {Name: "metric", Type: TypeOfKind(Text), Values: []string{"req_per_s", "failed"}}, {Name: "n_a", Type: number}},
		[]Coord{{Stage: "s", Scenario: "h1", Target: "nginx", Matrix: "size=4"}, {Stage: "s", Scenario: "h1", Target: "haproxy", Matrix: "size=16"}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRows(t *testing.T) {
	at := Coord{Stage: "s", Scenario: "h1", Target: "nginx", Matrix: "size=4"}
	good := Values{At: at, Names: map[string]any{"ratio": 0.97, "metric": "req_per_s", "n_a": 3}}
	none := Values{At: at, Names: map[string]any{"ratio": &Reason{Missing, "0/0"}, "metric": "failed", "n_a": 3}}
	for _, c := range []struct {
		text string
		v    Values
		want string
	}{
		{`ratio >= 0.98`, good, "false"},
		{`ratio >= 0.95 && target == "nginx" && matrix.size < 10`, good, "true"},
		{`ratio >= 0.98`, none, "0/0"},
		{`!(ratio < 0.98)`, none, "0/0"},
		{`ratio != 1`, none, "0/0"},
		{`metric != "req_per_s" || ratio >= 0.98`, none, "true"},
		{`ratio >= 0.98 || metric != "req_per_s"`, none, "true"},
		{`metric == "req_per_s" && ratio >= 0.98`, none, "false"},
		{`metric == "req_per_s" || ratio >= 0.98`, none, "0/0"},
		{`1 / 0 > ratio`, good, "division by zero"},
		{`n_a >= 3`, none, "true"},
	} {
		p, problems := rowCompiler(t).Compile(c.text, AtRow, nil)
		if problems != nil {
			t.Errorf("%s: %v", c.text, problems)
			continue
		}
		got := ""
		holds, why := p.Eval(context.Background(), c.v).Row()
		switch {
		case why != nil:
			got = why.Text
		case holds:
			got = "true"
		default:
			got = "false"
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestRowProblems(t *testing.T) {
	for text, want := range map[string]string{
		`ration > 1`:                        `1:1: unknown name "ration"; did you mean "ratio"?`,
		`ratio > 1 && metric == "req_pers"`: `1:24: unknown metric "req_pers"; did you mean "req_per_s"?`,
		`target == "ngnix"`:                 `1:11: unknown target "ngnix"; did you mean "nginx"?`,
		`runs.ratio > 1`:                    `unknown name "runs"`,
		`p99_ms < 5`:                        `unknown name "p99_ms"`,
		`scenario("h1").p99_ms < 5`:         `known only`,
		`metric > 1`:                        `cannot be applied to (text, number)`,
		`ratio >`:                           `ends too early`,
	} {
		_, problems := rowCompiler(t).Compile(text, AtRow, nil)
		if len(problems) == 0 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%s: %v, want %s", text, problems, want)
		}
	}
}
