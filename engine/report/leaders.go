package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/stats"
)

// mostLeaders bounds the sentences about who is ahead; the tables have them all.
const mostLeaders = 20

// leaders says for each row of targets who is ahead by the headline metric, how far, and whether that is more than noise.
// The leader is compared with each target that is not beyond the noise behind it, and with the next best.
func (b *builder) leaders() (items []Text, err error) {
	all, err := b.contests()
	for _, c := range all[:min(len(all), mostLeaders)] {
		items = append(items, b.leader(c))
	}
	if more := len(all) - mostLeaders; more > 0 {
		items = append(items, text(fmt.Sprintf("%d more comparisons are in the tables.", more)))
	}
	return items, err
}

func (b *builder) leader(contest contest) Text {
	first, ranked := oneLine(contest.first), contest.ranked
	to := func(target string) comparison {
		c := b.lead(contest, target)
		c.to = oneLine(c.to)
		return c
	}
	second := to(contest.next)
	t := text(contest.where+": ", mono(contest.metric), " ")
	switch {
	case second.Ratio.NA != "":
		return append(t, text("of "+first+" to "+second.to+" has no ratio: "+second.Ratio.NA+".")...)
	case second.tainted():
		t = append(t, text(fmt.Sprintf("of %s is %s that of %s%s, but a guard did not hold: not to be trusted.", first, times(second.Ratio.Value), second.to, second.ranged()))...)
		return append(t, b.spoilt(second)...)
	case second.Ratio.Noise == stats.Unknown:
		t = append(t, text(fmt.Sprintf("of %s is %s that of %s%s, but %s.", first, times(second.Ratio.Value), second.to, second.ranged(), second.Ratio.Why))...)
	case second.Ratio.Noise == stats.Beyond:
		t = append(t, text("puts ", strong(first+" ahead"), fmt.Sprintf(": %s that of %s%s, %s.", times(second.Ratio.Value), second.to, second.ranged(), second.noise()))...)
	default:
		tied := []string{first}
		for _, u := range ranked[1:] {
			c := to(u)
			if c.Ratio.Noise != stats.Within || c.tainted() {
				break
			}
			tied = append(tied, c.to)
		}
		t = append(t, text(fmt.Sprintf("does not tell %s apart: %s to %s is %s%s, %s.", and(tied), first, second.to, second.value(), second.ranged(), second.noise()))...)
	}
	if len(ranked) > 2 {
		if c := to(ranked[len(ranked)-1]); c.Ratio.NA == "" && !c.tainted() {
			t = append(t, text(fmt.Sprintf(" Last is %s: %s to it is %s%s, %s.", c.to, first, c.value(), c.ranged(), c.noise()))...)
		}
	}
	return append(t, b.spoilt(second)...)
}

func times(v float64) string { return factor(v) + " times" }

// and joins names: a, b and c.
func and(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0]
	case 2:
		return names[0] + " and " + names[1]
	default:
		s := names[0]
		for _, x := range names[1 : n-1] {
			s += ", " + x
		}
		return s + " and " + names[n-1]
	}
}
