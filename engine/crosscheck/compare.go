package crosscheck

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
)

// Two generators disagree if the p50 of one is above that of the other by more than Share of it and by more than Least.
// The median moves little where other work shares the machine, and Least is what a client of any kind adds to an answer on
// a busy one. They run one after another, so a single disagreement may be of the time and not of the generator: package
// measure asks for more than half of those that ran.
const (
	Share = 0.5
	Least = 0.5 // ms
)

// Enough is how many answers a median rests on at least; Failing is the share of failed requests above which latencies
// are of something else.
const (
	Enough  = 20
	Failing = 0.01
)

// Above reports whether a generator's p50 is higher than another's beyond doubt. Both are in milliseconds.
func Above(ours, theirs float64) bool { return ours > theirs+max(Share*theirs, Least) }

// Comparable says why latencies cannot be held against others, in words; "" if they can.
func Comparable(f record.Figures) string {
	switch ok := f.Requests - f.Failed; {
	case ok <= 0:
		return "nothing was answered as expected"
	case float64(f.Failed) > Failing*float64(f.Requests):
		return fmt.Sprintf("%d of %d requests failed", f.Failed, f.Requests)
	case ok < Enough:
		return fmt.Sprintf("%d answers are too few", ok)
	case f.Otherwise != "":
		return f.Otherwise
	case f.P50 == nil:
		return "it tells no p50"
	}
	return ""
}
