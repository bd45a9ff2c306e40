package measure

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
)

// inForce says whether faults that are no toxics were in force: packets that were dropped, processes that were stopped,
// signals that arrived, limits that held.
func (j *judge) inForce() {
	for _, f := range j.run.Facts.Faults {
		if f.Kind == "" {
			continue
		}
		ok, why := f.InForce()
		j.add("fault", "", ok, taintsWork, "%s, %s: %s", f.What, during(f), why)
	}
	for _, p := range j.run.Phases {
		asked, seen := 0, 0
		for _, a := range j.run.Actions {
			if (a.Kind == "drop" || a.Kind == "pause" || a.Kind == "limit") && a.Phase == p.Name && a.Error == "" {
				asked++
			}
		}
		for _, f := range j.run.Facts.Faults {
			if f.Kind != "" && f.Kind != "signal" && f.Phase == p.Name {
				seen++
			}
		}
		if seen < asked {
			j.add("fault", "", false, taintsWork, "phase %s asked for %d faults beside relays, of which %d were made", p.Name, asked, seen)
		}
	}
}

// during says when a fault was in force.
func during(f record.Fault) string {
	if f.Start == f.End {
		return fmt.Sprintf("at %.1f s", f.Start)
	}
	return fmt.Sprintf("from %.1f s to %.1f s", f.Start, f.End)
}
