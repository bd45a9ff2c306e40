package measure

import "github.com/planrun/planrun/engine/series"

var relaysLeftDesc = desc("relay_connections_left", "", series.Lower, series.Max, series.Count, "connections of clients that relays in the path still held when the loads had ended, as the relays counted them: those that the target keeps for later requests, and those that it lost track of")

// relaysLeft adds up what the relays still held at the run's end.
func (ix *index) relaysLeft(f *figures) {
	live := int64(0)
	for _, l := range ix.d.Run.Facts.RelaysLeft {
		if l.Why != "" {
			f.missing(relaysLeftDesc.Name, "relay "+l.Relay+" did not say: "+l.Why)
			return
		}
		live += l.Live
	}
	if len(ix.d.Run.Facts.RelaysLeft) > 0 {
		f.set(relaysLeftDesc.Name, float64(live))
	}
}
