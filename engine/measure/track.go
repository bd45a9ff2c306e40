package measure

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// A track is one series of one source: a process's replica, a relay, a thread. Of a counter, grown is its growth since its
// first sample; a counter that falls has begun again at zero.
type track struct {
	series, role, source, label string
	replica                     int
	desc                        series.SeriesDesc
	t, v                        []float64
	grown                       []float64 // of a counter
}

type trackKey struct {
	series, role, source, label string
	replica                     int
}

func tracksOf(d *record.Data, since float64) []*track {
	descs := seriesDescs(d.Run)
	byKey := map[trackKey]*track{}
	var out []*track
	for _, p := range d.Points {
		if p.T < since {
			continue
		}
		k := trackKey{p.Series, p.Role, p.Source, p.Label, p.Replica}
		tr := byKey[k]
		if tr == nil {
			desc, ok := descs[p.Series]
			if !ok {
				desc = series.SeriesDesc{Name: p.Series, Shape: series.Gauge, Class: series.Count}
			}
			tr = &track{series: k.series, role: k.role, source: k.source, label: k.label, replica: k.replica, desc: desc}
			byKey[k] = tr
			out = append(out, tr)
		}
		tr.t, tr.v = append(tr.t, p.T), append(tr.v, p.V)
	}
	for _, tr := range out {
		if !slices.IsSorted(tr.t) {
			sort.Stable(byTime{tr})
		}
	}
	withoutEnd(out)
	for _, tr := range out {
		if tr.desc.Shape == series.Counter {
			tr.grown = grown(tr.v)
		}
	}
	slices.SortStableFunc(out, func(a, b *track) int {
		return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.role, b.role), cmp.Compare(a.source, b.source),
			cmp.Compare(a.replica, b.replica), cmp.Compare(a.label, b.label))
	})
	return out
}

type byTime struct{ *track }

func (b byTime) Len() int           { return len(b.t) }
func (b byTime) Less(i, j int) bool { return b.t[i] < b.t[j] }
func (b byTime) Swap(i, j int) {
	b.t[i], b.t[j] = b.t[j], b.t[i]
	b.v[i], b.v[j] = b.v[j], b.v[i]
}

func grown(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := 1; i < len(v); i++ {
		step := v[i] - v[i-1]
		if step < 0 {
			step = v[i]
		}
		out[i] = out[i-1] + step
	}
	return out
}

// at is the growth at a moment, interpolated linearly; before the first and after the last sample it is that sample's.
func (tr *track) at(t float64) float64 {
	i, found := slices.BinarySearch(tr.t, t)
	switch {
	case found:
		return tr.grown[i]
	case i == 0:
		return tr.grown[0]
	case i == len(tr.t):
		return tr.grown[i-1]
	}
	part := (t - tr.t[i-1]) / (tr.t[i] - tr.t[i-1])
	return tr.grown[i-1] + part*(tr.grown[i]-tr.grown[i-1])
}

// nearest is the index of the sample nearest to a moment, the earlier one of two.
func (tr *track) nearest(t float64) int {
	i, _ := slices.BinarySearch(tr.t, t)
	if i == len(tr.t) || i > 0 && t-tr.t[i-1] <= tr.t[i]-t {
		i--
	}
	return i
}

// growth is how much counters grew in the spans, and in how much of the spans' time they were watched. Whole steps are
// counted between the samples nearest to the ends (so that adjacent windows share nothing and lose nothing); exact is
// for amounts that grow evenly, such as CPU time.
func growth(tracks []*track, spans []span, exact bool) (sum, seconds float64) {
	tracks = slices.DeleteFunc(slices.Clone(tracks), func(tr *track) bool { return len(tr.t) < 2 }) // one reading is no growth
	first, last := bounds(tracks)
	for _, s := range spans {
		from, to := max(s.from, first), min(s.to, last)
		if from >= to {
			continue
		}
		if !exact {
			from, to = math.Inf(1), math.Inf(-1)
		}
		for _, tr := range tracks {
			if exact {
				sum += tr.at(to) - tr.at(from)
				continue
			}
			a, b := tr.nearest(s.from), tr.nearest(s.to)
			sum += tr.grown[b] - tr.grown[a]
			from, to = min(from, tr.t[a]), max(to, tr.t[b])
		}
		seconds += max(0, to-from)
	}
	return sum, seconds
}

// bounds are the times of the first and last sample of any of the tracks.
func bounds(tracks []*track) (first, last float64) {
	for i, tr := range tracks {
		if i == 0 || tr.t[0] < first {
			first = tr.t[0]
		}
		if i == 0 || tr.t[len(tr.t)-1] > last {
			last = tr.t[len(tr.t)-1]
		}
	}
	return first, last
}

// samples adds the tracks up at each moment at which one of them was sampled: each counts with its latest value, from its
// first sample to its last one, or with hold to the end (a counter does not forget what an ended process had used).
func samples(tracks []*track, hold bool, values func(*track) []float64) (t, v []float64) {
	if len(tracks) == 1 {
		return tracks[0].t, values(tracks[0])
	}
	for _, tr := range tracks {
		t = append(t, tr.t...)
	}
	slices.Sort(t)
	t = slices.Compact(t)
	v = make([]float64, len(t))
	for _, tr := range tracks {
		x := values(tr)
		for i, j := 0, 0; i < len(t); i++ {
			for j+1 < len(tr.t) && tr.t[j+1] <= t[i] {
				j++
			}
			if t[i] >= tr.t[0] && (hold || t[i] <= tr.t[len(tr.t)-1]) {
				v[i] += x[j]
			}
		}
	}
	return t, v
}

// within keeps the samples in the spans, both ends included.
func within(t, v []float64, spans []span) (_, _ []float64) {
	var ot, ov []float64
	for i, at := range t {
		for _, s := range spans {
			if at >= s.from && at <= s.to {
				ot, ov = append(ot, at), append(ov, v[i])
				break
			}
		}
	}
	return ot, ov
}

// valuesOf is the sum of the readings of tracks.
func valuesOf(tracks []*track) (t, v []float64) {
	return samples(tracks, false, func(tr *track) []float64 { return tr.v })
}

// rates is the growth a second of counters between each two samples, at the time of the later one.
func rates(tracks []*track) (t, v []float64) {
	t, v = samples(tracks, true, func(tr *track) []float64 { return tr.grown })
	var ot, ov []float64
	for i := 1; i < len(t); i++ {
		if span := t[i] - t[i-1]; span > 0 {
			ot, ov = append(ot, t[i]), append(ov, (v[i]-v[i-1])/span)
		}
	}
	return ot, ov
}

// between keeps the samples in the spans.
func between(spans []span) func(t, v []float64) (_, _ []float64) {
	return func(t, v []float64) (_, _ []float64) { return within(t, v, spans) }
}
