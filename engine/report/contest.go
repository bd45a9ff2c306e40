package report

import (
	"math"
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
	nobody      string       // why nobody is first, though it is decided; "" if somebody is
	same        bool         // which is that the best have the same value
	tied        []comparison // of the first to further targets that the noise does not tell from it
	behind      []comparison // each other target against the best, only those that are worse beyond the noise
	noRatio     []comparison // and those of which there is no ratio to the best, of what has no value too
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
	c.nobody, c.same = b.nobody(c)
	for _, t := range b.others(c) {
		behind := b.compare(c.units, record.Ratio{Of: t, To: record.Against{Target: c.first}}, m)
		switch behind.Outcome() {
		case compare.Worse:
			c.behind = append(c.behind, behind)
		case compare.WithinNoise:
			if t != c.next {
				c.tied = append(c.tied, b.lead(c, t))
			}
		case compare.NA:
			if c.nobody == "" || c.same && behind.Of.Value != behind.To.Value {
				c.noRatio = append(c.noRatio, behind)
			}
		}
	}
	return c
}

// others are the targets that were measured but for the first: the ranked ones, then those that have no value.
func (b *builder) others(c *contest) []string {
	out := slices.Clone(c.ranked[1:])
	for _, u := range c.units {
		if t := u.at("target"); u.cell.Status.HasResults() && !slices.Contains(c.ranked, t) {
			out = append(out, t)
		}
	}
	return out
}

// nobody says why none of the targets is first: the best ones have the same value, or no value says anything.
func (b *builder) nobody(c *contest) (why string, same bool) {
	fit := slices.DeleteFunc(slices.Clone(c.ranked), func(t string) bool {
		return len(compare.Unfit(c.metric, b.desc(c.metric.Metric), []compare.Side{b.side(c.units, t)}, compare.Options{})) > 0
	})
	if len(fit) == 0 {
		return "no value says anything: " + c.between.Ratio.NA, false
	}
	equal := slices.DeleteFunc(fit, func(t string) bool { return b.lead(c, t).To.Value != c.between.Of.Value })
	if len(equal) < 2 {
		return "", false
	}
	return oneLine(and(equal)) + " have the same value", true
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
			i = compare.Best(m, b.desc(m.Metric), sides, compare.Options{DistortedAbove: math.Inf(1)})
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
