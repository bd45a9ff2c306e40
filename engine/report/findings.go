package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// findings are the sentences that a report opens with, all of them computed: the outcome first, then an answer to each
// question that a reader has, in the order in which it matters. Each answer is bounded, however many cells there are.
func findings(b *builder) ([]Section, error) {
	s := Section{Title: "Findings"}
	groups, err := b.groupsOfFindings()
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if len(g.items) == 0 && g.table == nil {
			continue
		}
		if g.title != "" {
			s.Blocks = append(s.Blocks, Heading{g.title})
		}
		if g.table != nil {
			s.Blocks = append(s.Blocks, *g.table)
		}
		if len(g.items) > 0 {
			s.Blocks = append(s.Blocks, List{g.items})
		}
	}
	return []Section{s}, nil
}

const (
	aheadTitle  = "Who is fastest"
	judgedTitle = "What the verdicts say"
	sinceTitle  = "Against earlier result sets"
	againTitle  = "Run it again"
)

// A finding answers one question.
type finding struct {
	title string
	items []Text
	table *Table // stands before them; may be nil
}

func (b *builder) groupsOfFindings() ([]finding, error) {
	if b.imported() != nil {
		return []finding{
			{items: slices.Concat(b.notMeasured(), b.ending())},
			b.ahead(),
			{title: judgedTitle, items: b.judged()},
			{title: sinceTitle, items: b.since()},
			{title: "What failed", items: b.publishedFailures()},
			{title: "What is missing", items: b.absent()},
		}, nil
	}
	failed, err := b.failed()
	if err != nil {
		return nil, err
	}
	deaths, err := b.deaths()
	if err != nil {
		return nil, err
	}
	crowds, partial, err := b.crowds()
	if err != nil {
		return nil, err
	}
	crowded, err := b.crowded(crowds, partial)
	if err != nil {
		return nil, err
	}
	shaken, err := b.shaken()
	if err != nil {
		return nil, err
	}
	return []finding{
		{items: slices.Concat(b.ending(), b.own())},
		b.ahead(),
		{title: judgedTitle, items: b.judged()},
		{title: sinceTitle, items: b.since()},
		{title: "What failed, and when", items: slices.Concat(failed, b.resent(), crowded, deaths)},
		{title: "What churn and faults did", items: shaken},
		{title: "Can it be trusted", items: slices.Concat(b.generator(crowds), b.distrust(), b.generatorFigures(), b.shared(), b.slowed(), b.guessed(), b.disagreed())},
		{title: "What is missing", items: b.absent()},
		{title: againTitle, items: b.rerun()},
	}, nil
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
	span := strong(end)
	switch b.res.Exit {
	case 0:
	case 3:
		span = doubtful(end)
	default:
		span = bad(end)
	}
	items = append(items, text(span, "."))
	if len(b.res.Undone) > 0 {
		items = append(items, text(bad(plural.Of(len(b.res.Undone), "change")+" could not be undone"), "; see below."))
	}
	if !b.res.Complete {
		items = append(items, text(doubtful("The result set is not complete"), ": "+b.incomplete()+"."))
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
		parts = append(parts, "the engine died during "+plural.Of(k, "run"))
	}
	if k := n[record.Interrupted]; k > 0 {
		parts = append(parts, plural.Of(k, "run")+" interrupted")
	}
	empty := 0
	for _, c := range b.res.Cells {
		if len(c.Runs) == 0 && (c.Status == record.Interrupted || c.Status == record.Unfinished || c.Status == "") {
			empty++
		}
	}
	if empty > 0 {
		parts = append(parts, plural.Of(empty, "cell")+" without any run")
	}
	if len(parts) == 0 {
		return "some runs of the schedule are missing"
	}
	return strings.Join(parts, ", ")
}
