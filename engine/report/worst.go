package report

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// twoSides is a comparison: two sides with one of these between them: a < b, a <= 1.5 * b, a == 0. Other operators are not compared.
var twoSides = regexp.MustCompile(`^([^<>=!&|?]+?)\s*(<=|>=|==|<|>)\s*([^<>=!&|?]+)$`)

// alike is within(a, b, tolerance).
const alike = "within("

// worstFirst sorts judgements that failed the same expression by how far each is from its limit; nil where that cannot be told of
// each from what was recorded, and of one alone.
func worstFirst(of []record.Judgement) []record.Judgement {
	type measured struct {
		record.Judgement
		off float64
	}
	all := make([]measured, len(of))
	for i, j := range of {
		off, ok := distance(j)
		if !ok || j.Expression != of[0].Expression {
			return nil
		}
		all[i] = measured{j, off}
	}
	if len(of) < 2 {
		return nil
	}
	slices.SortStableFunc(all, func(x, y measured) int { return cmp.Compare(y.off, x.off) })
	sorted := make([]record.Judgement, len(all))
	for i, m := range all {
		sorted[i] = m.Judgement
	}
	return sorted
}

// distance is how far the sides of a comparison are apart: the natural logarithm of their ratio, so that a limit of 10 that is
// missed by 5 counts more than one of 1000, or the left side itself where the plan compares it with 0. It is not known of other
// expressions, of numbers below 0, and of a limit that came out as 0.
func distance(j record.Judgement) (float64, bool) {
	left, right, ok := sides(strings.TrimSpace(j.Expression), j.Operands)
	if !ok || left < 0 || right < 0 {
		return 0, false
	}
	if right == 0 {
		return left, fixedZero(j.Expression)
	}
	return math.Abs(math.Log(left / right)), true
}

// fixedZero reports whether an expression compares with a 0 that is written in it.
func fixedZero(expression string) bool {
	m := twoSides.FindStringSubmatch(strings.TrimSpace(expression))
	return m != nil && m[3] == "0"
}

// sides are the values of what an expression compares.
func sides(expression string, ops []record.Operand) (left, right float64, ok bool) {
	if strings.HasPrefix(expression, alike) && len(ops) == 2 && strings.HasPrefix(expression, alike+ops[0].Text+", "+ops[1].Text+", ") {
		left, okLeft := side(ops[0].Text, ops)
		right, okRight := side(ops[1].Text, ops)
		return left, right, okLeft && okRight
	}
	m := twoSides.FindStringSubmatch(expression)
	if m == nil {
		return 0, 0, false
	}
	left, okLeft := side(m[1], ops)
	right, okRight := side(m[3], ops)
	return left, right, okLeft && okRight
}

// side is the value of a number, of an operand, or of one times a number; an operand with two values has none.
func side(s string, ops []record.Operand) (float64, bool) {
	s = strings.TrimSpace(s)
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v, true
	}
	value := ""
	for _, o := range ops {
		if o.Text == s && value != "" && value != o.Value {
			return 0, false
		}
		if o.Text == s {
			value = o.Value
		}
	}
	if value != "" {
		v, err := strconv.ParseFloat(value, 64)
		return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
	}
	factor, rest, found := strings.Cut(s, "*")
	f, err := strconv.ParseFloat(strings.TrimSpace(factor), 64)
	if !found || err != nil {
		return 0, false
	}
	v, ok := side(rest, ops)
	return f * v, ok
}
