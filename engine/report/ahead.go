package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
)

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
