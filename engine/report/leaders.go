package report

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// mostLeaders bounds the sentences about who is ahead; the tables have them all.
const mostLeaders = 20

// leaders says for each row of targets who is ahead by the headline metric, how far, and whether that is more than noise.
// The leader is compared with each target that is not beyond the noise behind it, and with the next best.
func (b *builder) leaders() (items []Text, err error) {
	all := make([]int, len(b.res.Cells))
	for i := range all {
		all[i] = i
	}
	units, err := b.units(all)
	if err != nil || len(units) == 0 {
		return nil, err
	}
	coords := slices.DeleteFunc(b.coordinates(), func(n string) bool { return n == "target" })
	more := 0
	for _, g := range b.groups(units, coords) {
		metrics := b.headline(g)
		if len(metrics) == 0 {
			continue
		}
		m := compare.ParseName(metrics[0])
		t := b.leader(g, m)
		if t == nil {
			continue
		}
		if len(items) == mostLeaders {
			more++
			continue
		}
		items = append(items, t)
	}
	if more > 0 {
		items = append(items, text(fmt.Sprintf("%d more comparisons are in the tables.", more)))
	}
	return items, nil
}

func (b *builder) leader(g []unit, m compare.Name) Text {
	ranked := slices.DeleteFunc(slices.Clone(g), func(u unit) bool { return b.read(u, m).Why != "" })
	if len(ranked) < 2 {
		return nil
	}
	lower := b.desc(m.Metric).Better == series.Lower
	slices.SortStableFunc(ranked, func(x, y unit) int {
		vx, vy := b.read(x, m).Value, b.read(y, m).Value
		switch {
		case vx == vy:
			return 0
		case (vx < vy) == lower:
			return -1
		}
		return 1
	})
	coord := ranked[0].cell.Coord
	coord.Target = ""
	first := oneLine(ranked[0].at("target"))
	to := func(u unit) comparison {
		c := b.compare(g, record.Ratio{Of: ranked[0].at("target"), To: record.Against{Target: u.at("target")}}, m)
		c.to = oneLine(c.to)
		return c
	}
	second := to(ranked[1])
	t := text(b.name(coord)+": ", mono(m.Text), " ")
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
