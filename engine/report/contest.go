package report

import (
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// A contest is the targets of one scenario, stage and matrix value by its headline metric: the best, the next best, and what
// the ratio of the two may be taken for.
type contest struct {
	units       []unit
	cell        *record.Cell // one of them
	where       string
	metric      compare.Name
	ranked      []string // the targets that have a value, the best first; those whose value says nothing come last
	first, next string   // set, as what follows is, if it is decided
	between     comparison
	tied        []string     // further targets that the noise does not tell from the first
	behind      []comparison // each other target against the best, only those that are worse beyond the noise
	again       []*contest   // the same in the stages that repeat this one
	repeats     bool         // it is among those of an earlier stage
}

// contests are those of all scenarios that have several targets and a figure to compare them by, in the order of the cells.
func (b *builder) contests() []*contest {
	if b.ranked == nil {
		b.ranked = []*contest{}
		for _, g := range b.comparable() {
			if metrics := b.headline(g.units); len(metrics) > 0 && len(g.units) > 1 {
				b.ranked = append(b.ranked, b.contest(g, compare.ParseName(metrics[0])))
			}
		}
		b.fold()
	}
	return b.ranked
}

// fold finds the contests of stages that repeat an earlier one.
func (b *builder) fold() {
	for i, c := range b.ranked {
		for _, d := range b.ranked[i+1:] {
			if !c.repeats && !d.repeats && c.metric == d.metric &&
				slices.ContainsFunc(b.again[c.cell], func(again *record.Cell) bool { return again != c.cell && b.contested(again) == d.where }) {
				c.again, d.repeats = append(c.again, d), true
			}
		}
	}
}

func (b *builder) contest(g group, m compare.Name) *contest {
	c := &contest{units: g.units, cell: g.units[0].cell, where: g.name, metric: m, ranked: b.ranking(g.units, m)}
	if !c.decided() {
		return c
	}
	c.first, c.next = c.ranked[0], c.ranked[1]
	c.between = b.lead(c, c.next)
	for i, t := range c.ranked[1:] {
		behind := b.compare(c.units, record.Ratio{Of: t, To: record.Against{Target: c.first}}, m)
		switch behind.Outcome() {
		case compare.Worse:
			c.behind = append(c.behind, behind)
		case compare.WithinNoise:
			if i > 0 {
				c.tied = append(c.tied, t)
			}
		}
	}
	return c
}

// ranking are the targets that have a value, the best first; those whose value says nothing come last.
func (b *builder) ranking(units []unit, m compare.Name) (ranked []string) {
	for rest := slices.Clone(units); len(rest) > 0; {
		sides := make([]compare.Side, len(rest))
		for i, u := range rest {
			sides[i] = b.side(rest, u.at("target"))
		}
		i := compare.Best(m, b.desc(m.Metric), sides, compare.Options{})
		if i < 0 { // what has a value that says nothing still is to be named
			i = slices.IndexFunc(rest, func(u unit) bool { return b.read(u, m).Why == "" })
		}
		if i < 0 {
			return ranked
		}
		ranked = append(ranked, rest[i].at("target"))
		rest = slices.Delete(rest, i, i+1)
	}
	return ranked
}

// decided is true of a contest of which two targets have a value.
func (c *contest) decided() bool { return len(c.ranked) > 1 }

// won reports whether the first is ahead beyond the noise: of the next, and of every other target, for the noise of one that is
// further behind may be larger.
func (c *contest) won() bool { return c.between.Outcome() == compare.Better && len(c.tied) == 0 }

// lead compares the first with another target.
func (b *builder) lead(c *contest, target string) comparison {
	return b.compare(c.units, record.Ratio{Of: c.first, To: record.Against{Target: target}}, c.metric)
}

// apart says whether the runs of the first and the next differ by more than they do among themselves: the interval of their
// ratio does not hold 1.
func (c *contest) apart() bool {
	i := c.between.Ratio.Interval
	return i[0] > 1 || i[1] > 0 && i[1] < 1
}
