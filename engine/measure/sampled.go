package measure

import "slices"

// tooFewSamples is why a figure of CPU time has no value.
const tooFewSamples = "its CPU time was sampled too seldom for this window: less than half of it lies between two samples, and fewer than two samples in it"

// sampled are the spans of which counters tell: at least half of the span lies between samples of them, or at least two
// samples in it. Of any other the growth is that of a moment, or of the time before it.
func sampled(tracks []*track, spans []span) (out []span) {
	first, last := bounds(slices.DeleteFunc(slices.Clone(tracks), func(tr *track) bool { return len(tr.t) < 2 }))
	for _, s := range spans {
		watched := min(s.to, last) - max(s.from, first)
		if watched > 0 && (watched >= (s.to-s.from)/2 || slices.ContainsFunc(tracks, func(tr *track) bool { return tr.in(s) >= 2 })) {
			out = append(out, s)
		}
	}
	return out
}

// in is how many samples lie in a span, both ends included.
func (tr *track) in(s span) (n int) {
	for _, t := range tr.t {
		if t >= s.from && t <= s.to {
			n++
		}
	}
	return n
}

// withoutEnd drops the reading of CPU time that was taken after a process had ended, as is that of a load at the end of its
// run, or the two of one moment: what it used since the reading before is not in it, so that it would seem to have used
// nothing. Where they go on the process ended before, and has used nothing since.
func withoutEnd(tracks []*track) {
	alive := map[trackKey]float64{} // when a source was last seen alive
	for _, tr := range tracks {
		if tr.series == "processes" {
			alive[trackKey{role: tr.role, source: tr.source, replica: tr.replica}] = tr.t[len(tr.t)-1]
		}
	}
	for _, tr := range tracks {
		last, known := alive[trackKey{role: tr.role, source: tr.source, replica: tr.replica}]
		if !known || tr.series != cpuUser && tr.series != cpuKernel && tr.series != threadCPU {
			continue
		}
		n := slices.IndexFunc(tr.t, func(t float64) bool { return t > last })
		if n > 0 && tr.t[len(tr.t)-1]-tr.t[n] < (tr.t[n]-tr.t[n-1])/4 {
			tr.t, tr.v = tr.t[:n], tr.v[:n]
		}
	}
}
