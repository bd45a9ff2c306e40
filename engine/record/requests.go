package record

import (
	"maps"
	"slices"
	"strings"
)

// OriginRequests is how many requests the builtin backends of a run counted, from its begin to its end.
func OriginRequests(r *Run) (n float64, known bool) {
	for _, server := range slices.Sorted(maps.Keys(r.Facts.Servers)) {
		name, _, _ := strings.Cut(server, "/")
		v, counted := r.Facts.Servers[server]["requests"]
		for _, p := range r.Processes {
			if p.Name == name && p.Role == "backends" && counted {
				n, known = n+v, true
				break
			}
		}
	}
	return n, known
}

// SentRequests is how many requests the loads of a run sent, in all phases and to verify.
func SentRequests(r *Run) int64 {
	var n int64
	for _, l := range r.Loads {
		n += int64(l.Ready.Verified)
		for _, c := range l.Totals {
			n += c.Sent
		}
	}
	return n
}
