package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// Judgements that failed are sorted by their distance from the limit, or left in the plan's order where that is not known of each.
func TestWorstFirst(t *testing.T) {
	clean := `p99_clean_ms <= 1.5 * scenario("latency").p99_clean_ms`
	both := `within(req_per_s, stage("again").req_per_s, percent(4))`
	for _, c := range []struct {
		name, expression string
		operands         []string
		values           [][]string
		want             string // "" if not known
	}{
		{"a count that is to be 0", "failed == 0", []string{"failed"}, [][]string{{"97"}, {"2201"}, {"25"}}, "1 0 2"},
		{"by the ratio, not by the difference", clean, []string{"p99_clean_ms", `scenario("latency").p99_clean_ms`}, [][]string{{"80", "40"}, {"30", "2"}, {"50", "20"}}, "1 2 0"},
		{"a lower limit", "100 * 2 <= req_per_s", []string{"req_per_s"}, [][]string{{"150"}, {"20"}}, "1 0"},
		{"a factor and a number", "2 * x >= 100", []string{"x"}, [][]string{{"40"}, {"4"}}, "1 0"},
		{"nothing at all is the worst", "x >= 100", []string{"x"}, [][]string{{"40"}, {"0"}}, "1 0"},
		{"either side of a tolerance", both, []string{"req_per_s", `stage("again").req_per_s`}, [][]string{{"100", "110"}, {"120", "60"}, {"50", "70"}}, "1 2 0"},
		{"as the plan has them, if alike", "x < 1", []string{"x"}, [][]string{{"2"}, {"2"}}, "0 1"},
		{"one alone", "x < 1", []string{"x"}, [][]string{{"2"}}, ""},
		{"a value is missing", "x < 1", []string{"x"}, [][]string{{"2"}, {}}, ""},
		{"a value is no number", "x < 1", []string{"x"}, [][]string{{"2"}, {"n/a"}}, ""},
		{"a limit that came out as 0", "x < y", []string{"x", "y"}, [][]string{{"2", "1"}, {"1", "0"}}, ""},
		{"below 0", "x < 1", []string{"x"}, [][]string{{"2"}, {"-3"}}, ""},
		{"values of several runs", "x < 1", []string{"x", "x"}, [][]string{{"2", "3"}, {"4", "5"}}, ""},
		{"two conditions", "x < 1 && y < 1", []string{"x", "y"}, [][]string{{"2", "3"}, {"4", "5"}}, ""},
		{"no order", "x != 1", []string{"x"}, [][]string{{"1"}, {"1"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var of []record.Judgement
			for i, vs := range c.values {
				j := record.Judgement{Expression: c.expression, Coord: record.Coord{Target: fmt.Sprint(i)}}
				for k, v := range vs {
					j.Operands = append(j.Operands, record.Operand{Text: c.operands[k], Value: v})
				}
				of = append(of, j)
			}
			var got []string
			for _, j := range worstFirst(of) {
				got = append(got, j.Coord.Target)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("the order is %q, want %q", s, c.want)
			}
		})
	}
	other := []record.Judgement{{Expression: "x < 1", Operands: []record.Operand{{Text: "x", Value: "2"}}}, {Expression: "x < 3", Operands: []record.Operand{{Text: "x", Value: "4"}}}}
	if worstFirst(other) != nil {
		t.Error("failures of two expressions are compared")
	}
}
