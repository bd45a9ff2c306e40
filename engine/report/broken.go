package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// A broken guard with the runs that it broke in.
type broken struct {
	guard record.Guard

	runs  []*record.Run
	seens []record.Guard // as each run has it
}

// broken collects guards (or self-checks) that did not hold, by name and taint, in order of appearance; held is how many
// did.
func (b *builder) broken(of func(*record.Run) []record.Guard) (out []*broken, held int) {
	for r := range b.runsOfCells() {
		for _, g := range of(r) {
			if g.OK {
				held++
				continue
			}
			i := slices.IndexFunc(out, func(x *broken) bool { return x.guard.Name == g.Name && x.guard.Taints == g.Taints })
			if i < 0 {
				i = len(out)
				out = append(out, &broken{guard: g})
			}
			out[i].runs = append(out[i].runs, r)
			out[i].seens = append(out[i].seens, g)
		}
	}
	return out, held
}

func guardsOf(r *record.Run) []record.Guard { return r.Guards }

// guardsOfResults are those of figures that are in the report.
func guardsOfResults(r *record.Run) []record.Guard {
	if !r.Status.HasResults() {
		return nil
	}
	return r.Guards
}

// harness is the name under which a run's Facts.Harness are shown beside its self-checks.
const harness = "harness"

// checksOf are the self-checks, and what else did not work of the harness.
func checksOf(r *record.Run) []record.Guard {
	list := slices.Clone(r.Checks)
	for _, h := range r.Facts.Harness {
		list = append(list, record.Guard{Name: harness, Message: h})
	}
	return list
}

// say tells what a broken guard means.
func (g *broken) say() string {
	if w := guardWords[g.guard.Name]; w != "" {
		return w
	}
	return "the guard " + g.guard.Name + " did not hold"
}

// mostSeen bounds the messages of changes that are shown: each has its own reason, and one may follow from another.
const mostSeen = 3

// worst is the message of the run in which it was worst, or where nothing is known in numbers of the first, and which of the runs
// that is: "in the worst of 3 runs". Of one run, and of changes, it is all messages, and which is empty.
func (g *broken) worst() (message Text, which string) {
	runs, word := distinct(g.runs), "first"
	if g.guard.Name == "change" || runs == 1 {
		return g.each(), ""
	}
	worst := slices.MaxFunc(g.seens, func(x, y record.Guard) int { return cmp.Compare(badness(x), badness(y)) })
	if badness(worst) > 0 {
		word = "worst"
	}
	return text(bare(worst.Message)), fmt.Sprintf("in the %s of %s", word, plural.Of(runs, "run"))
}

// seen is what was seen, for a table: "in the worst of 3 runs: 12 %".
func (g *broken) seen() Text {
	message, which := g.worst()
	if which == "" {
		return message
	}
	return text(which+": ", message)
}

// saw says what was seen, as the begin of a sentence: "Seen in the worst of 3 runs: 12 %".
func (g *broken) saw() Text {
	message, which := g.worst()
	if which == "" {
		return text("Seen: ", message)
	}
	return text("Seen "+which+": ", message)
}

// each lists the messages, and says how many more there are.
func (g *broken) each() Text {
	all := make([]string, len(g.seens))
	for i, x := range g.seens {
		all[i] = bare(x.Message)
	}
	return list(all, mostSeen)
}

// badness orders what a guard saw in several runs: by the first figure of its message; 0 if it saw nothing in numbers.
func badness(g record.Guard) float64 {
	switch s := g.Seen; {
	case s == nil:
		return 0
	case g.Name == "own-delay":
		return s.Delay
	case g.Name == "foreign-cpu":
		return s.Foreign
	case g.Name == "busy-machine":
		return s.Waited
	case s.CPUs > 0:
		return max(s.Cores/float64(s.CPUs), s.Waited)
	}
	return 0
}

// bare is a guard's message without what its name says already, and without a full stop.
func bare(message string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(oneLine(message), bottleneck+": "), busy+": "), ".")
}
