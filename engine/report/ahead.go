package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/plural"
)

// How much the findings name of who is ahead.
const (
	mostLeaders = 16 // lines of the table
	mostTargets = 6  // sentences about targets
)

// ahead says in the findings who is ahead: in a line for each scenario, a stage that repeats another one within that one's
// line; then in how many each target is; where repeated stages name different ones; and where each target loses most.
func (b *builder) ahead() finding {
	f := finding{title: aheadTitle}
	all := slices.DeleteFunc(slices.Clone(b.contests()), func(c *contest) bool { return c.repeats })
	if len(all) == 0 {
		return f
	}
	f.table = &Table{Columns: []Column{{Title: "scenario"}, {Title: "by"}, {Title: "first"}, {Title: "its value", Right: true}, {Title: "second"}, {Title: "its value", Right: true}, {Title: "ratio", Right: true}, {Title: "beyond the noise?"}}}
	for _, c := range all[:min(len(all), mostLeaders)] {
		f.table.Rows = append(f.table.Rows, b.leader(c))
	}
	if more := len(all) - mostLeaders; more > 0 {
		f.items = append(f.items, text(plural.Of(more, "more scenario"), plural.Verb(more, " is", " are"), " in Side by side."))
	}
	decided := slices.DeleteFunc(all, func(c *contest) bool { return !c.decided() })
	if len(decided) > 1 {
		f.items = append(f.items, b.tally(decided))
	}
	f.items = append(f.items, b.reversed(decided)...)
	f.items = append(f.items, b.behind(decided)...)
	return f
}

// leader is the line of a contest.
func (b *builder) leader(c *contest) []Text {
	line := row(c.where, text(mono(b.header(c.metric))))
	if !c.decided() {
		return append(line, row("n/a", "", "n/a", "", "n/a", b.undecided(c))...)
	}
	class := b.desc(c.metric.Metric).Class
	if c.nobody != "" {
		value := "n/a"
		if c.same {
			value = number(c.between.Of.Value, class)
		}
		return append(line, row("nobody", value, "n/a", "", c.between.value(), b.sure(c))...)
	}
	first := text(oneLine(c.first))
	if c.won() {
		first = text(strong(oneLine(c.first)))
	}
	return append(line, first, text(number(c.between.Of.Value, class)), text(oneLine(c.next)), text(number(c.between.To.Value, class)), text(c.between.value()), b.sure(c))
}

// undecided says which targets are not to be compared, and why.
func (b *builder) undecided(c *contest) (t Text) {
	t = text(Span{Text: "nothing to compare", Style: Missing}, ": no target has a value")
	if len(c.ranked) == 1 {
		t = text(Span{Text: "nothing to compare", Style: Missing}, ": only "+oneLine(c.ranked[0])+" has a value")
	}
	for _, u := range c.units {
		if r := b.read(u, c.metric); r.Why != "" {
			t = append(t, b.note(r.Why))
		}
	}
	return t
}

// sure says whether the first is ahead beyond the noise, in words that begin with the answer, and who is first in the stages
// that repeat this one.
func (b *builder) sure(c *contest) Text {
	t := b.surely(c)
	for _, again := range c.again {
		stage := oneLine(again.cell.Coord.Stage)
		switch {
		case !again.decided():
		case again.nobody != "":
			t = append(t, text("; in "+stage+" nobody is first")...)
		case again.first == c.first && c.nobody == "":
			t = append(t, text("; first in "+stage+" too"+there(c, again))...)
		default:
			t = append(t, text("; in "+stage+" "+oneLine(again.first)+" is first"+there(c, again))...)
		}
	}
	return t
}

// there says how a stage that repeats a contest answers, where that is not as the first does.
func there(c, again *contest) string {
	switch o := again.between.Outcome(); {
	case again.won() == c.won():
		return ""
	case again.won():
		return ", there beyond the noise"
	case o == compare.Untrusted:
		return ", there not to be trusted"
	case o == compare.Unknown || o == compare.NA:
		return ", there its noise is not known"
	case o == compare.Better:
		return ", there not beyond the noise of all"
	}
	return ", there within the noise"
}

// surely is what sure says of the contest alone.
func (b *builder) surely(c *contest) (t Text) {
	x := c.between
	if c.nobody != "" {
		return text("no: " + c.nobody)
	}
	switch x.Outcome() {
	case compare.NA:
		return text(Span{Text: "no ratio", Style: Missing}, ": "+x.Ratio.NA)
	case compare.Untrusted:
		t = text(doubtful("not to be trusted"), b.spoilt(x), ": a guard did not hold; ")
		if x.Ratio.Noise == stats.Unknown {
			return append(t, text("nor is the noise known: "+x.needs())...)
		}
		return append(t, text("as measured "+x.noise())...)
	case compare.Unknown:
		return text(doubtful("not known"), ": "+x.needs())
	case compare.WithinNoise:
		t = text("no: " + x.noise())
		if len(c.tied) > 0 {
			t = append(t, text("; nor "+plural.Verb(len(c.tied), "is ", "are ")+c.ties()+" told apart")...)
		}
		return t
	}
	if !c.won() {
		return text(fmt.Sprintf("not of all: %s is behind, the noise floor is %s%s; %s %s not told apart", oneLine(c.next), factor(x.Ratio.Floor), x.ranged(), c.ties(), plural.Verb(len(c.tied), "is", "are")))
	}
	return text(Span{Text: "yes", Style: Good}, fmt.Sprintf(": the noise floor is %s%s", factor(x.Ratio.Floor), x.ranged()))
}

// ties names the targets that are not told from the first: caddy (ratio 0.857, noise floor 1.310).
func (c *contest) ties() string {
	names := make([]string, len(c.tied))
	for i, x := range c.tied {
		names[i] = fmt.Sprintf("%s (ratio %s, noise floor %s)", oneLine(x.to), x.value(), factor(x.Ratio.Floor))
		if x.Ratio.OnlyJust {
			names[i] = fmt.Sprintf("%s (ratio %s, 95 %% interval %s)", oneLine(x.to), x.value(), x.interval())
		}
	}
	return and(names)
}

// needs says why the noise of a ratio is not known, and how many runs would tell.
func (c comparison) needs() string {
	of, to := len(c.Of.Runs), len(c.To.Runs)
	switch {
	case c.Ratio.Needed == 0 || c.Of.Only+c.To.Only != "":
		return c.Ratio.Why
	case of == to:
		return fmt.Sprintf("%s a side, %d are needed", plural.Of(of, "run"), stats.MinRuns)
	}
	return fmt.Sprintf("%d and %s, %d a side are needed", of, plural.Of(to, "run"), stats.MinRuns)
}

// tally says in how many contests each target is ahead, and how the others came out.
func (b *builder) tally(all []*contest) Text {
	won := map[string]int{}
	n := map[compare.Outcome]int{}
	same := 0
	for _, c := range all {
		o := c.between.Outcome()
		switch {
		case c.same:
			same++
			continue
		case c.won():
			won[c.first]++
		case o == compare.Better:
			o = compare.WithinNoise // of another one than the next
		}
		n[o]++
	}
	names := b.inOrder(won)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(won[y], won[x]) })
	of := plural.Of(len(all), "comparison")
	t := text(strong("Nobody is ahead"), " beyond the noise in any of "+of)
	for i, target := range names[:min(len(names), mostTargets)] {
		if i == 0 {
			t = text(strong(oneLine(target)+" is ahead"), fmt.Sprintf(" beyond the noise in %d of %s", won[target], of))
			continue
		}
		t = append(t, text(", ", strong(oneLine(target)), fmt.Sprintf(" in %d", won[target]))...)
	}
	if more := len(names) - mostTargets; more > 0 {
		t = append(t, text(", and "+plural.Of(more, "more target")+" somewhere")...)
	}
	for _, o := range []struct {
		outcome compare.Outcome
		words   string
	}{{compare.WithinNoise, "within the noise"}, {compare.Unknown, "the noise is not known"}, {compare.Untrusted, "a guard did not hold"}, {compare.NA, "there is no ratio"}} {
		if k := n[o.outcome]; k > 0 {
			t = append(t, text(fmt.Sprintf("; %s in %d", o.words, k))...)
		}
	}
	if same > 0 {
		t = append(t, text(fmt.Sprintf("; the best have the same value in %d", same))...)
	}
	return append(t, text(".")...)
}

// inOrder are the targets of a map in the order in which they are shown.
func (b *builder) inOrder(of map[string]int) []string {
	names := sorted(of)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(b.rank["target"][x], b.rank["target"][y]) })
	return names
}

func times(v float64) string { return factor(v) + " times" }

// and joins names: a, b and c.
func and(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
