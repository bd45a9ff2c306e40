package report

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/internal/plural"
)

// mostGuards bounds the sentences about guards; the section has them all.
const mostGuards = 5

// mostWarnings bounds the sentences about guards that only warn.
const mostWarnings = 3

// distrust says in the findings which guards did not hold, what that spoils, and what they saw; those of the load generator and of
// its machine first.
func (b *builder) distrust() (items []Text) {
	bad, _ := b.broken(guardsOfResults)
	bad = slices.DeleteFunc(bad, func(g *broken) bool { return g.guard.Name == generatorKnown }) // generator says it
	slices.SortStableFunc(bad, func(x, y *broken) int {
		switch first := isOfGenerator(x.guard); {
		case first == isOfGenerator(y.guard):
			return 0
		case first:
			return -1
		}
		return 1
	})
	var spoils, warns []Text
	for _, g := range bad {
		what := Span{Text: upper(g.say())}
		if g.guard.Taints != "" {
			what = doubtful(upper(g.say()))
		}
		item := text(what, " ("+g.guard.Name+", in ", b.inRuns(g.runs), "); "+taintWord(g.guard.Taints)+". ", g.saw(), ".")
		if g.guard.Taints != "" {
			spoils = append(spoils, item)
		} else {
			warns = append(warns, item)
		}
	}
	items = append(firstOf(spoils, mostGuards, "more guard", "did not hold"), b.failedChecks()...)
	return append(items, firstOf(warns, mostWarnings, "more guard", "gave a warning")...)
}

// failedChecks says which of its own checks the harness failed.
func (b *builder) failedChecks() []Text {
	var items []Text
	bad, _ := b.broken(checksOf)
	for _, g := range bad {
		what := "The harness itself failed its check " + g.guard.Name
		if g.guard.Name == harness {
			what = "Something of the harness itself did not work"
		}
		items = append(items, text(strong(what), " in ", b.inRuns(g.runs), ". ", g.saw(), "."))
	}
	return firstOf(items, mostGuards, "more self-check", "failed")
}

// firstOf are the first n sentences, and how many there are beyond: what is counted, and what it did.
func firstOf(items []Text, n int, what, did string) []Text {
	if len(items) <= n {
		return items
	}
	return append(items[:n:n], text(fmt.Sprintf("And %s %s; see Can it be trusted.", plural.Of(len(items)-n, what), did)))
}
