package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// A contest is the targets of one scenario, stage and matrix value by its headline metric: the best, the next best, and what
// the ratio of the two may be taken for.
type contest struct {
	cell        *record.Cell // one of them
	where       string
	metric      string
	first, next string
	between     comparison
	behind      []comparison // each other target against the best, only those that are worse beyond the noise
}

// contests are those of all cells in which at least two targets have a value.
func (b *builder) contests() (out []contest, err error) {
	all := make([]int, len(b.res.Cells))
	for i := range all {
		all[i] = i
	}
	units, err := b.units(all)
	if err != nil {
		return nil, err
	}
	for _, g := range b.groups(units, slices.DeleteFunc(b.coordinates(), func(n string) bool { return n == "target" })) {
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
	c := contest{cell: g[0].cell, where: b.contested(g[0].cell), metric: metric}
	rest := slices.Clone(g)
	best := func() string {
		sides := make([]compare.Side, len(rest))
		for i, u := range rest {
			sides[i] = b.side(rest, u.at("target"))
		}
		i := compare.Best(m, b.desc(metric), sides, compare.Options{})
		if i < 0 { // what has a value that says nothing still is to be named
			i = slices.IndexFunc(rest, func(u unit) bool { return b.read(u, m).Why == "" })
		}
		if i < 0 {
			return ""
		}
		target := rest[i].at("target")
		rest = slices.Delete(rest, i, i+1)
		return target
	}
	c.first, c.next = best(), best()
	if c.first == "" || c.next == "" {
		return c, false
	}
	c.between = b.compare(g, record.Ratio{Of: c.first, To: record.Against{Target: c.next}}, m)
	for _, u := range g {
		if t := u.at("target"); t != c.first {
			if behind := b.compare(g, record.Ratio{Of: t, To: record.Against{Target: c.first}}, m); behind.Outcome() == compare.Worse {
				c.behind = append(c.behind, behind)
			}
		}
	}
	return c, true
}

// How much the findings name of who is ahead.
const (
	mostContests = 6 // in one sentence
	mostTargets  = 6 // sentences about targets
)

// ahead says in the findings who is ahead where, over whom and by how much beyond the noise, a sentence for each target;
// then what cannot be told apart, and why; then where each target loses most.
func (b *builder) ahead() (items []Text, err error) {
	all, err := b.contests()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	won := map[string][]string{}
	var within, unknown, blind, untrusted, na []string
	for _, c := range all {
		first, next := oneLine(c.first), oneLine(c.next)
		short := fmt.Sprintf("%s (%s of %s %s that of %s", c.where, c.metric, first, times(c.between.Ratio.Value), next)
		switch c.between.Outcome() {
		case compare.Better:
			won[c.first] = append(won[c.first], fmt.Sprintf("%s (%s %s that of %s%s, noise floor %s)", c.where, c.metric, times(c.between.Ratio.Value), next, c.between.ranged(), factor(c.between.Ratio.Floor)))
		case compare.WithinNoise:
			within = append(within, fmt.Sprintf("%s, noise floor %s)", short, factor(c.between.Ratio.Floor)))
		case compare.Untrusted:
			untrusted = append(untrusted, short+")")
		case compare.NA:
			na = append(na, fmt.Sprintf("%s (%s: %s)", c.where, c.metric, c.between.Ratio.NA))
		default:
			if c.between.Ratio.Needed == 0 && b.imported() == nil {
				blind = append(blind, short+": "+c.between.Ratio.Why+")")
				break
			}
			unknown = append(unknown, short+")")
		}
	}
	leaders := b.inOrder(won)
	slices.SortStableFunc(leaders, func(x, y string) int { return cmp.Compare(len(won[y]), len(won[x])) })
	for i, t := range leaders {
		if i == mostTargets {
			items = append(items, text(fmt.Sprintf("And %s more somewhere ahead; see Comparisons.", count(len(leaders)-mostTargets, "target"))))
			break
		}
		items = append(items, text(strong(oneLine(t)+" is ahead"), fmt.Sprintf(" beyond the noise in %d of %s: %s.", len(won[t]), count(len(all), "comparison"), list(won[t], mostContests))))
	}
	say := func(what string, of []string) {
		if len(of) > 0 {
			items = append(items, text(fmt.Sprintf("%s in %d of %s: %s.", what, len(of), count(len(all), "comparison"), list(of, mostContests))))
		}
	}
	items = append(items, b.reversed(all)...)
	say("Within the noise, so nobody is ahead,", within)
	if b.imported() != nil {
		say("Single runs were not published, so noise cannot be told from difference,", unknown)
	} else {
		say("Too few runs to tell noise from difference (3 a side are the least)", unknown)
	}
	say("The noise is not known", blind)
	say("A guard did not hold, so who is ahead is not to be trusted,", untrusted)
	say("No ratio", na)
	return append(items, b.behind(all)...), nil
}

// list joins at most n parts by semicolons, for parts that hold commas.
func list(parts []string, n int) string {
	if len(parts) <= n {
		return strings.Join(parts, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(parts[:n], "; "), len(parts)-n)
}

// inOrder are the targets of a map in the order in which they are shown.
func (b *builder) inOrder(of map[string][]string) []string {
	names := sorted(of)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(b.rank["target"][x], b.rank["target"][y]) })
	return names
}

// behind says where each target loses to the best, and where most. Of two targets one's lead is the other's loss.
func (b *builder) behind(all []contest) (items []Text) {
	if len(b.rank["target"]) < 3 {
		return nil
	}
	lost := map[string][]string{}
	for _, c := range all {
		for _, x := range c.behind {
			lost[x.of] = append(lost[x.of], fmt.Sprintf("%s (%s %s that of %s)", c.where, c.metric, times(x.Ratio.Value), oneLine(x.to)))
		}
	}
	targets := b.inOrder(lost)
	slices.SortStableFunc(targets, func(x, y string) int { return cmp.Compare(len(lost[y]), len(lost[x])) })
	const each = 3
	for i, t := range targets {
		if i == mostTargets {
			items = append(items, text(fmt.Sprintf("And %s more somewhere behind; see Comparisons.", count(len(targets)-mostTargets, "target"))))
			break
		}
		items = append(items, text(oneLine(t)+" loses", fmt.Sprintf(" beyond the noise in %d of %s: %s.", len(lost[t]), count(len(all), "comparison"), list(lost[t], each))))
	}
	return items
}

// comparisons is the section of every comparison in a sentence.
func comparisons(b *builder) ([]Section, error) {
	items, err := b.leaders()
	if err != nil || len(items) == 0 {
		return nil, err
	}
	return []Section{{Title: "Comparisons", Blocks: []Block{List{items}}}}, nil
}
