package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// judged says what the verdicts say: each that does not pass everywhere by itself, gates first, the others together.
func (b *builder) judged() (items []Text) {
	var names []string
	byName := map[string][]record.Judgement{}
	for _, j := range b.res.Verdicts {
		if byName[j.Verdict] == nil {
			names = append(names, j.Verdict)
		}
		byName[j.Verdict] = append(byName[j.Verdict], j)
	}
	var hold, later []Text
	var asked []string // of those that hold
	for _, name := range names {
		js := byName[name]
		gate := slices.ContainsFunc(js, func(j record.Judgement) bool { return j.Gate != "" && j.Gate != "false" })
		passed, counted := 0, 0
		for _, j := range js {
			if j.Outcome == record.NotJudged {
				continue
			}
			if counted++; j.Outcome == record.Pass {
				passed++
			}
		}
		if counted > 0 && passed == counted {
			hold, asked = append(hold, quoted(name)), append(asked, b.askedOf(js))
			continue
		}
		for _, o := range record.Outcomes {
			of := slices.DeleteFunc(slices.Clone(js), func(j record.Judgement) bool { return j.Outcome != o })
			if len(of) == 0 || outcomeWords[o] == "" {
				continue
			}
			item := b.outcomeSentence(name, o, of, counted, gate)
			if gate {
				items = append(items, item)
			} else {
				later = append(later, item)
			}
		}
		if counted == 0 {
			later = append(later, text("The verdict ", quoted(name), " was not judged: its condition did not hold."))
		}
	}
	items = append(items, later...)
	return slices.Concat(items, holding(hold, asked), b.cleaned(names, byName))
}

// holding says which verdicts hold, and what each was asked of.
func holding(verdicts []Text, asked []string) []Text {
	if len(verdicts) == 0 {
		return nil
	}
	each := make([]Text, len(verdicts))
	for i, v := range verdicts {
		each[i] = append(v, text(" ("+asked[i]+")")...)
	}
	n := len(verdicts)
	return []Text{text(plural.Of(n, "verdict"), plural.Verb(n, " holds in all it is asked of: ", " hold in all they are asked of: "), join(each, ", "), ".")}
}

// askedOf says what a verdict was judged of: "6 cells", "3 targets", "the plan".
func (b *builder) askedOf(js []record.Judgement) string {
	places, targets := map[string]bool{}, map[string]bool{}
	for _, j := range js {
		if j.Outcome != record.NotJudged {
			places[j.Coord.CellName()], targets[j.Coord.Target] = true, true
		}
	}
	cells := 0
	for i := range b.res.Cells {
		if places[b.res.Cells[i].Coord.CellName()] {
			cells++
		}
	}
	switch {
	case cells == len(places):
		return plural.Of(cells, "cell")
	case targets[""]:
		return "the plan"
	}
	return plural.Of(len(targets), "target")
}

func quoted(s string) Text { return text("\u201c" + oneLine(s) + "\u201d") }

// outcomeWords are what a finding says of outcomes that it is about.
var outcomeWords = map[string]string{
	record.Fail: "fails", record.Error: "could not be judged (error)", record.Inconclusive: "is inconclusive", record.NotSupported: "is unsupported",
}

// mostJudged bounds the judgements of a verdict that a finding names; the section of verdicts has all.
const mostJudged = 4

// outcomeSentence: The gate "nothing fails" fails for 2 of 6 (failed == 0): churn / nginx (failed = 12); ... Of what did not
// fail the first reason is given, since others are mostly like it.
func (b *builder) outcomeSentence(name, o string, of []record.Judgement, all int, gate bool) Text {
	word := "verdict"
	if gate {
		word = "gate"
	}
	t := text("The "+word+" ", quoted(name), " ", Span{Text: outcomeWords[o], Style: badge(o).Style})
	if all > 1 {
		t = text(t, fmt.Sprintf(" for %d of %d", len(of), all))
	}
	if o == record.Fail {
		return text(t, b.failing(of), ".")
	}
	places := make([]string, len(of))
	for i, j := range of {
		places[i] = b.place(j.Coord)
	}
	t = text(t, ": ", some(places, mostJudged))
	if detail := b.detail(of[0], false); len(detail) > 0 {
		first := "because: "
		if len(of) > 1 {
			first = "the first because: "
		}
		t = text(t, "; "+first, detail)
	}
	return text(t, ".")
}

// failing says of what failed what made it so; an expression that all have is said once.
func (b *builder) failing(of []record.Judgement) Text {
	shared := shownExpression(of[0])
	for _, j := range of[1:] {
		if shownExpression(j) != shared {
			shared = ""
		}
	}
	worst := ""
	if sorted := worstFirst(of); shared != "" && sorted != nil {
		of, worst = sorted, ", worst first"
	}
	parts := make([]Text, len(of))
	for i, j := range of {
		parts[i] = text(b.place(j.Coord))
		if detail := b.detail(j, shared != ""); len(detail) > 0 {
			parts[i] = text(parts[i], " (", detail, ")")
		}
	}
	if shared != "" {
		return text(" (", mono(shared), ")"+worst+": ", listed(parts, mostJudged))
	}
	return text(": ", listed(parts, mostJudged))
}

// longest bounds what a finding quotes of a plan, longestReason what it does of a guard: that is whole, with its limits.
const longest, longestReason = 160, 320

// shownExpression is what a finding shows of the expression of a judgement that failed.
func shownExpression(j record.Judgement) string {
	if len(j.Operands) == 0 && (j.Label != "" || ownReason(j) != "") {
		return ""
	}
	return cut(j.Expression, longest)
}

// detail is what made a judgement: the label of its case, the values where it failed, else the reason; long ones cut short,
// the table has them whole. One that is not a pass is never without: what has no reason has its expression, unless that is said
// already, and values.
func (b *builder) detail(j record.Judgement, said bool) Text {
	var parts []Text
	if j.Label != "" {
		parts = append(parts, text(cut(j.Label, longest)))
	}
	reason := ownReason(j)
	if j.Outcome == record.Fail && len(j.Operands) > 0 || len(parts) == 0 && reason == "" {
		if e := cut(j.Expression, longest); e != "" && !said {
			parts = append(parts, text(mono(e)))
		}
		if len(j.Operands) > 0 {
			parts = append(parts, operands(j.Operands[:min(len(j.Operands), 4)]))
		}
	}
	if reason != "" {
		parts = append(parts, text(cut(reason, longestReason)))
	}
	if j.Broke != "" {
		parts = append(parts, text("first at "+j.Broke))
	}
	return join(parts, ", ")
}

// ownReason is a judgement's reason without its expression, which is the reason of a case that held.
func ownReason(j record.Judgement) string {
	if j.Expression == "" {
		return j.Reason
	}
	return strings.TrimSuffix(strings.TrimSuffix(j.Reason, j.Expression), ": ")
}

// cut makes s one line of about n letters at most, at the end of a word.
func cut(s string, n int) string {
	s = oneLine(s)
	rs := []rune(s)
	if len(rs) <= n {
		return s
	}
	s = string(rs[:n])
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:") + " \u2026"
}
