package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// The time that a target takes to come back after a fault is measured in whole seconds of the headline loads, each judged by
// the requests that were due in it:
//
//   - What was before is the median of the rate and of the p99 of the seconds that ended before the first fault began. Of
//     closed loops the rate is of ok requests; of open loops it is their share of those that were due, which neither a ramp
//     nor random arrivals change.
//   - A second is back in rate if it has the share Bound.Rate of the rate before, in p99 if that is at most Bound.P99 times
//     the one before or Bound.SlackMs more than it, whichever is more.
//   - Recovery lasted from the end of the last fault to the begin of the first second that is back and begins as many such
//     seconds in a row as Bound.HoldS asks for. Requests that were due between the fault's end and the next whole second are
//     not seen, so a recovery is at most a second too long, and never too short.
//
// Seconds in which the generator itself stalled tell nothing, before or after: they neither begin nor end a recovery.
const (
	recoveryName     = "recovery_s"
	recoveryRate     = "recovery_rate_s"
	recoveryP99      = "recovery_p99_s"
	notRecoveredName = "not_recovered"
)

var recoveryDescs = []series.Desc{
	desc(recoveryName, "s", series.Lower, series.Median, series.Timing, "time from the end of the last fault until the rate and the p99 of single seconds were both back within the scenario's recovery, to stay for its hold; up to a second too long, never too short; it has no value if they did not come back"),
	desc(recoveryRate, "s", series.Lower, series.Median, series.Timing, "the same of the rate alone"),
	desc(recoveryP99, "s", series.Lower, series.Median, series.Timing, "the same of the p99 alone"),
	desc(notRecoveredName, "", series.Lower, series.Sum, series.Timing, "runs that were not back within the scenario's recovery when their load ended: not_recovered == 0 && recovery_s < 3 fails there, where recovery_s < 3 alone has no value"),
}

// Breaks reports whether an action of a kind breaks something for as long as it lasts.
func Breaks(kind string) bool {
	return slices.Contains([]string{"toxic", "pause", "drop", "limit", "restart"}, kind)
}

// broken is when a run first broke something, and when the last of it was over; never is true if it broke nothing. Where no
// action breaks by its nature it is the phases of kind fault: nothing tells any closer what an exec broke.
func (ix *index) broken() (first, last float64, never bool) {
	first, last = math.Inf(1), math.Inf(-1)
	add := func(from, to float64) {
		if to < from { // it had not ended
			to = math.Inf(1)
		}
		first, last = min(first, from), max(last, to)
	}
	r := ix.d.Run
	for _, f := range r.Facts.Faults {
		add(f.Start, f.End)
	}
	for _, a := range r.Actions {
		if Breaks(a.Kind) && a.Error == "" && !a.Never {
			add(a.Start, a.End)
		}
	}
	for _, e := range ix.d.Events { // of actions within a repeat, which are not listed
		if e.Kind == "fault" || e.Kind == "restart" {
			add(e.T, e.T)
		}
	}
	if never = math.IsInf(first, 1); never {
		for _, s := range spansOf(r.Phases, func(p record.Phase) bool { return p.Kind == "fault" }) {
			add(s.from, s.to)
		}
		never = math.IsInf(first, 1)
	}
	return first, last, never
}

// recovery derives how long the target took to come back after the last fault.
func (ix *index) recovery(f *figures) {
	first, last, never := ix.broken()
	if never || len(headlineLoads(ix.d.Run)) == 0 {
		return
	}
	none := func(format string, args ...any) {
		for _, d := range recoveryDescs {
			f.missing(d.Name, fmt.Sprintf(format, args...))
		}
	}
	if math.IsInf(last, 1) {
		none("no fault ended before the run did")
		return
	}
	bound := record.DefaultRecovery
	if b := ix.d.Run.Recovery; b != nil {
		bound = *b
	}
	seconds, open := ix.wholeSeconds()
	before, after, stalled := around(seconds, first, last)
	hold := max(1, int(math.Ceil(bound.HoldS-1e-9)))
	switch {
	case len(before) == 0 && stalled > 0:
		none("the load generator stalled in each whole second before the first fault, which leaves nothing to come back to")
		return
	case len(before) == 0:
		none("no whole second of the headline load was recorded before the first fault, so there is nothing to come back to")
		return
	case len(after) < hold:
		none("%s of the headline load followed the last fault, fewer than the %d for which it must stay back", wholeWords(len(after)), hold)
		return
	}
	b := newBack(bound, before, open)
	if b.rate0 <= 0 {
		none("no request succeeded before the first fault, so there is nothing to come back to")
		return
	}
	f.recovered(b, after, hold, last)
}

// around are the seconds that tell something before a first fault began and after the last one ended, and in how many before it
// the generator stalled.
func around(seconds []wholeSecond, first, last float64) (before, after []wholeSecond, stalled int) {
	for _, s := range seconds {
		switch {
		case s.start >= last && !s.stalled:
			after = append(after, s)
		case s.start+1 <= first && s.recorded && s.stalled:
			stalled++
		case s.start+1 <= first && s.recorded:
			before = append(before, s)
		}
	}
	return before, after, stalled
}

// recovered sets what the seconds after the last fault, which was over at last, say: each time, or why it has none.
func (f *figures) recovered(b back, after []wholeSecond, hold int, last float64) {
	lost := false
	for _, m := range []struct {
		name string
		is   func(wholeSecond) bool
	}{{recoveryRate, b.rate}, {recoveryP99, b.p99}, {recoveryName, func(s wholeSecond) bool { return b.rate(s) && b.p99(s) }}} {
		at, kept := stays(after, hold, m.is)
		end := after[len(after)-1]
		switch {
		case kept == hold:
			f.set(m.name, at-last)
		case kept > 0:
			f.missing(m.name, fmt.Sprintf("it was back in the last %s only of the %d that followed the last fault; it must stay back for %d", wholeWords(kept), len(after), hold))
		default:
			lost = lost || m.name == recoveryName
			f.missing(m.name, fmt.Sprintf("it did not come back within the %s that followed the last fault: %s", wholeWords(len(after)), b.say(m.name, end)))
		}
	}
	_, back := f.values[recoveryName]
	switch {
	case back:
		f.set(notRecoveredName, 0)
	case lost:
		f.set(notRecoveredName, 1)
	default:
		f.missing(notRecoveredName, f.why[recoveryName])
	}
}

// stays finds the first of hold seconds in a row that are back: the time of its begin, and hold. If there is none, kept is how
// many of the last ones are back.
func stays(after []wholeSecond, hold int, back func(wholeSecond) bool) (at float64, kept int) {
	for _, s := range after {
		if !back(s) {
			kept = 0
			continue
		}
		if kept == 0 {
			at = s.start
		}
		if kept++; kept == hold {
			return at, kept
		}
	}
	return at, kept
}

// A back knows when a second is back.
type back struct {
	bound          record.Recovery
	open           bool
	rate0, p0      float64 // before
	least, p99most float64
}

func newBack(bound record.Recovery, before []wholeSecond, open bool) back {
	b := back{bound: bound, open: open}
	var rates, p99s []float64
	for _, s := range before {
		rates = append(rates, s.rate)
		if !math.IsInf(s.p99, 1) {
			p99s = append(p99s, s.p99)
		}
	}
	b.rate0, b.p0 = stats.Median(rates), stats.Median(p99s)
	b.least, b.p99most = bound.Rate*b.rate0, max(bound.P99*b.p0, b.p0+bound.SlackMs)
	return b
}

func (b back) rate(s wholeSecond) bool { return s.rate >= b.least }
func (b back) p99(s wholeSecond) bool  { return s.p99 <= b.p99most }

// say tells what a second lacks to be back.
func (b back) say(metric string, s wholeSecond) string {
	rate := fmt.Sprintf("in its last second %.0f requests succeeded, of %.0f before (at least %s)", s.rate, b.rate0, percent(b.bound.Rate))
	if b.open {
		rate = fmt.Sprintf("in its last second %s of the requests succeeded, of %s before (at least %s of that)", percent(s.rate), percent(b.rate0), percent(b.bound.Rate))
	}
	p99 := fmt.Sprintf("the p99 of its last second was %.4g ms, and %.4g before (at most %.4g)", s.p99, b.p0, b.p99most)
	if math.IsInf(s.p99, 1) {
		p99 = "no request of its last second succeeded"
	}
	switch {
	case metric == recoveryRate, metric == recoveryName && b.p99(s):
		return rate
	case metric == recoveryP99, b.rate(s):
		return p99
	}
	return rate + ", and " + p99
}

func wholeWords(n int) string {
	switch n {
	case 0:
		return "no whole second"
	case 1:
		return "1 whole second"
	}
	return fmt.Sprintf("%d whole seconds", n)
}
