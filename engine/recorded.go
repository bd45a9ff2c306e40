package engine

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/internal/hdr"
)

// recordings answers what a report asks of what was recorded of runs. Of a run of which it is asked one thing it reads no more
// than that; one that it is asked of again is drawn in several pictures, so it is read whole, and kept until the next one is.
// Of histograms it holds those alone that were asked for. What cannot be read it leaves out, and unread has it.
type recordings struct {
	set    *record.Set
	runs   map[string]*record.Run
	notes  map[string][]string
	unread *unread

	last  string // the run that was asked of last
	whole *record.Data
	hists []string                  // that whole has
	all   map[string]measure.Series // of whole
}

// read reads at least a part of a run.
func (r *recordings) read(id string, p record.Part) (*record.Data, error) {
	run := r.runs[id]
	if run == nil {
		return nil, fmt.Errorf("there is no run %s", id)
	}
	if r.last != id {
		drawn := r.whole != nil
		r.last, r.whole, r.all = id, nil, nil
		if !drawn {
			d, _ := r.unread.recorded(r.set, run, p)
			return d, nil
		}
	}
	lacks := func(h string) bool { return !slices.Contains(r.hists, h) }
	if r.whole == nil || slices.ContainsFunc(p.Histograms, lacks) {
		whole := record.Everything
		whole.Histograms = append([]string{"latency"}, slices.DeleteFunc(slices.Clone(p.Histograms), func(h string) bool { return h == "latency" })...)
		d, _ := r.unread.recorded(r.set, run, whole)
		r.whole, r.hists, r.all = d, whole.Histograms, nil
	}
	return r.whole, nil
}

func (r *recordings) series(id, name string) (t, v []float64, err error) {
	d, err := r.read(id, measure.Wanted([]string{name}))
	if err != nil {
		return nil, nil, err
	}
	if d != r.whole {
		s := measure.All(d)[name]
		return s.T, s.V, nil
	}
	if r.all == nil {
		r.all = measure.All(d)
	}
	return r.all[name].T, r.all[name].V, nil
}

func (r *recordings) threads(id string) (out []report.Thread, err error) {
	d, err := r.read(id, record.Part{Points: measure.OfThreads})
	if err != nil {
		return nil, err
	}
	for _, s := range measure.Threads(d, "sut") {
		out = append(out, report.Thread{Track: report.Track{Name: s.Desc.Name, T: s.T, V: s.V}, Cores: s.Cores, Why: s.Why, Rest: s.Rest})
	}
	return out, nil
}

func (r *recordings) failed(id string) ([]record.FailedSecond, error) {
	d, err := r.read(id, measure.FailedParts())
	if err != nil {
		return nil, err
	}
	return measure.FailedSeconds(d), nil
}

func (r *recordings) waited(id string) ([]record.WaitedSecond, error) {
	d, err := r.read(id, measure.WaitedParts())
	if err != nil {
		return nil, err
	}
	return measure.WaitedSeconds(d), nil
}

func (r *recordings) latency(id string) (*hdr.Histogram, error) {
	d, err := r.read(id, record.Part{Seconds: true, Histograms: []string{"latency"}})
	if err != nil {
		return nil, err
	}
	return measure.Latency(d), nil
}

// events are a file of their own, which is small.
func (r *recordings) events(id string) ([]record.Event, []string, error) {
	run := r.runs[id]
	if run == nil {
		return nil, nil, fmt.Errorf("there is no run %s", id)
	}
	d, _ := r.unread.recorded(r.set, run, record.Part{Events: true})
	return d.Events, r.notes[id], nil
}
