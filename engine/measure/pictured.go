package measure

import (
	"fmt"
	"slices"

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
// several. Threads of planrun's own servers are numbered: each has the name of planrun's program.
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
	own := map[string]int{}
	for _, tr := range ix.tracks {
		if tr.series != threadCPU || tr.role != role || tr.label == "" {
			continue
		}
		one := []*track{tr}
		t, v := rates(one)
		if len(t) == 0 {
			continue
		}
		name, of := tr.label, tr.source
		if len(several) > 1 {
			of = fmt.Sprintf("%s/%d", tr.source, tr.replica)
			name = of + ": " + tr.label
		}
		if tr.label != otherRest && ix.builtin(tr) {
			own[of]++
			name = fmt.Sprintf("%s thread %d", of, own[of])
		}
		thread := Thread{Series: Series{gauge(name, "cores", series.Timing, "CPUs in use by one thread"), t, v}, Why: tooFewSamples, Rest: tr.label == otherRest}
		if used, seconds := growth(one, sampled(one, headline), true); seconds > 0 {
			thread.Cores, thread.Why = used/seconds, ""
		}
		out = append(out, thread)
	}
	return out
}

// builtin reports whether a series is of one of planrun's own servers, whose command ends with worker KIND.
func (ix *index) builtin(tr *track) bool {
	return slices.ContainsFunc(ix.d.Run.Processes, func(p record.Process) bool {
		n := len(p.Command)
		return p.Name == tr.source && p.Replica == tr.replica && n > 2 && p.Command[n-2] == "worker"
	})
}
