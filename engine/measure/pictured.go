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

// A Thread is what a thread used: over the whole run, and in its headline.
type Thread struct {
	Series
	Cores float64 // in the headline, of the time since it was seen
	Why   string  // why that is not known; empty if it is
	Rest  bool    // it is all threads of its process that have no series of their own
}

// Threads are the CPUs in use by each thread of the processes of a role that is recorded one by one; all others of a process
// together are "other". The name of a series is the thread's: "nginx/4711", with its process and replica where there are
// several.
func Threads(d *record.Data, role string) []Thread {
	ix := newIndex(d)
	several := map[string]bool{} // processes with threads
	for _, tr := range ix.tracks {
		if tr.series == threadCPU && tr.role == role {
			several[fmt.Sprintf("%s/%d", tr.source, tr.replica)] = true
		}
	}
	headline := headlineSpans(d.Run.Phases)
	var out []Thread
	for _, tr := range ix.tracks {
		if tr.series != threadCPU || tr.role != role || tr.label == "" {
			continue
		}
		one := []*track{tr}
		t, v := rates(one)
		if len(t) == 0 {
			continue
		}
		name := tr.label
		if len(several) > 1 {
			name = fmt.Sprintf("%s/%d: %s", tr.source, tr.replica, tr.label)
		}
		thread := Thread{Series: Series{gauge(name, "cores", series.Timing, "CPUs in use by one thread"), t, v}, Why: tooFewSamples, Rest: tr.label == otherRest}
		if used, seconds := growth(one, sampled(one, headline), true); seconds > 0 {
			thread.Cores, thread.Why = used/seconds, ""
		}
		out = append(out, thread)
	}
	return out
}
