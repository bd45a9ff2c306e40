package report

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
)

// A comparison is a ratio between two targets in words.
type comparison struct {
	compare.Comparison
	of, to string // targets; to is the winner if it was the best of several
	best   []string
	notes  Text // footnotes that say which guard spoils it
}

// compare gives the ratio of one target to another among the units of a row, one unit a target.
func (b *builder) compare(units []unit, r record.Ratio, m compare.Name) comparison {
	opt := compare.Options{DistortedAbove: r.DistortedAbove}
	c := comparison{of: r.Of, to: r.To.Target, best: r.To.Best}
	if len(c.best) > 0 {
		c.to = c.best[0] // if none has a value
		sides := make([]compare.Side, len(c.best))
		for i, t := range c.best {
			sides[i] = b.side(units, t)
		}
		if i := compare.Best(m, b.desc(m.Metric), sides, opt); i >= 0 {
			c.to = c.best[i]
		}
	}
	c.Comparison = compare.Metric(m, b.desc(m.Metric), b.side(units, c.of), b.side(units, c.to), opt)
	for _, why := range c.Tainted {
		c.notes = append(c.notes, b.note("not to be trusted: "+why))
	}
	return c
}

// side is a target among the units of a row. Only whole cells have A/A repeats.
func (b *builder) side(units []unit, target string) compare.Side {
	i := slices.IndexFunc(units, func(u unit) bool { return u.at("target") == target })
	if i < 0 {
		return compare.Side{Name: oneLine(target), Why: "no cell of " + oneLine(target)}
	}
	u := units[i]
	s := compare.Side{Name: oneLine(target), Cell: u.measured()}
	if u.part == nil {
		s.Again = b.again[u.cell]
	}
	return s
}

// ahead is who the ratio favours; "" if it favours nobody, says nothing or is not to be trusted.
func (c comparison) ahead() string {
	switch c.Outcome() {
	case compare.Better:
		return c.of
	case compare.Worse:
		return c.to
	}
	return ""
}

func (c comparison) tainted() bool { return len(c.Tainted) > 0 }

func (c comparison) value() string {
	if c.Ratio.NA != "" {
		return "n/a"
	}
	return factor(c.Ratio.Value)
}

// span is the range that single runs give; "" where each side has one run, which has none.
func (c comparison) span() string {
	switch {
	case c.Ratio.NA != "":
		return "n/a"
	case len(c.Of.Runs) == 1 && len(c.To.Runs) == 1:
		return ""
	}
	return factor(c.Ratio.Low) + " to " + factor(c.Ratio.High)
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
	r := c.Ratio
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
	if c.tainted() {
		return c.noise() + "; not to be trusted"
	}
	return c.noise()
}
