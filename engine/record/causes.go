package record

import (
	"math"

	"github.com/planrun/planrun/internal/load"
)

// A Cause is a stretch of a run's time, in seconds since it began, in which something was done or happened that requests may
// fail of: an action that changes something other than the load, a change of backends or routes from its beginning until
// the target served it, a reload, a restart or a fault, and a process or replica that was told to end or did.
type Cause struct{ From, To float64 }

// Reach is for how long after its end a cause still explains what fails, in seconds.
const Reach = 2.0

// Causes are those of a run, in no order. Of one that goes on the end is infinite.
func Causes(r *Run, events []Event) (out []Cause) {
	for _, a := range r.Actions {
		if !a.Touches() || Churns(a.Kind) { // which waits for its turn: the run's changes say when they were made
			continue
		}
		c := Cause{a.Start, a.End}
		if a.End == 0 {
			c.To = math.Inf(1)
		}
		out = append(out, c)
	}
	for i, c := range r.Facts.Changes {
		if !c.Nothing && !c.Unmade {
			out = append(out, Cause{c.Start, r.InForce(i)})
		}
	}
	for _, e := range events {
		if explains(e) {
			out = append(out, Cause{e.Began(), e.T})
		}
	}
	return out
}

// InForce is until when a change of the run explains what fails: until it was served, or as long as its backend has no
// replica because of it.
func (r *Run) InForce(i int) float64 {
	c := r.Facts.Changes[i]
	if !c.Gone {
		return c.End
	}
	for _, next := range r.Facts.Changes[i+1:] {
		if next.Backend == c.Backend && len(next.Came) > 0 {
			return next.End
		}
	}
	return math.Inf(1)
}

// Touches reports whether an action is of a kind that changes something other than the load.
func (a Action) Touches() bool {
	switch a.Kind {
	case "load", "start", "write", "wait", "hold", "repeat", "snapshot":
		return false
	}
	return true
}

// Churns reports whether actions of a kind change backends or routes.
func Churns(kind string) bool {
	switch kind {
	case "scale", "add-route", "remove-route", "toggle-route":
		return true
	}
	return false
}

// Began is when what an event tells of began: of most that is its own moment.
func (e Event) Began() float64 {
	if start, ok := e.Fields["start"].(float64); ok && e.Kind == "reload" {
		return start
	}
	return e.T
}

// explains reports whether requests may fail of an event. What the run's list of changes has is not looked at again.
func explains(e Event) bool {
	switch e.Kind {
	case "exit", "oom", "restart", "fault", "reload":
		return true
	case "change":
		_, listed := e.Fields["change"]
		return !listed
	case "replica":
		return e.Fields["state"] == "leaving" || e.Fields["state"] == "exited"
	}
	return false
}

// Explained reports whether one of the causes lies near requests that were due from a moment on and were over at another:
// it began before they were over, and ended at most Reach before they were due.
func Explained(causes []Cause, due, over float64) bool {
	for _, c := range causes {
		if c.From <= over && c.To >= due-Reach {
			return true
		}
	}
	return false
}

// A FailedSecond is a second in which requests of a run's headline loads were due that failed.
type FailedSecond struct {
	T           float64 // its begin, since the run began
	Over        float64 // when the last of its requests was over, at the latest
	Phase       string
	Counts      load.Counts
	Unexplained int64 // failed requests beside which there is no cause
}
