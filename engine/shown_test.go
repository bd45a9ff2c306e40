package engine

import (
	"slices"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// What names in a verdict's expressions stand for is kept with what it says: an operand "grown" tells nothing by itself.
func TestJudgementsKeepNames(t *testing.T) {
	p := &Program{Plan: &dsl.Plan{}}
	p.Plan.Verdicts = make([]dsl.Part[dsl.Verdict], 1)
	p.Plan.Verdicts[0].Val = dsl.Verdict{Verdict: "v", Let: dsl.Map[dsl.Expr]{{Name: "grown", Val: dsl.Expr{Text: "p99_ms / p50_ms"}}}}
	got := judgements(p, []verdict.Judgement{{Verdict: "v"}, {Verdict: "another"}})
	if want := []record.Operand{{Text: "grown", Value: "p99_ms / p50_ms"}}; !slices.Equal(got[0].Let, want) || got[1].Let != nil {
		t.Errorf("got %v and %v", got[0].Let, got[1].Let)
	}
}

func TestOperandsWithoutValue(t *testing.T) {
	got := operands([]verdict.Operand{{Text: "p99_ms", Value: "7"}, {Text: "noise", Err: "too few runs"}})
	if want := []record.Operand{{Text: "p99_ms", Value: "7"}, {Text: "noise", Value: "n/a"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
