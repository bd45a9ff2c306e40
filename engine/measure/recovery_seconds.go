package measure

import (
	"math"
	"time"

	"github.com/planrun/planrun/engine/record"
)

// A wholeSecond is a second in which all headline loads sent all the time.
type wholeSecond struct {
	start    float64
	rate     float64 // ok requests; where all loads are open loops, their share of those due that the generator could send
	p99      float64 // in milliseconds; infinite if no request succeeded
	recorded bool    // no part of it lies in a phase that is not
	stalled  bool    // the generator stalled, or had nothing to send
}

// lateEnd is how much of a second, in seconds, may lie behind the end of its load: a load begins moments after its phase.
const lateEnd = 0.05

// wholeSeconds are in order of time; open is true if all headline loads are open loops. A second of which nothing is
// recorded counts: a closed loop whose connections all wait sends nothing.
func (ix *index) wholeSeconds() (out []wholeSecond, open bool) {
	loads := headlineLoads(ix.d.Run)
	from, to, open := ix.together(loads)
	n := int(math.Floor(to - from + lateEnd))
	if n <= 0 {
		return nil, open
	}
	pieces := make([][]*piece, n)
	for i := range ix.pieces {
		p := &ix.pieces[i]
		if k := int(math.Floor(p.start - from + 0.5)); loads[p.Load] && k >= 0 && k < n {
			pieces[k] = append(pieces[k], p)
		}
	}
	for k, ps := range pieces {
		s := summed(ps, open)
		s.start = from + float64(k)
		s.recorded = ix.allRecorded(s.start, s.start+1)
		out = append(out, s)
	}
	return out, open
}

// together is when all loads were sending; of a load of which nothing says when it stopped, until its last second began.
func (ix *index) together(loads map[string]bool) (from, to float64, open bool) {
	to, open = math.Inf(1), true
	last := map[string]float64{}
	for i := range ix.pieces {
		p := &ix.pieces[i]
		last[p.Load] = max(last[p.Load], p.start)
	}
	for i := range ix.d.Run.Loads {
		l := &ix.d.Run.Loads[i]
		if !loads[l.Name] {
			continue
		}
		open = open && len(l.Spec.Rate) > 0
		end := l.Stopped
		if end == 0 {
			end = last[l.Name]
		}
		from, to = max(from, l.Start), min(to, end)
	}
	return from, to, open
}

func summed(pieces []*piece, open bool) (s wholeSecond) {
	var ok, due int64
	sum := loadSum{pieces: pieces}
	for _, p := range pieces {
		ok, due = ok+p.Counts.OK, due+p.Counts.Due-p.Counts.Generator
		s.stalled = s.stalled || time.Duration(p.Counts.StalledLagNs) > Stall
	}
	s.rate, s.p99 = float64(ok), math.Inf(1)
	if open {
		s.stalled = s.stalled || due <= 0
		s.rate = float64(ok) / float64(max(1, due))
	}
	if v, why := quantileOf(sum.latency(), 0.99, noSuccess); why == "" {
		s.p99 = v
	}
	return s
}

func (ix *index) allRecorded(from, to float64) bool {
	for _, s := range spansOf(ix.d.Run.Phases, func(p record.Phase) bool { return !p.Recorded }) {
		if s.from < to && s.to > from {
			return false
		}
	}
	return true
}
