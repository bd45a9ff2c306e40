package engine

import (
	"fmt"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/internal/hdr"
)

// recordings answers what a report asks of what was recorded of runs, one run after the other. It reads what it is asked for,
// and keeps what the loads of the last run did, because most questions are about that.
type recordings struct {
	set   *record.Set
	runs  map[string]*record.Run
	notes map[string][]string

	last  string // the run of loads
	loads *record.Data
	all   map[string]measure.Series // of loads
}

// read reads a part of a run.
func (r *recordings) read(id string, p record.Part) (*record.Data, error) {
	run := r.runs[id]
	if run == nil {
		return nil, fmt.Errorf("there is no run %s", id)
	}
	return r.set.Recorded(run, p)
}

// ofLoads reads what the loads of a run did.
func (r *recordings) ofLoads(id string) (err error) {
	if r.last == id && r.loads != nil {
		return nil
	}
	r.last, r.all = id, nil
	r.loads, err = r.read(id, record.Part{Seconds: true, Histograms: true})
	return err
}

func (r *recordings) series(id, name string) (t, v []float64, err error) {
	p := measure.Wanted([]string{name})
	if !p.Seconds {
		d, err := r.read(id, p)
		if err != nil {
			return nil, nil, err
		}
		s := measure.All(d)[name]
		return s.T, s.V, nil
	}
	if err := r.ofLoads(id); err != nil {
		return nil, nil, err
	}
	if r.all == nil {
		r.all = measure.All(r.loads)
	}
	return r.all[name].T, r.all[name].V, nil
}

func (r *recordings) threads(id string) (out []report.Track, err error) {
	d, err := r.read(id, record.Part{Points: measure.OfThreads})
	if err != nil {
		return nil, err
	}
	for _, s := range measure.Threads(d, "sut") {
		out = append(out, report.Track{Name: s.Desc.Name, T: s.T, V: s.V})
	}
	return out, nil
}

func (r *recordings) latency(id string) (*hdr.Histogram, error) {
	if err := r.ofLoads(id); err != nil {
		return nil, err
	}
	return measure.Latency(r.loads), nil
}

func (r *recordings) events(id string) ([]record.Event, []string, error) {
	d, err := r.read(id, record.Part{Events: true})
	if err != nil {
		return nil, nil, err
	}
	return d.Events, r.notes[id], nil
}
