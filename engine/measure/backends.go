package measure

import "github.com/planrun/planrun/engine/series"

const backendsRole = "backends"

var backendConnsDesc = desc("backend_conns_per_1k_req", "", series.Lower, series.Median, series.Timing, "connections that were opened to backends for each thousand ok requests")

// backendConns is the counter of connections that a backend has accepted, as probes name it.
const backendConns = "connections_opened"

// perRequest derives what backends saw for each request of the headline loads.
func (ix *index) perRequest(w window, loads *loadSum, out *figures) {
	if w.process != "" {
		return
	}
	backends := map[string]bool{}
	for _, p := range ix.d.Run.Processes {
		if p.Role == backendsRole {
			backends[p.Name] = true
		}
	}
	var tracks []*track
	for _, tr := range ix.tracks {
		if tr.series == backendConns && tr.label == "" && (tr.role == backendsRole || backends[tr.source]) {
			tracks = append(tracks, tr)
		}
	}
	if len(tracks) == 0 {
		return
	}
	opened, seconds := growth(tracks, w.counts, false)
	switch {
	case seconds <= 0:
		out.missing(backendConnsDesc.Name, "no two samples of the backends' connections lie about this window")
	case loads.counts.OK == 0:
		out.missing(backendConnsDesc.Name, noSuccess)
	default:
		// The samples nearest to the ends of a short window span more or less than the window.
		out.set(backendConnsDesc.Name, 1000*opened*length(w.counts)/seconds/float64(loads.counts.OK))
	}
}
