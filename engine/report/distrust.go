package report

import (
	"fmt"

	"github.com/planrun/planrun/internal/plural"
)

// mostGuards bounds the sentences about guards; the section has them all.
const mostGuards = 5

// distrust says in the findings which guards did not hold and what that spoils, apart from those of the load generator;
// warnings, which spoil nothing, together.
func (b *builder) distrust() (items []Text) {
	bad, _ := b.broken(guardsOf)
	var warnings []string
	more := 0
	for _, g := range bad {
		switch {
		case isOfGenerator(g.guard):
		case g.guard.Taints == "":
			warnings = append(warnings, fmt.Sprintf("%s (%s, in %s; %s)", g.say(), g.guard.Name, b.inRuns(g.runs), g.seen()))
		case len(items) == mostGuards:
			more++
		default:
			items = append(items, text(doubtful(upper(g.say())), fmt.Sprintf(" (%s, in %s); %s. Seen: %s.", g.guard.Name, b.inRuns(g.runs), taintWord(g.guard.Taints), g.seen())))
		}
	}
	if more > 0 {
		items = append(items, text(fmt.Sprintf("And %s more did not hold; see Can it be trusted.", plural.Of(more, "guard"))))
	}
	bad, _ = b.broken(checksOf)
	for _, g := range bad[:min(len(bad), mostGuards)] {
		what := "The harness itself failed its check " + g.guard.Name
		if g.guard.Name == harness {
			what = "Something of the harness itself did not work"
		}
		items = append(items, text(strong(what), fmt.Sprintf(" in %s. Seen: %s.", b.inRuns(g.runs), g.seen())))
	}
	if len(bad) > mostGuards {
		items = append(items, text(fmt.Sprintf("And %s more failed; see Can it be trusted.", plural.Of(len(bad)-mostGuards, "self-check"))))
	}
	if len(warnings) > 0 {
		items = append(items, text("Only a warning, nothing is withdrawn: "+some(warnings, 3)+"."))
	}
	return items
}
