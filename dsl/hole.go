package dsl

import "github.com/planrun/planrun/dsl/diag"

// A Time says when an expression is evaluated, and so what it may use.
type Time string

// The times, in the order in which they come.
const (
	TimePlan   Time = "plan"   // params, host, environment
	TimeSelect Time = "select" // params and coordinates, for every cell
	TimeStage  Time = "stage"  // and results of earlier stages
	TimeRun    Time = "run"    // and the target's with, coordinates, addresses of what is installed
	TimeLive   Time = "live"   // and current values of metrics
	TimeJudge  Time = "judge"  // metrics and series of stored runs
)

// A Hole is one ${{ CEL }} in a scalar of the plan. Holes are compared by pointer: the same place in the same role is the
// same *Hole for as long as its plan lives.
type Hole struct {
	Text  string // the CEL inside the braces, without the spaces around it
	Whole bool   // the scalar is nothing but this hole, so the value keeps its type
	Want  string // the type that the field wants, in words: "a duration such as 250ms", "any value"
	When  Time   // when the field's expressions are evaluated
	Field string // the field, from the top of the plan: "scenarios.churn.phases[0].for"

	n     *node
	start int // rune offset of Text in the scalar's text
}

// Pos maps a place in Text to the file. Line counts from 1 and col from 0, in runes, as CEL counts.
func (h *Hole) Pos(line, col int) diag.Pos { return h.n.posIn(h.start + runeOffset(h.Text, line, col)) }

// An Expr is a condition: CEL without braces. It is comparable, so that a compiled program can be kept in a map.
type Expr struct {
	Text string // empty: not written
	When Time
	n    *node
	lead int // runes of the scalar before Text
}

// IsSet reports whether the expression was written.
func (e Expr) IsSet() bool { return e.Text != "" }

// Pos maps a place in Text to the file. Line counts from 1 and col from 0, in runes, as CEL counts.
func (e Expr) Pos(line, col int) diag.Pos {
	if e.n == nil {
		return diag.Pos{}
	}
	return e.n.posIn(e.lead + runeOffset(e.Text, line, col))
}

// runeOffset returns the offset of a line (from 1) and column (from 0) in text, clamped to it.
func runeOffset(text string, line, col int) int {
	off, l, c := 0, 1, 0
	for _, r := range text {
		if l == line && c >= col || l > line {
			break
		}
		off, c = off+1, c+1
		if r == '\n' {
			l, c = l+1, 0
		}
	}
	return off
}
