package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// An index is a run's data, put in order.
type index struct {
	d      *record.Data
	loads  map[string]*record.Load
	pieces []piece        // of seconds, by load and time
	tracks []*track       // of series, by name, role, source and replica
	causes []record.Cause // of failures
}

// A piece is one second of a load in one phase, its parts added up.
type piece struct {
	load.Second
	start  float64 // since the run began
	counts bool    // its outcomes are outcomes of the run: record.Run.Counts
}

type pieceKey struct {
	load, phase string
	second      int
}

// newIndex puts all of d in order.
func newIndex(d *record.Data) *index { return partIndex(d, nil, math.Inf(-1)) }

// partIndex puts a part of d in order: the seconds that keep wants (nil wants all), and what was sampled from since on.
func partIndex(d *record.Data, keep func(s *load.Second, start float64) bool, since float64) *index {
	ix := &index{d: d, loads: map[string]*record.Load{}, causes: record.Causes(d.Run, d.Events)}
	for i := range d.Run.Loads {
		ix.loads[d.Run.Loads[i].Name] = &d.Run.Loads[i]
	}
	at := map[pieceKey]int{}
	for i := range d.Seconds {
		s := &d.Seconds[i]
		l, start := ix.loads[s.Load], float64(s.Second)
		if l != nil {
			start += l.Start
		}
		if keep != nil && !keep(s, start) {
			continue
		}
		k := pieceKey{s.Load, s.Phase, s.Second}
		if n, ok := at[k]; ok {
			ix.pieces[n].add(s)
			continue
		}
		at[k] = len(ix.pieces)
		ix.pieces = append(ix.pieces, piece{*s, start, l != nil && d.Run.Counts(l, s.Phase)})
	}
	slices.SortStableFunc(ix.pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.Load, b.Load), cmp.Compare(a.start, b.start))
	})
	ix.tracks = tracksOf(d, since)
	return ix
}

// add adds a part. What p shared with the data it then has of its own.
func (p *piece) add(s *load.Second) {
	record.AddCounts(&p.Counts, s.Counts)
	p.Latency = merged(p.Latency, s.Latency)
	p.Service = merged(p.Service, s.Service)
	p.Lag = merged(p.Lag, s.Lag)
	p.Connect = merged(p.Connect, s.Connect)
	p.TLS = merged(p.TLS, s.TLS)
}

// merged is a histogram of all values of hs, nil if there are none. It never changes one of hs. All histograms have
// one configuration, so a merge drops nothing.
func merged(hs ...*hdr.Histogram) *hdr.Histogram {
	var only, sum *hdr.Histogram
	for _, h := range hs {
		switch {
		case h.Count() == 0:
		case only == nil:
			only = h
		default:
			if sum == nil {
				sum = new(hdr.Histogram)
				_ = sum.Merge(only)
			}
			_ = sum.Merge(h)
		}
	}
	if sum != nil {
		return sum
	}
	return only
}
