package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/engine/verdict"
	"github.com/planrun/planrun/internal/plural"
)

// A rowGate is the condition of --gate.
type rowGate struct{ prog *verdict.Program }

// rowGate compiles the condition; nil where there is none. What is wrong with it is printed.
func (p *program) rowGate(text string, d *diff.Diff) (*rowGate, error) {
	if text == "" {
		return nil, nil
	}
	kind := verdict.TypeOfKind
	metrics := []string{}
	var cells []verdict.Coord
	for _, r := range d.Rows {
		metrics = append(metrics, r.Name.Text)
		cells = append(cells, cellOf(r.Coord))
	}
	slices.Sort(metrics)
	names := []verdict.Name{
		{Name: "metric", Type: kind(verdict.Text), Values: slices.Compact(metrics)},
		{Name: "noise", Type: kind(verdict.Text), Values: []string{string(stats.Beyond), string(stats.Within), string(stats.Unknown)}},
		{Name: "better", Type: kind(verdict.Text), Values: []string{"lower", "higher", ""}},
		{Name: "outcome", Type: kind(verdict.Text), Values: []string{string(compare.Better), string(compare.Worse), string(compare.Differs), string(compare.WithinNoise), string(diff.Equal)}},
	}
	for _, n := range []string{"ratio", "low", "high", "floor", "repeats", "value_a", "value_b", "n_a", "n_b"} {
		names = append(names, verdict.Name{Name: n, Type: kind(verdict.Number)})
	}
	c, err := verdict.NewRows(names, cells)
	if err != nil {
		return nil, fmt.Errorf("--gate: %w", err)
	}
	prog, problems := c.Compile(text, verdict.AtRow, cells)
	if problems == nil {
		if m := prog.Mismatch(verdict.Bool); m != nil {
			problems = []verdict.Problem{*m}
		}
	}
	if problems == nil {
		return &rowGate{prog}, nil
	}
	var list diag.List
	for _, x := range problems {
		list.Addf(diag.Pos{File: "--gate", Line: x.Line, Col: x.Col}, "%s", x.Msg).Hint = x.Hint
	}
	if err := diag.Render(p.err, list, map[string][]byte{"--gate": []byte(text)}); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("the condition of --gate has %s", plural.Of(len(problems), "problem"))
}

func cellOf(c record.Coord) verdict.Coord {
	axes := map[string]string{}
	for _, a := range c.Matrix {
		axes[a.Name] = a.Value
	}
	return verdict.Coord{Stage: c.Stage, Scenario: c.Scenario, Target: c.Target, Matrix: verdict.MatrixText(axes)}
}

// rowValues are what a condition reads of a row. What it does not have, and what a guard spoils, is a reason.
func rowValues(r diff.Row) map[string]any {
	v := map[string]any{"metric": r.Name.Text, "better": string(r.Better), "n_a": len(r.To.Runs), "n_b": len(r.Of.Runs)}
	side := func(name string, x compare.Reading) {
		switch {
		case x.Why != "":
			v[name] = &verdict.Reason{Cause: verdict.Missing, Text: name + ": " + x.Why}
		case x.Tainted != "":
			v[name] = &verdict.Reason{Cause: verdict.Missing, Text: name + " is not to be trusted: " + x.Tainted}
		case r.Uneven() != "":
			v[name] = &verdict.Reason{Cause: verdict.Missing, Text: name + ": " + r.Uneven()}
		default:
			v[name] = x.Value
		}
	}
	side("value_a", r.To)
	side("value_b", r.Of)
	missing := func(why string, names ...string) {
		for _, n := range names {
			v[n] = &verdict.Reason{Cause: verdict.Missing, Text: n + ": " + why}
		}
	}
	x := r.Ratio
	v["ratio"], v["low"], v["high"], v["floor"], v["noise"], v["outcome"] = x.Value, x.Low, x.High, x.Floor, string(x.Noise), string(r.Outcome())
	v["repeats"] = x.Repeats
	if x.Repeats <= 1 {
		missing("neither side has further sets, or another stage that repeats it", "repeats")
	}
	switch r.Outcome() {
	case diff.Equal:
		missing("0/0", "ratio", "low", "high", "floor", "repeats", "noise")
	case compare.Worse:
		if x.NA != "" { // it appeared
			missing(x.NA, "ratio", "low", "high", "floor", "repeats", "noise")
		}
	case compare.NA:
		missing(x.NA, "ratio", "low", "high", "floor", "repeats", "noise", "outcome")
	case compare.Untrusted:
		missing("not to be trusted: "+strings.Join(r.Spoilt(), "; "), "ratio", "low", "high", "floor", "repeats", "noise", "outcome")
	case compare.Unknown:
		missing(x.Why, "floor", "repeats", "outcome")
	}
	return v
}

// judge evaluates the condition for every row, and says for which it does not hold. It gives the exit code.
func (g *rowGate) judge(d *diff.Diff, w io.Writer) (exit int, err error) {
	var failed, open []string
	known := map[string]bool{} // by metric: whether it can be judged in every row
	for _, r := range d.Rows {
		at := diff.Place(r.Coord) + ", " + r.Name.Text
		res := g.prog.Eval(context.Background(), verdict.Values{At: cellOf(r.Coord), Names: rowValues(r)})
		if _, seen := known[r.Name.Text]; !seen {
			known[r.Name.Text] = true
		}
		switch holds, why := res.Row(); {
		case why != nil:
			open, known[r.Name.Text] = append(open, at+": "+why.Text), false
		case !holds:
			failed = append(failed, at+":"+operandWords(res.Operands)+sideWords(r))
		}
	}
	for _, u := range d.Unmatched {
		if u.Lost {
			open = append(open, fmt.Sprintf("%s: B lacks this cell of A: %s", diff.Place(u.Coord), u.Why))
		}
	}
	for _, s := range slices.Concat([]*diff.Set{d.A, d.B}, d.A.More, d.B.More) {
		if len(s.Damaged) > 0 {
			open = append(open, s.Name+": "+strings.Join(s.Gaps, ", "))
		}
	}
	if len(d.Rows) == 0 {
		open = append(open, "there is no row")
	}
	for _, part := range []struct {
		rows []string
		what string
	}{{failed, "fails"}, {open, "cannot be judged"}} {
		for _, r := range firstFew(part.rows, 20) {
			if _, err = fmt.Fprintf(w, "gate %s: %s\n", part.what, r); err != nil {
				return exitHarness, err
			}
		}
	}
	if advice := chooseMetrics(known); advice != "" && len(failed) == 0 {
		if _, err = fmt.Fprintln(w, advice); err != nil {
			return exitHarness, err
		}
	}
	word := "passes: it holds for " + plural.Of(len(d.Rows), "row")
	switch {
	case len(failed) > 0:
		exit, word = 1, fmt.Sprintf("fails for %d of %s", len(failed), plural.Of(len(d.Rows), "row"))
	case len(open) > 0:
		exit, word = 3, "is inconclusive"
	}
	_, err = fmt.Fprintf(w, "exit %d: the gate %s\n", exit, word)
	return exit, err
}

// chooseMetrics says how to judge only the metrics that can be judged in every row; "" where all of them can be, or none.
func chooseMetrics(known map[string]bool) string {
	var flags []string
	for _, m := range slices.Sorted(maps.Keys(known)) {
		if known[m] {
			flags = append(flags, "--metric "+m)
		}
	}
	if len(flags) == 0 || len(flags) == len(known) {
		return ""
	}
	return "a gate is about every row; to judge only what can be judged in all of them: " + strings.Join(flags, " ")
}

func operandWords(ops []verdict.Operand) string {
	words := make([]string, len(ops))
	for i, o := range ops {
		words[i] = " " + o.Text + " = " + o.Value
	}
	return strings.Join(words, ",")
}

// sideWords says which half of a row is A and which is B: " (A is before with 100, B is after with 90)".
func sideWords(r diff.Row) string {
	side := func(name, target string, x compare.Reading) string {
		if target != "" {
			name += " is " + target + " with"
		}
		if x.Why != "" {
			return name + " n/a"
		}
		return name + " " + report.Number(x.Value, r.Desc.Class)
	}
	a, b, _ := strings.Cut(r.Coord.Target, ":")
	if b == "" {
		a = ""
	}
	return fmt.Sprintf(" (%s, %s)", side("A", a, r.To), side("B", b, r.Of))
}

// firstFew are the first few of several, and how many more there are.
func firstFew(all []string, most int) []string {
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most]), fmt.Sprintf("and %d more", len(all)-most))
}
