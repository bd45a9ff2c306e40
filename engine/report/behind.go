package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/internal/plural"
)

// mostBehind bounds the comparisons that are named of a target.
const mostBehind = 3

// A loser is what the contests say of a target that is not first.
type loser struct {
	target        string
	lost, noRatio []string // by contest; what has no ratio is set beside the best in figures, or else it would seem to lose nothing
}

// behind says where each target loses to the best, and where most. Of two targets one's lead is the other's loss.
func (b *builder) behind(all []*contest) (items []Text) {
	if len(b.rank["target"]) < 3 {
		return nil
	}
	losers := b.losers(all)
	for i, l := range losers {
		if i == mostTargets {
			return append(items, text("And "+plural.Of(len(losers)-i, "more target")+" somewhere behind; see Side by side."))
		}
		items = append(items, l.says(plural.Of(len(all), "comparison"))...)
	}
	return items
}

// losers are the targets that are behind somewhere, or have no ratio to the best: those first that are so most often.
func (b *builder) losers(all []*contest) []*loser {
	by, in := map[string]*loser{}, map[string]int{}
	of := func(target string) *loser {
		if by[target] == nil {
			by[target] = &loser{target: target}
		}
		in[target]++
		return by[target]
	}
	for _, c := range all {
		for _, x := range c.behind {
			l := of(x.of)
			l.lost = append(l.lost, fmt.Sprintf("%s (%s %s that of %s)", c.where, c.metric.Text, times(x.Ratio.Value), oneLine(x.to)))
		}
		for _, x := range c.noRatio {
			l := of(x.of)
			l.noRatio = append(l.noRatio, fmt.Sprintf("%s (%s)", c.where, b.unrelated(c, x)))
		}
	}
	var losers []*loser
	for _, target := range b.inOrder(in) {
		losers = append(losers, by[target])
	}
	slices.SortStableFunc(losers, func(x, y *loser) int { return cmp.Compare(in[y.target], in[x.target]) })
	return losers
}

// unrelated says of a comparison without a ratio what is known of its sides, and why there is none.
func (b *builder) unrelated(c *contest, x comparison) string {
	class := b.desc(c.metric.Metric).Class
	its := "no " + c.metric.Text
	if x.Of.Why == "" {
		its = c.metric.Text + " " + number(x.Of.Value, class)
	}
	return fmt.Sprintf("%s beside %s of %s; %s", its, number(x.To.Value, class), oneLine(x.to), oneLine(x.Ratio.NA))
}

// says is a sentence of where it loses, and one of where it has no ratio: neither hides the other.
func (l *loser) says(of string) (items []Text) {
	for _, x := range []struct {
		words string
		in    []string
	}{{"loses beyond the noise", l.lost}, {"has no ratio to the best", l.noRatio}} {
		if n := len(x.in); n > 0 {
			items = append(items, text(fmt.Sprintf("%s %s in %d of %s: ", oneLine(l.target), x.words, n, of), list(x.in, mostBehind), "."))
		}
	}
	return items
}
