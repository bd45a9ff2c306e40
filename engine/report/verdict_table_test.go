package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// What judgements have in common is said once, what they read stands in columns that can be sorted, and single runs are kept.
func TestVerdictTable(t *testing.T) {
	judge := func(of, outcome, expression string, n int, ops ...record.Operand) Judged {
		return Judged{Of: of, Outcome: outcome, Expression: expression, Operands: ops, N: n, Gate: "no"}
	}
	x := func(v string) record.Operand { return record.Operand{Text: "x", Value: v} }
	y := func(v string) record.Operand { return record.Operand{Text: "y", Value: v} }
	ran := judge("a", record.Pass, "x < 1", 2, x("2.5"))
	ran.Runs = []JudgedRun{{Of: "repeat 1", Outcome: record.Pass}, {Of: "repeat 2", Outcome: record.Fail, Why: "late"}}
	gate := judge("b", record.Pass, "x < 1", 2, x("n/a"))
	gate.Gate = "yes"
	for _, c := range []struct {
		name   string
		judged []Judged
		said   string
		want   []string // a row each, the head first
	}{
		{"in common", []Judged{judge("a", record.Fail, "x < y", 3, x("25437"), y("7.31")), judge("b", record.NotSupported, "x < y", 3)}, "x < y, over 3 runs each, no gate",
			[]string{"of|outcome|x|y", "a|fail|25,437|7.31", "b|unsupported|-|-"}},
		{"the same value twice", []Judged{judge("a", record.Pass, "x < 1", 1, x("0"), x("0"))}, "x < 1, over 1 run, no gate", []string{"of|outcome|x", "a|pass|0"}},
		{"other parts", []Judged{judge("a", record.Pass, "x < 1", 1, x("0")), judge("b", record.Pass, "y < 1", 1, y("1234"))}, "over 1 run each, no gate",
			[]string{"of|outcome|expression|values", "a|pass|x < 1|x = 0", "b|pass|y < 1|y = 1,234"}},
		{"of several runs", []Judged{judge("a", record.Pass, "x < 1", 1, x("0"), x("1"))}, "x < 1, over 1 run, no gate", []string{"of|outcome|values", "a|pass|x = 0, x = 1"}},
		{"nothing read", []Judged{judge("a", record.NotJudged, "x < 1", 0)}, "x < 1, no gate", []string{"of|outcome", "a|not judged"}},
		{"single runs, gates of some", []Judged{ran, gate}, "x < 1, over 2 runs each", []string{"of|outcome|x|runs|gate", "a|pass|2.5|2, one by one|no", "b|pass|n/a|2|yes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Verdict{Name: "v", Judged: c.judged}
			if got := plain(v.Said()); got != c.said {
				t.Errorf("it is said %q, not %q", got, c.said)
			}
			table := v.Table()
			head := make([]Text, len(table.Columns))
			for i, column := range table.Columns {
				head[i] = text(column.Title)
			}
			for i, r := range append([][]Text{head}, table.Rows...) {
				var cells []string
				for _, c := range r {
					cells = append(cells, plain(c))
				}
				if got := strings.Join(cells, "|"); i >= len(c.want) || got != c.want[i] {
					t.Errorf("row %d is %q", i, got)
				}
			}
		})
	}
	table := Verdict{Judged: []Judged{ran}}.Table()
	i := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Title == "runs" })
	if i < 0 || len(table.Rows[0][i][0].Rest) != 2 || !strings.Contains(plain(table.Rows[0][i][0].Rest[1]), "repeat 2: fail -, late") {
		t.Errorf("single runs are not kept: %v", table)
	}
	table = Verdict{Judged: []Judged{ran, gate}}.Table() // of one part there is no value
	if !table.Columns[slices.IndexFunc(table.Columns, func(c Column) bool { return c.Title == "x" })].Right {
		t.Error("numbers do not stand to the right")
	}
	piped := Verdict{Judged: []Judged{judge("a", record.Fail, "x < 1", 1, record.Operand{Text: `phase("a|b").x`, Value: "12345.5"})}}.Table()
	m := &markdown{}
	m.table(piped)
	if got := m.b.String(); !strings.Contains(got, "`phase(\"a\\|b\").x`") {
		t.Errorf("the head of a column is not code with its pipe escaped:\n%s", got)
	}
}
