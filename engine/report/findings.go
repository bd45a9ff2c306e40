package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// findings are the sentences that a report opens with, all of them computed.
func findings(b *builder) ([]Section, error) {
	var items []Text
	items = append(items, b.ending()...)
	items = append(items, b.judged()...)
	leaders, err := b.leaders()
	if err != nil {
		return nil, err
	}
	items = append(items, leaders...)
	items = append(items, b.failed()...)
	items = append(items, b.deaths()...)
	items = append(items, b.distrust()...)
	items = append(items, b.guessed()...)
	items = append(items, b.absent()...)
	return []Section{{Title: "Findings", Blocks: []Block{List{items}}}}, nil
}

var exits = map[int]string{
	0:   "every gate passed",
	1:   "a gating verdict failed",
	2:   "the plan or the command line is wrong",
	3:   "a gating verdict is inconclusive, or judged nothing",
	4:   "the harness failed",
	5:   "something could not be undone",
	130: "interrupted",
}

// ending says how the plan ended.
func (b *builder) ending() (items []Text) {
	why := b.res.ExitWhy
	if why == "" {
		why = exits[b.res.Exit]
	}
	if !b.gated() && b.res.Exit == 0 && b.res.ExitWhy == "" {
		why = "nothing was to stop it: the plan has no gate"
	}
	end := fmt.Sprintf("Exit %d", b.res.Exit)
	if why != "" {
		end += ": " + why
	}
	items = append(items, text(strong(end), "."))
	if len(b.res.Undone) > 0 {
		items = append(items, text(strong(count(len(b.res.Undone), "change")+" could not be undone"), "; see below."))
	}
	if !b.res.Complete {
		items = append(items, text(strong("The result set is not complete"), ": "+b.incomplete()+"."))
	}
	return items
}

func (b *builder) gated() bool {
	return slices.ContainsFunc(b.res.Verdicts, func(j record.Judgement) bool { return j.Gate != "" && j.Gate != "false" })
}

// incomplete says why runs are missing.
func (b *builder) incomplete() string {
	n := map[record.Status]int{}
	for _, r := range b.in.Runs {
		n[r.Status]++
	}
	var parts []string
	if k := n[record.Unfinished]; k > 0 {
		parts = append(parts, "the engine died during "+count(k, "run"))
	}
	if k := n[record.Interrupted]; k > 0 {
		parts = append(parts, count(k, "run")+" interrupted")
	}
	empty := 0
	for _, c := range b.res.Cells {
		if len(c.Runs) == 0 && (c.Status == record.Interrupted || c.Status == record.Unfinished || c.Status == "") {
			empty++
		}
	}
	if empty > 0 {
		parts = append(parts, count(empty, "cell")+" without any run")
	}
	if len(parts) == 0 {
		return "some runs of the schedule are missing"
	}
	return strings.Join(parts, ", ")
}

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
	var hold []Text
	var later []Text
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
			hold = append(hold, quoted(name))
			continue
		}
		for _, o := range []string{record.Fail, record.Error, record.Inconclusive, record.NotSupported} {
			of := slices.DeleteFunc(slices.Clone(js), func(j record.Judgement) bool { return j.Outcome != o })
			if len(of) == 0 {
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
	switch len(hold) {
	case 0:
	case 1:
		items = append(items, text("The verdict ", hold[0], " holds everywhere."))
	default:
		items = append(items, text(count(len(hold), "verdict")+" hold everywhere: ", join(hold, ", "), "."))
	}
	return items
}

func quoted(s string) Text { return text("\u201c" + oneLine(s) + "\u201d") }

var outcomeWords = map[string]string{
	record.Fail: "fails", record.Error: "could not be judged (error)", record.Inconclusive: "is inconclusive", record.NotSupported: "is unsupported",
}

// outcomeSentence: The gate "nothing fails" fails for 2 of 6: churn / nginx (failed == 0, failed = 12), ...
func (b *builder) outcomeSentence(name, o string, of []record.Judgement, all int, gate bool) Text {
	const most = 4
	word := "verdict"
	if gate {
		word = "gate"
	}
	t := text("The "+word+" ", quoted(name), " ", strong(outcomeWords[o]))
	if all > 1 {
		t = append(t, text(fmt.Sprintf(" for %d of %d", len(of), all))...)
	}
	t = append(t, text(": ")...)
	for i, j := range of {
		if i == most {
			t = append(t, text(fmt.Sprintf(", and %d more", len(of)-most))...)
			break
		}
		if i > 0 {
			t = append(t, text("; ")...)
		}
		t = append(t, text(b.place(j.Coord))...)
		if detail := b.detail(j); len(detail) > 0 {
			t = append(t, text(" (", detail, ")")...)
		}
	}
	return append(t, text(".")...)
}

// detail is what made a judgement: the values where it failed, else the reason.
func (b *builder) detail(j record.Judgement) Text {
	var parts []Text
	if j.Outcome == record.Fail && len(j.Operands) > 0 {
		parts = append(parts, text(mono(j.Expression)), operands(j.Operands))
	}
	if j.Reason != "" {
		parts = append(parts, text(oneLine(j.Reason)))
	}
	if j.Broke != "" {
		parts = append(parts, text("first at "+j.Broke))
	}
	return join(parts, ", ")
}
