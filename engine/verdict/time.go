package verdict

import "strings"

// Time is a set of moments at which an expression can be evaluated, or a name is known.
type Time uint8

const (
	AtPlan   Time = 1 << iota // before anything starts: params, host, environment
	AtSelect                  // at check, once for every cell: where, gate-where
	AtStage                   // when a stage begins: results of earlier stages
	AtRun                     // when a run begins: with, coordinates, addresses of what is installed
	AtLive                    // while a run goes on: until, abort, require, sustained
	AtJudge                   // over stored runs
	AtRow                     // for each row of a comparison; no expression of a plan is

	Always = AtPlan | AtSelect | AtStage | AtRun | AtLive | AtJudge
	// InCell are the times that have a current cell.
	InCell = AtSelect | AtRun | AtLive | AtJudge
)

var timeText = []string{"before the plan starts", "when the plan is checked", "when a stage begins", "when a run begins",
	"while a run is going on", "when the runs are judged", "for each row of the comparison"}

// String says when, as a part of a sentence.
func (t Time) String() string {
	if t == Always {
		return "always"
	}
	var parts []string
	for i, text := range timeText {
		if t&(1<<i) != 0 {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", or ")
}

// Since gives the times at which something is known that becomes known at t. What a run determines is known in that run
// only.
func Since(t Time) Time {
	switch t {
	case AtPlan:
		return Always
	case AtSelect:
		return InCell
	case AtStage:
		return AtStage | AtRun | AtLive | AtJudge
	case AtRun:
		return AtRun | AtLive
	}
	return t
}

// earliest is the first moment of a set.
func (t Time) earliest() Time { return t & -t }
