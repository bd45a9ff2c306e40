package measure

import (
	"fmt"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// waitedMetric counts requests that found every connection in use. Only an open loop has them: in a closed one a request is due
// when a connection is free.
var waitedMetric = loadMetric{desc("waited", "", series.Lower, series.Sum, series.Count, fmt.Sprintf(
	"requests of open loops that waited longer than %v for a connection: sent more than that after they were due, the load generator's own largest delay of that second not counted, or never", record.LongWait)), true,
	func(s *loadSum) (float64, string) {
		var n int64
		open := false
		for name := range s.loads {
			open = open || s.ix.open(name)
		}
		if !open {
			return 0, "there is no open loop: in a closed loop a request is due when a connection is free"
		}
		for _, p := range s.pieces {
			waited, _ := s.ix.waited(p)
			n += waited
		}
		return float64(n), s.unlessDue()
	}}

func (ix *index) open(load string) bool {
	l := ix.loads[load]
	return l != nil && len(l.Spec.Rate) > 0
}

// waited is how many of the requests due in a piece waited for a connection, and the longest wait of those that were sent. The
// generator's own delay, from when both the request and a connection were there, is recorded beside the send lag, which has
// both: what is above the largest own delay was a wait, at the least. What was never sent timed out or was dropped while it waited.
func (ix *index) waited(p *piece) (n int64, longest time.Duration) {
	if !ix.open(p.Load) {
		return 0, 0
	}
	own := time.Duration(p.Counts.StalledLagNs)
	if n = above(p.Lag, own+record.LongWait); n > 0 {
		longest = time.Duration(p.Lag.Max()) - own
	}
	c := p.Counts
	unsent := c.Due - c.Generator - c.Errors[load.Connect] - c.Errors[load.TLS] - int64(p.Lag.Count())
	return n + max(0, min(unsent, c.Errors[load.Timeout]+c.Errors[load.Dropped])), longest
}

// WaitedSeconds are those of a run in which requests that count waited for a connection, by load and time.
func WaitedSeconds(d *record.Data) (out []record.WaitedSecond) {
	type second struct {
		load string
		n    int
	}
	ix, sent := newIndex(d), map[second]int64{}
	for i := range ix.pieces {
		p := &ix.pieces[i]
		sent[second{p.Load, p.Second.Second}] += p.Counts.Sent
	}
	for i := range ix.pieces {
		p := &ix.pieces[i]
		if n, longest := ix.waited(p); n > 0 && p.counts {
			out = append(out, record.WaitedSecond{Load: p.Load, T: p.start, Phase: p.Phase, Waited: n, Longest: longest, Sent: sent[second{p.Load, p.Second.Second}]})
		}
	}
	return out
}

// WaitedParts is what WaitedSeconds reads of a run.
func WaitedParts() record.Part { return record.Part{Seconds: true, Histograms: []string{"lag"}} }
