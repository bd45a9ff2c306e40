package report

import (
	"cmp"
	"fmt"
	"slices"
)

// inP99 is the share of requests from which on what they have in common is in the p99.
const inP99 = 0.01

// waiting says of which targets so many requests waited for a connection that the p99 of a run is of the wait; nil if of none.
func (b *builder) waiting(group []disturbance) (Text, error) {
	type hit struct {
		disturbance
		*crowd
	}
	var hits []hit
	for _, d := range group {
		c, err := b.headlineCrowd(d.cell, d.phase)
		if err != nil {
			return nil, err
		}
		if c != nil && c.in(inP99) > 0 {
			hits = append(hits, hit{d, c})
		}
	}
	if len(hits) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(y.share(), x.share()) })
	var parts []string
	for i, h := range hits {
		said, err := b.waitsOf(h.disturbance, h.crowd, i < mostNamed)
		if err != nil {
			return nil, err
		}
		parts = append(parts, said)
	}
	return text("requests waited for a connection, all runs together: ", list(parts, mostNamed)), nil
}

// waitsOf: of a 900 of 2,000 (45 %, the longest at least 3,002 ms; 0 in quiet; p99_ms has the waits in it). The longest wait is
// read from samples: of the targets alone that are named.
func (b *builder) waitsOf(d disturbance, c *crowd, named bool) (string, error) {
	s := fmt.Sprintf("of %s %s of %s (%s", oneLine(d.cell.Coord.Target), grouped(float64(c.waited)), grouped(float64(c.due)), percent(c.share()))
	if named {
		all, err := b.waitedSeconds(c)
		if err != nil {
			return "", err
		}
		if w := worstWait(all); w.longest > 0 {
			s += ", the longest at least " + waitWords(w.longest)
			if c.in(0) > 1 {
				s += " in " + b.which(c.worst().Coord.Round, c.worst().Coord.Repeat)
			}
		}
	}
	quiet, err := b.waitsInQuiet(d)
	if err != nil {
		return "", err
	}
	return s + quiet + c.ofP99() + ")", nil
}

// ofP99 says whether p99_ms, which is the median of those of the runs, has the waits in it.
func (c *crowd) ofP99() string {
	in, of := c.in(inP99), len(c.runs)+len(c.stalled)+len(c.unknown)
	if 2*in > of {
		return "; p99_ms has the waits in it"
	}
	return fmt.Sprintf("; in %d of %d runs so many that their own p99 has them", in, of)
}

// waitsInQuiet says how many waited in the quiet that a disturbance is set beside; "" if that is not known.
func (b *builder) waitsInQuiet(d disturbance) (string, error) {
	if d.why != "" {
		return "", nil
	}
	q, err := b.headlineCrowd(d.before.Cell, d.lull)
	switch {
	case err != nil || q == nil:
		return "", err
	case q.waited == 0:
		return "; 0 in quiet", nil
	}
	return fmt.Sprintf("; %s of %s in quiet", grouped(float64(q.waited)), grouped(float64(q.due))), nil
}
