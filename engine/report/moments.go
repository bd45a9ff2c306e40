package report

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// A moment is something that was done or happened, in words. A light one explains little by itself: a replica that came, a
// file that was written, a signal.
type moment struct {
	at    float64
	what  Text
	light bool
}

var replicaStates = map[string]string{"ready": "ready", "announced": "announced", "leaving": "told to end", "exited": "ended"}

// momentsOf are the events that say what may have made requests fail; replicas that went the same way are one.
func momentsOf(events []record.Event) (out []moment) {
	type group struct{ process, state string }
	names := map[group][]string{}
	var order []group
	first := map[group]float64{}
	for _, e := range events {
		process, _ := e.Fields["process"].(string)
		state, _ := e.Fields["state"].(string)
		_, served := e.Fields["change"] // the run's list of changes has them, with when they began
		switch {
		case slices.Contains([]string{"phase", "note", "probe"}, e.Kind) || e.Kind == "change" && served:
		case e.Kind == "replica" && replicaStates[state] != "":
			g := group{process, state}
			if names[g] == nil {
				order, first[g] = append(order, g), e.T
			}
			names[g] = append(names[g], fmt.Sprintf("%s/%v", oneLine(process), e.Fields["replica"]))
		default:
			out = append(out, moment{e.Began(), text(e.Kind + ": " + oneLine(e.Message)), e.Kind == "change" && len(e.Fields) > 0})
		}
	}
	for _, g := range order {
		out = append(out, moment{first[g], text(some(names[g], 2), " "+replicaStates[g.state]), g.state == "ready" || g.state == "announced"})
	}
	return out
}

// nearest keeps what is to be named of moments in order of time beside the second that begins at t: light ones go first, then those
// that are farthest from it, of equal ones the earlier.
func nearest(all []moment, t float64) []moment {
	far := func(m moment) float64 { return max(t-m.at, m.at-(t+1), 0) }
	for len(all) > mostBeside {
		light := slices.ContainsFunc(all, func(m moment) bool { return m.light })
		drop := -1
		for i, m := range all {
			if m.light == light && (drop < 0 || far(m) > far(all[drop])) {
				drop = i
			}
		}
		all = slices.Delete(all, drop, drop+1)
	}
	return all
}
