package load

import (
	"fmt"
	"math"
	"sort"
	"time"
)

// A schedule is when the requests of an open loop are due: request k (from 0) when the integral of the rate has reached
// k. It is a pure function of the rate's steps, so that every worker computes the same.
type schedule struct {
	steps []stretch
	total float64 // the integral over all steps; infinite if the last one lasts to the end
}

// A stretch is a step with what came before it.
type stretch struct {
	begin    float64 // seconds
	count    float64 // the integral at its beginning
	from     float64 // requests a second
	slope    float64 // requests a second per second
	duration float64 // seconds; infinite in a last step
}

// maxRate bounds rates, in requests a second: due times are whole nanoseconds.
const maxRate = 1e9

// newSchedule rejects rates that are negative, not finite or above maxRate, and steps behind one that lasts to the end.
func newSchedule(steps []RateStep) (schedule, error) {
	var s schedule
	at := 0.0
	for i, step := range steps {
		switch {
		case step.From > maxRate || step.To > maxRate:
			return s, fmt.Errorf("rate step %d: from %v to %v: at most %.0f requests a second", i, step.From, step.To, maxRate)
		case !(step.From >= 0 && step.To >= 0):
			return s, fmt.Errorf("rate step %d: from %v to %v: rates are at least 0", i, step.From, step.To)
		case step.Over < 0:
			return s, fmt.Errorf("rate step %d: over %v: at least 0", i, step.Over)
		case step.Over == 0 && i < len(steps)-1:
			return s, fmt.Errorf("rate step %d lasts to the end, so the steps behind it are never reached", i)
		}
		t := stretch{begin: at, count: s.total, from: step.From, duration: step.Over.Seconds()}
		if step.Over == 0 {
			t.from, t.duration = step.To, math.Inf(1)
			if step.To > 0 {
				s.total = math.Inf(1)
			}
		} else {
			t.slope = (step.To - step.From) / t.duration
			s.total += (step.From + step.To) / 2 * t.duration
			at += t.duration
		}
		s.steps = append(s.steps, t)
	}
	return s, nil
}

// due gives when request k is due after the start; false if it never is.
func (s schedule) due(k int64) (time.Duration, bool) {
	n := float64(k)
	if n >= s.total {
		return 0, false
	}
	// The last stretch whose count is at most n; those that send nothing have the count of the next one.
	i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].count > n }) - 1
	t := s.steps[i]
	// n - count = from*x + slope/2*x*x, solved for x without cancellation.
	c := n - t.count
	x := 0.0
	if c > 0 {
		x = 2 * c / (t.from + math.Sqrt(max(0, t.from*t.from+2*t.slope*c)))
	}
	at := (t.begin + min(x, t.duration)) * 1e9
	if at >= math.MaxInt64 {
		return 0, false
	}
	return time.Duration(at), true
}
