package measure

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
)

// Latency is the histogram of all latencies of a run's headline, in nanoseconds; nil if there are none. It may be part of
// d: it must not be changed.
func Latency(d *record.Data) *hdr.Histogram {
	return newIndex(d).sum(headlineLoads(d.Run), headlineSpans(d.Run.Phases)).latency()
}

// Threads are the CPUs in use by each thread of the processes of a role that is recorded one by one, over the whole run;
// all others of a process together are "other". The name of a series is the thread's: "nginx/4711", with its process and
// replica where there are several.
func Threads(d *record.Data, role string) []Series {
	ix := newIndex(d)
	several := map[string]bool{} // processes with threads
	for _, tr := range ix.tracks {
		if tr.series == threadCPU && tr.role == role {
			several[fmt.Sprintf("%s/%d", tr.source, tr.replica)] = true
		}
	}
	var out []Series
	for _, tr := range ix.tracks {
		if tr.series != threadCPU || tr.role != role || tr.label == "" {
			continue
		}
		t, v := rates([]*track{tr})
		if len(t) == 0 {
			continue
		}
		name := tr.label
		if len(several) > 1 {
			name = fmt.Sprintf("%s/%d: %s", tr.source, tr.replica, tr.label)
		}
		out = append(out, Series{gauge(name, "cores", series.Timing, "CPUs in use by one thread"), t, v})
	}
	return out
}
