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
	metric      string
	ranked      []string // the targets that have a value, the best first; those whose value says nothing come last
	first, next string
	between     comparison
	behind      []comparison // each other target against the best, only those that are worse beyond the noise
}

// rivals are the units of all cells, those together that differ in the target alone.
func (b *builder) rivals() ([][]unit, error) {
	all := make([]int, len(b.res.Cells))
	for i := range all {
		all[i] = i
	}
	units, err := b.units(all)
	if err != nil {
		return nil, err
	}
	return b.groups(units, slices.DeleteFunc(b.coordinates(), func(n string) bool { return n == "target" })), nil
}

// contests are those of all cells in which at least two targets have a value.
func (b *builder) contests() (out []contest, err error) {
	rivals, err := b.rivals()
	if err != nil {
		return nil, err
	}
	for _, g := range rivals {
		if metrics := b.headline(g); len(metrics) > 0 {
			if c, ok := b.contest(g, metrics[0]); ok {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func (b *builder) contest(g []unit, metric string) (contest, bool) {
	m := compare.ParseName(metric)
	c := contest{units: g, cell: g[0].cell, where: b.contested(g[0].cell), metric: metric}
	for rest := slices.Clone(g); len(rest) > 0; {
		sides := make([]compare.Side, len(rest))
		for i, u := range rest {
			sides[i] = b.side(rest, u.at("target"))
		}
		i := compare.Best(m, b.desc(metric), sides, compare.Options{})
		if i < 0 { // what has a value that says nothing still is to be named
			i = slices.IndexFunc(rest, func(u unit) bool { return b.read(u, m).Why == "" })
		}
		if i < 0 {
			break
		}
		c.ranked = append(c.ranked, rest[i].at("target"))
		rest = slices.Delete(rest, i, i+1)
	}
	if len(c.ranked) < 2 {
		return c, false
	}
	c.first, c.next = c.ranked[0], c.ranked[1]
	c.between = b.lead(c, c.next)
	for _, u := range g {
		if t := u.at("target"); t != c.first {
			if behind := b.compare(g, record.Ratio{Of: t, To: record.Against{Target: c.first}}, m); behind.Outcome() == compare.Worse {
				c.behind = append(c.behind, behind)
			}
		}
	}
	return c, true
}

// lead compares the first with another target.
func (b *builder) lead(c contest, target string) comparison {
	return b.compare(c.units, record.Ratio{Of: c.first, To: record.Against{Target: target}}, compare.ParseName(c.metric))
}
