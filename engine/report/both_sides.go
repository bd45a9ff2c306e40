package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
)

// A bothSide is what the loads of all runs of a cell sent, made up of what became due and what was sent besides, and what the
// builtin backends received of it.
type bothSide struct {
	runs            int
	due, outside    int64 // in phases that count, in others
	verified, again int64 // before a load was measured; a second time
	unsent, open    int64 // never written to a connection; sent, and the load ended before the outcome was recorded
	sent            int64
	received        float64
}

// add takes in a run whose backends count.
func (s *bothSide) add(r *record.Run, received float64) {
	s.runs, s.received, s.sent = s.runs+1, s.received+received, s.sent+record.SentRequests(r)
	for _, l := range r.Loads {
		s.verified += int64(l.Ready.Verified)
		left := int64(0) // of what was to be sent, behind what was
		for phase, n := range l.Totals {
			s.again += resentOf(&n)
			left += n.Due + resentOf(&n) - n.Sent
			if r.Counts(&l, phase) {
				s.due += n.Due
			} else {
				s.outside += n.Due
			}
		}
		s.unsent, s.open = s.unsent+max(0, left), s.open+max(0, -left)
	}
}

// so says how the two sides compare.
func (s *bothSide) so() string {
	if float64(s.sent) == s.received {
		return "equal"
	}
	return fmt.Sprintf("%+.0f at the backends: the target answered by itself, tried again, or never passed on", s.received-float64(s.sent))
}

// bothSides holds what the loads sent against what the builtin backends counted, which is the same for a target that asks
// its backend once for each request.
func (b *builder) bothSides() []Block {
	t := Table{Columns: []Column{{Title: "cell"}, {Title: "runs", Right: true}, {Title: "due, counted", Right: true},
		{Title: "due, not counted", Right: true}, {Title: "to verify", Right: true}, {Title: "sent again", Right: true},
		{Title: "never sent", Right: true}, {Title: "not yet over at the end", Right: true},
		{Title: "sent by the loads", Right: true}, {Title: "received by the backends", Right: true}, {Title: "so"}}}
	unlessNone := func(n int64) string {
		if n <= 0 {
			return ""
		}
		return grouped(float64(n))
	}
	for _, c := range b.res.Cells {
		var s bothSide
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			if got, known := record.OriginRequests(r); known && len(r.Loads) > 0 {
				s.add(r, got)
			}
		}
		if s.runs > 0 {
			t.Rows = append(t.Rows, row(b.name(c.Coord), fmt.Sprint(s.runs), grouped(float64(s.due)), unlessNone(s.outside), unlessNone(s.verified), unlessNone(s.again), unlessNone(s.unsent), unlessNone(s.open),
				grouped(float64(s.sent)), grouped(s.received), s.so()))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{Heading{"Requests, counted on both sides"}, withoutEmpty(t), Paragraph{text(
		"Of all runs of a cell together. Counted are the requests that failures and metrics are of (", mono("requests"),
		", where all loads are in the headline), not counted those of warm-ups, other phases that are not recorded, and those due "+
			"after a phase had ended. With what was sent to verify a load before it is measured, what was sent again and what was "+
			"not yet over at the end, and without what was never sent, that makes what the loads sent in all, in whichever phase they did.")}}
}
