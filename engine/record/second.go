package record

import (
	"errors"

	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// A secondKey says what is added up: the parts that the workers of a load report of one second and phase.
type secondKey struct {
	load, phase string
	second      int
}

// AllWorkers is the worker of a second that was added up over all of them.
const AllWorkers = -1

// addSecond adds s to sum; it shares nothing with s afterwards.
func addSecond(sum, s *load.Second) error {
	AddCounts(&sum.Counts, s.Counts)
	var errs []error
	for _, what := range whats {
		from, to := *histogram(s, what), histogram(sum, what)
		if from.Count() == 0 {
			continue
		}
		if *to == nil {
			*to = new(hdr.Histogram)
		}
		errs = append(errs, (*to).Merge(from))
	}
	return errors.Join(errs...)
}

// second collects the lines of one second: its counters, and its histograms.
func (w *RunWriter) second(s *load.Second) {
	at := int64((w.loads[s.Load]+float64(s.Second))*1000 + 0.5)
	line := loadLine{Load: *s, At: &at, Hists: map[string]histLine{}}
	line.Load.Latency, line.Load.Service, line.Load.Lag, line.Load.Connect, line.Load.TLS = nil, nil, nil, nil, nil
	for _, what := range whats {
		h := *histogram(s, what)
		if h.Count() == 0 {
			continue
		}
		line.Hists[what] = histLine{N: h.Count(), Min: h.Min(), Max: h.Max(), Over: h.Overflow()}
		b, err := hlogLine(tag(s, what), h, at)
		if err != nil {
			w.lose(1, err)
			continue
		}
		w.hlog.line(b)
	}
	w.add(&w.series, line)
}
