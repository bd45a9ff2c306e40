package report

import (
	"fmt"
	"math"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/hdr"
)

// A watched is what pictures show of the runs of a unit.
type watched struct {
	series  map[string][][]float64 // by name, of each second a value a run: the median of the run's samples there
	latency hdr.Histogram          // of all runs together
	threads []Track                // of the first run that has any
	runs    int                    // how many were read
}

// A Track is samples of one thing over a run's time.
type Track struct {
	Name string
	T, V []float64 // seconds since the run began, and values
}

// A Thread is a track of what a thread used.
type Thread struct {
	Track
	Cores float64 // in the run's headline
	Why   string  // why that is not known; empty if it is
	Rest  bool    // it is all threads of its process that were not recorded one by one
}

// watch reads the runs of a unit, at most so many (0: all), each run once: reading one is what takes time.
func (b *builder) watch(u unit, names []string, most int, all bool) (watched, error) {
	length := b.longest([]unit{u})
	w := watched{series: map[string][][]float64{}}
	for _, name := range names {
		w.series[name] = make([][]float64, length)
	}
	for _, id := range u.cell.Runs {
		if r := b.runs[id]; b.in.Series == nil || r == nil || most > 0 && w.runs == most {
			continue
		}
		w.runs++
		for _, name := range names {
			t, v, err := b.in.Series(id, name)
			if err != nil {
				return w, fmt.Errorf("reading run %s: %w", id, err)
			}
			if name == "req_per_s" {
				t, v = whole(b.runs[id], t, v)
			}
			for i, m := range bySecond(t, v, length) {
				if m != nil {
					w.series[name][i] = append(w.series[name][i], *m)
				}
			}
		}
		if !all {
			continue
		}
		if err := b.watchMore(id, &w); err != nil {
			return w, fmt.Errorf("reading run %s: %w", id, err)
		}
	}
	return w, nil
}

// watchMore reads what is no series of a name.
func (b *builder) watchMore(id string, w *watched) error {
	if b.in.Latency != nil {
		h, err := b.in.Latency(id)
		if err != nil {
			return err
		}
		if err := w.latency.Merge(h); err != nil {
			return err
		}
	}
	if b.in.Threads != nil && len(w.threads) == 0 {
		threads, err := b.in.Threads(id)
		if err != nil {
			return err
		}
		for _, th := range threads {
			w.threads = append(w.threads, th.Track)
		}
	}
	return nil
}

// whole is a rate without its last sample if the phases end within that second: what is due for a part of a second looks
// like a slump.
func whole(r *record.Run, t, v []float64) (_, _ []float64) {
	end := 0.0
	for _, p := range r.Phases {
		end = max(end, p.End)
	}
	if n := len(t); n > 1 && len(v) == n && t[n-1]+0.95 > end {
		return t[:n-1], v[:n-1]
	}
	return t, v
}

// bySecond is the median of the samples in each second; nil where there are none.
func bySecond(t, v []float64, length int) []*float64 {
	in := make([][]float64, length)
	for i := range min(len(t), len(v)) {
		if at := int(math.Floor(t[i])); at >= 0 && at < length && !math.IsNaN(v[i]) && !math.IsInf(v[i], 0) {
			in[at] = append(in[at], v[i])
		}
	}
	out := make([]*float64, length)
	for i := range in {
		out[i] = median(in[i])
	}
	return out
}
