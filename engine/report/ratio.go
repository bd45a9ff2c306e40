package report

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// A comparison is a ratio between two targets with what it means.
type comparison struct {
	metric metric
	of, to string // targets; to is the winner if it was the best of several
	best   []string
	a, b   reading
	ratio  stats.Ratio
	better series.Better
	// tainted is true if a guard spoils a side; notes has the footnotes that say so.
	tainted bool
	notes   Text
}

// compare gives the ratio of one target to another among the units of a row, one unit a target.
func (b *builder) compare(units []unit, r record.Ratio, m metric) comparison {
	c := comparison{metric: m, of: r.Of, best: r.To.Best, better: b.desc(m.name).Better}
	c.to = b.reference(units, r, m)
	ua, ub := find(units, r.Of), find(units, c.to)
	c.a, c.b = b.side(ua, r.Of, m), b.side(ub, c.to, m)
	switch {
	case c.a.why != "":
		c.ratio.NA = c.a.why
	case c.b.why != "":
		c.ratio.NA = c.b.why
	default:
		for _, u := range []*unit{ua, ub} {
			if why := b.distorted(*u, m, r.DistortedAbove); why != "" && c.ratio.NA == "" {
				c.ratio.NA = why
			}
		}
		if c.ratio.NA == "" {
			c.ratio = stats.Compare(oneLine(c.of), b.sideOf(*ua, m, c.a), oneLine(c.to), b.sideOf(*ub, m, c.b))
		}
	}
	if c.ratio.NA == "0/0" && c.a.value != c.b.value { // of sums or peaks that one run alone has
		c.ratio.NA = "0/0: the medians of the runs are both 0"
	}
	for _, r := range []reading{c.a, c.b} {
		if r.tainted != "" && c.ratio.NA == "" {
			c.tainted = true
			c.notes = append(c.notes, b.note("not to be trusted: "+r.tainted))
		}
	}
	return c
}

func find(units []unit, target string) *unit {
	i := slices.IndexFunc(units, func(u unit) bool { return u.at("target") == target })
	if i < 0 {
		return nil
	}
	return &units[i]
}

func (b *builder) side(u *unit, target string, m metric) reading {
	if u == nil {
		return reading{why: "no cell of " + oneLine(target)}
	}
	return b.read(*u, m)
}

// reference names what is compared with: the target, or the best of several that have a value which is not distorted; the
// first if none has.
func (b *builder) reference(units []unit, ratio record.Ratio, m metric) string {
	to := ratio.To
	if len(to.Best) == 0 {
		return to.Target
	}
	best, have := to.Best[0], false
	var value float64
	lower := b.desc(m.name).Better == series.Lower
	for _, t := range to.Best {
		u := find(units, t)
		r := b.side(u, t, m)
		if r.why == "" && b.distorted(*u, m, ratio.DistortedAbove) == "" && (!have || lower && r.value < value || !lower && r.value > value) {
			best, value, have = t, r.value, true
		}
	}
	return best
}

// sideOf adds what the same cell gave in other stages: its A/A repeats.
func (b *builder) sideOf(u unit, m metric, r reading) stats.Side {
	s := stats.Side{Runs: r.runs}
	if u.round != 0 || u.repeat != 0 {
		return s
	}
	for _, c := range b.again[b.sameKey(u.cell)] {
		if c == u.cell || !hasResults(c.Status) {
			continue
		}
		if v := b.readRuns(unit{cell: c}, m); v.why == "" {
			s.Again = append(s.Again, stats.Median(v.runs))
		}
	}
	return s
}

// distorted says why a latency of u says nothing: too many requests failed (a latency is of successes only) or were slow.
// A limit of 0 is the usual one.
func (b *builder) distorted(u unit, m metric, limit float64) string {
	if b.desc(m.name).Unit != "ms" {
		return ""
	}
	total := func(name string) float64 {
		return stats.Sum(b.readRuns(u, parseMetric(name)).runs)
	}
	return stats.Distorted(b.name(u.cell.Coord), total("requests"), total("failed"), total("slow_over_1s"), limit)
}

// ahead is who the ratio favours; "" if it favours nobody, says nothing or is not to be trusted.
func (c comparison) ahead() string {
	switch {
	case c.tainted || c.ratio.NA != "" || c.ratio.Noise != stats.Beyond || c.better == series.Neither:
		return ""
	case (c.ratio.Value > 1) == (c.better == series.Higher):
		return c.of
	}
	return c.to
}

func (c comparison) value() string {
	if c.ratio.NA != "" {
		return "n/a"
	}
	return factor(c.ratio.Value)
}

// span is the range that single runs give; "" where each side has one run, which has none.
func (c comparison) span() string {
	switch {
	case c.ratio.NA != "":
		return "n/a"
	case len(c.a.runs) == 1 && len(c.b.runs) == 1:
		return ""
	}
	return factor(c.ratio.Low) + " to " + factor(c.ratio.High)
}

// ranged is the range as it stands behind a ratio in a sentence.
func (c comparison) ranged() string {
	if s := c.span(); s != "" {
		return " (range " + s + ")"
	}
	return ""
}

// noise says how the ratio stands against the noise floor, or why there is none.
func (c comparison) noise() string {
	r := c.ratio
	switch {
	case r.NA != "":
		return "n/a: " + r.NA
	case r.Noise == stats.Unknown:
		return "unknown: " + r.Why
	case r.Noise == stats.Within:
		s := "within the noise floor of " + factor(r.Floor)
		if r.Needed > 0 {
			s += fmt.Sprintf("; about %s a side would tell", count(r.Needed, "run"))
		}
		return s
	}
	return "beyond the noise floor of " + factor(r.Floor)
}

// says is noise with who is better.
func (c comparison) says() string {
	if a := c.ahead(); a != "" {
		return oneLine(a) + " is better: " + c.noise()
	}
	if c.tainted {
		return c.noise() + "; not to be trusted"
	}
	return c.noise()
}
