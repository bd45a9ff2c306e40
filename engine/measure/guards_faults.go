package measure

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// otherFaults says whether faults that are no toxics were in force: packets that were dropped, processes that were stopped,
// signals that arrived, limits that held.
func (j *judge) otherFaults() {
	for _, f := range j.run.Facts.Faults {
		if f.Kind == "" {
			continue
		}
		ok, why := f.InForce()
		j.add("fault", "", ok, taintsWork, "%s, %s: %s", f.What, during(f), why)
	}
	for _, a := range j.run.Actions {
		if a.Never && (Breaks(a.Kind) || slices.Contains([]string{"signal", "repeat", "exec", "http"}, a.Kind)) {
			j.add("fault", "", false, taintsWork, "%s (%s) did not begin: phase %s was over before it was due", a.Name, a.Where, a.Phase)
		}
	}
	j.unmade(map[string]string{"drop": "drop", "pause": "pause", "limit": "limit"}, "phase %s asked for %d faults beside relays, of which %d were made")
}

// during says when a fault was in force.
func during(f record.Fault) string {
	if f.Start == f.End {
		return fmt.Sprintf("at %.1f s", f.Start)
	}
	return fmt.Sprintf("from %.1f s to %.1f s", f.Start, f.End)
}
