package measure

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// unexplainedMetric counts failures that nothing in the record accounts for. Its doc gives the rule; package record has the
// list of what counts.
var unexplainedMetric = loadMetric{desc("failed_unexplained", "", series.Lower, series.Sum, series.Count, fmt.Sprintf(
	"failed requests beside which nothing was done or happened: no action that changes something other than the load, change of backends or routes, reload, restart, fault, exit, or replica told to end, from %g s before the second in which they were due until the last request of that second was over", record.Reach)), true,
	func(s *loadSum) (float64, string) {
		var n int64
		for _, p := range s.pieces {
			n += s.ix.unexplained(p)
		}
		return float64(n), s.unlessDue()
	}}

// unexplained are the failed requests of a piece beside which nothing happened.
func (ix *index) unexplained(p *piece) int64 {
	if n := failed(&p.Counts); n > 0 && !record.Explained(ix.causes, p.start, p.over()) {
		return n
	}
	return 0
}

// over is when the last request of a piece was over, at the latest.
func (p *piece) over() float64 { return p.start + 1 + p.Counts.MaxElapsed.Seconds() }

// FailedSeconds are those of a run, in order of time; of a second that two phases share there are two. They are of the
// requests of which the run's metric failed is the sum: what is due while a target warms up, or after the load's last phase,
// is not among them.
func FailedSeconds(d *record.Data) (out []record.FailedSecond) {
	ix, loads := newIndex(d), headlineLoads(d.Run)
	var pieces []*piece
	for i := range ix.pieces {
		if p := &ix.pieces[i]; loads[p.Load] && p.counts && failed(&p.Counts) > 0 {
			pieces = append(pieces, p)
		}
	}
	seconds := bySecond(pieces)
	for _, k := range sortedKeys(seconds) {
		var phases []string
		of := map[string]*record.FailedSecond{}
		for _, p := range seconds[k] {
			s := of[p.Phase]
			if s == nil {
				s = &record.FailedSecond{T: p.start, Phase: p.Phase}
				of[p.Phase], phases = s, append(phases, p.Phase)
			}
			s.T, s.Over = min(s.T, p.start), max(s.Over, p.over())
			record.AddCounts(&s.Counts, p.Counts)
			s.Unexplained += ix.unexplained(p)
		}
		for _, phase := range phases {
			out = append(out, *of[phase])
		}
	}
	return out
}

// FailedParts is what FailedSeconds reads of a run.
func FailedParts() record.Part { return record.Part{Seconds: true, Events: true} }
