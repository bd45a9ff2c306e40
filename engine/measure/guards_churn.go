package measure

import (
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// changes says whether backends and routes really changed as the plan asked, and whether the target served each change.
func (j *judge) changes() {
	made := j.run.Facts.Changes
	slowest, arrived := record.Change{}, 0
	for _, c := range made {
		j.churned(c)
		switch {
		case c.Nothing:
		case c.Unmade:
			j.add("change", "", false, taintsWork, "%s: %s", c.What, c.Why)
		case c.Refused:
			j.add("change", "", false, taintsPasses, "%s at %.1f s: %s", c.What, c.Start, c.Why)
		case !c.Arrived:
			j.add("change", "", false, taintsWork, "%s at %.1f s: the target was not seen to serve it: %s", c.What, c.Start, c.Why)
		default:
			if arrived++; c.Served >= slowest.Served {
				slowest = c
			}
		}
	}
	if arrived > 0 {
		j.add("change", "", true, taintsWork, "the target served %d of %d changes of backends and routes, the slowest (%s) after %.0f ms", arrived, len(made), slowest.What, slowest.Served)
	}
	for _, p := range j.run.Phases {
		asked, done := 0, 0
		for _, a := range j.run.Actions {
			if record.Churns(a.Kind) && a.Phase == p.Name && a.Error == "" {
				asked++
			}
		}
		for _, c := range made {
			if c.Phase == p.Name { // those that were not made are said above
				done++
			}
		}
		if done < asked {
			j.add("churn", "", false, taintsWork, "of the changes of backends and routes that phase %s asked for (%d) %d were made", p.Name, asked, done)
		}
	}
}

// churned says whether a change changed something, and whether requests reached the replicas that came.
func (j *judge) churned(c record.Change) {
	switch came := len(c.Came); {
	case c.Unmade:
	case c.Nothing:
		j.add("churn", "", false, taintsWork, "%s at %.1f s changed nothing: it was so already", c.What, c.Start)
	case len(c.Unseen) > 0:
		j.add("churn", "", false, taintsWork, "%s at %.1f s: no request reached %s, as they counted themselves", c.What, c.Start, strings.Join(c.Unseen, ", "))
	case c.Kind != "scale" || came+len(c.Left) == 0: // a route, or it was not made, as its own guard says
	case c.Uncounted:
		j.add("churn", "", true, taintsWork, "%s at %.1f s: %d came and %d left; they do not count their requests", c.What, c.Start, came, len(c.Left))
	case came > 0:
		j.add("churn", "", true, taintsWork, "%s at %.1f s: requests reached each of the %d that came", c.What, c.Start, came)
	default:
		j.add("churn", "", true, taintsWork, "%s at %.1f s: %d left", c.What, c.Start, len(c.Left))
	}
}
