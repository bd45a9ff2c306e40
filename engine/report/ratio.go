package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/plural"
)

// A comparison is a ratio between two targets in words.
type comparison struct {
	compare.Comparison
	of, to string   // targets; to is the winner if it was the best of several
	bestOf int      // how many could be it
	unfit  []string // which could not, and why
}

// compare gives the ratio of one target to another among the units of a row, one unit a target.
func (b *builder) compare(units []unit, r record.Ratio, m compare.Name) comparison {
	opt := compare.Options{DistortedAbove: r.DistortedAbove, DistortsAll: r.DistortsAll}
	c := comparison{of: r.Of, to: r.To.Target}
	if best := r.To.Best; len(best) > 0 {
		sides := make([]compare.Side, len(best))
		for i, t := range best {
			sides[i] = b.side(units, t)
		}
		c.to = best[max(0, compare.Best(m, b.desc(m.Metric), sides, opt))] // the first if none has a value
		c.unfit = compare.Unfit(m, b.desc(m.Metric), sides, opt)
		c.bestOf = len(best) - len(c.unfit)
	}
	opt.Row = b.row(units)
	c.Comparison = compare.Metric(m, b.desc(m.Metric), b.side(units, c.of), b.side(units, c.to), opt)
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

// row are the cells that ran beside each other, among which those of units are. Parts of cells have no repeats, so no row.
func (b *builder) row(units []unit) [][]*record.Cell {
	if len(units) == 0 || units[0].part != nil {
		return nil
	}
	return b.besides[units[0].cell]
}

// winner names the second side; of the best of several also of how many, and why others were not among them.
func (b *builder) winner(c comparison) Text {
	t := text(oneLine(c.to))
	if c.bestOf > 0 {
		t = append(t, text(fmt.Sprintf(" (best of %d)", c.bestOf))...)
	}
	if len(c.unfit) > 0 {
		t = append(t, b.note("not among those of which the best is taken: "+strings.Join(c.unfit, "; ")))
	}
	return t
}

// spoilt are the footnotes that say which guards spoil a comparison.
func (b *builder) spoilt(c comparison) (t Text) {
	for _, why := range slices.Compact(slices.Clone(c.Tainted)) {
		t = append(t, b.note("not to be trusted: "+why))
	}
	return t
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

// interval is where the ratio lies at stats.Confidence; "" where there are too few runs for one.
func (c comparison) interval() string {
	if c.Ratio.Interval[1] == 0 || c.itself() {
		return ""
	}
	return factor(c.Ratio.Interval[0]) + " to " + factor(c.Ratio.Interval[1])
}

// itself is true of a ratio whose second side, the best of several, is the first.
func (c comparison) itself() bool { return c.of != "" && c.of == c.to }

// ranged is the interval, or the range where there is none, as it stands behind a ratio in a sentence.
func (c comparison) ranged() string {
	if s := c.interval(); s != "" {
		return " (95 % interval " + s + ")"
	}
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
	}
	floor := "the noise floor of " + factor(r.Floor)
	switch {
	case r.Repeats != r.Floor || r.Floor == 1:
	case r.Own == r.Floor:
		floor += ", by which the ratio itself moved between stages"
	case r.Row == r.Floor:
		floor += ", by which ratios of this row move between stages"
	default: // a side that is alone in a stage
		floor += " between stages"
	}
	words := "within " + floor
	switch {
	case r.Noise == stats.Beyond:
		return "beyond " + floor
	case r.OnlyJust:
		words = "within the noise: only just outside " + floor + ", and the interval is not all on that side of 1"
	}
	switch {
	case r.Needed > 0:
		words += fmt.Sprintf("; about %s a side would tell", plural.Of(r.Needed, "run"))
	case r.Repeats == r.Floor && r.Value != 1:
		words += "; more runs would not tell"
	}
	return words
}

// says is noise with who is better.
func (c comparison) says() string {
	if c.itself() {
		return "it is the best itself"
	}
	if a := c.ahead(); a != "" {
		return oneLine(a) + " is better: " + c.noise()
	}
	if c.tainted() {
		return c.noise() + "; not to be trusted"
	}
	return c.noise()
}
