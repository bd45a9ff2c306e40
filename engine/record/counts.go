package record

import (
	"strings"

	"github.com/planrun/planrun/internal/load"
)

// AddCounts adds c to sum, field by field; the largest elapsed time and send lag are maxima. sum shares no map with c
// afterwards.
func AddCounts(sum *load.Counts, c load.Counts) {
	sum.Due += c.Due
	sum.OK += c.OK
	sum.Generator += c.Generator
	sum.Sent += c.Sent
	sum.SlowOver1s += c.SlowOver1s
	sum.MaxElapsed = max(sum.MaxElapsed, c.MaxElapsed)
	sum.Opened += c.Opened
	sum.Handshakes += c.Handshakes
	sum.Resumed += c.Resumed
	sum.FullIn += c.FullIn
	sum.FullOut += c.FullOut
	sum.ResumedIn += c.ResumedIn
	sum.ResumedOut += c.ResumedOut
	sum.Goaways += c.Goaways
	sum.Retried += c.Retried
	sum.Refused += c.Refused
	sum.ReuseRetried += c.ReuseRetried
	sum.BytesIn += c.BytesIn
	sum.BytesOut += c.BytesOut
	sum.StalledLagNs = max(sum.StalledLagNs, c.StalledLagNs)
	sum.Non2xx = addMap(sum.Non2xx, c.Non2xx)
	sum.Errors = addMap(sum.Errors, c.Errors)
	sum.By = addMap(sum.By, c.By)
	sum.Sessions = addMap(sum.Sessions, c.Sessions)
}

func addMap[K comparable](sum, m map[K]int64) map[K]int64 {
	if len(m) == 0 {
		return sum
	}
	out := make(map[K]int64, max(len(sum), len(m)))
	for k, n := range sum {
		out[k] = n
	}
	for k, n := range m {
		out[k] += n
	}
	return out
}

// LoadName is what the plan calls a load. Of several loads of one name in a run, which begin one after another, the later
// ones are recorded as NAME#2, NAME#3, because each has a time zero of its own; load("NAME") is all of them.
func LoadName(recorded string) string {
	name, _, _ := strings.Cut(recorded, "#")
	return name
}
