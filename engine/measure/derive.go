package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// figures are the metrics of one window, and why others have no value.
type figures struct {
	values map[string]float64
	why    map[string]string
}

func newFigures() *figures {
	return &figures{map[string]float64{}, map[string]string{}}
}

// set keeps a value; an undefined one is missing.
func (f *figures) set(name string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		f.missing(name, "undefined")
		return
	}
	f.values[name] = v
	delete(f.why, name)
}

func (f *figures) missing(name, why string) {
	if _, ok := f.values[name]; !ok {
		f.why[name] = why
	}
}

// Derive sets Metrics, Missing and LeftOut of the run from everything that was recorded of it.
func Derive(d *record.Data) {
	ix := newIndex(d)
	d.Run.Metrics, d.Run.Missing, d.Run.LeftOut, d.Run.Answers, d.Run.Texts = record.Windows{}, map[string]string{}, nil, nil, nil
	if d.Run.Published != nil {
		published(d.Run)
		return
	}
	for _, w := range windows(d.Run) {
		f := ix.window(w)
		if w.name == "" {
			ix.recovery(f)
			ix.relaysLeft(f)
			values(d.Run, f)
			d.Run.LeftOut = ix.stalls(w)
		}
		d.Run.Metrics[w.name] = record.WindowOf(f.values)
		if said := ix.texts(w); len(said) > 0 {
			if d.Run.Texts == nil {
				d.Run.Texts = map[string]map[string]string{}
			}
			d.Run.Texts[w.name] = said
		}
		if by := ix.answers(w); by != nil {
			if d.Run.Answers == nil {
				d.Run.Answers = map[string]map[string]int64{}
			}
			d.Run.Answers[w.name] = by
		}
		for name, why := range f.why {
			d.Run.Missing[MissingKey(w.name, name)] = why
		}
	}
	ix.crossChecks()
}

// MissingKey is the key of a metric in Run.Missing and Cell.Missing.
func MissingKey(window, metric string) string {
	if window == "" {
		return metric
	}
	return window + "/" + metric
}

// lookBack is how long before a live window samples count, in seconds: those at its begin lie about it.
const lookBack = 15

// DeriveWindow gives the metrics of the time from..to of a run that may still go on, in seconds since it began: of the
// headline loads, the processes and the host. Requests count where their second lies mostly in the window, and rates are by
// the length of these seconds, because the last one may not be reported yet.
func DeriveWindow(d *record.Data, from, to float64) (metrics map[string]float64, missing map[string]string) {
	ix := partIndex(d, func(_ *load.Second, start float64) bool { return start+0.5 >= from && start+0.5 < to }, from-lookBack)
	s := []span{{"", from, to}}
	w := window{rates: s, counts: s, loads: headlineLoads(d.Run)}
	f := newFigures()
	sum := ix.sum(w.loads, s)
	if n := len(bySecond(sum.pieces)); n > 0 {
		sum.seconds = float64(n)
	}
	ix.fill(w, sum, sum, f)
	return f.values, f.why
}

// DerivePhase gives the metrics of a phase so far, at the moment now (seconds since the run began). The rate is by the
// length of what was reported of it.
func DerivePhase(d *record.Data, phase string, now float64) (metrics map[string]float64, missing map[string]string) {
	spans := spansOf(d.Run.Phases, func(p record.Phase) bool { return p.Name == phase })
	since := now
	for _, s := range spans {
		since = min(since, s.from)
	}
	ix := partIndex(d, func(s *load.Second, _ float64) bool { return s.Phase == phase }, since-lookBack)
	for i := range spans {
		if spans[i].to <= spans[i].from {
			spans[i].to = now
		}
	}
	w := window{rates: spans, counts: spans, loads: headlineLoads(d.Run)}
	f := newFigures()
	sum := ix.sum(w.loads, spans)
	if len(sum.pieces) > 0 {
		reported := 0.0
		for _, p := range sum.pieces {
			reported = max(reported, p.start+1)
		}
		clipped := slices.Clone(spans)
		for i := range clipped {
			clipped[i].to = min(clipped[i].to, max(reported, clipped[i].from))
		}
		if n := length(clipped); n > 0 {
			sum.seconds = n
		}
	}
	ix.fill(w, sum, sum, f)
	return f.values, f.why
}

func headlineLoads(r *record.Run) map[string]bool {
	out := map[string]bool{}
	for _, l := range r.Loads {
		if l.Headline {
			out[l.Name] = true
		}
	}
	return out
}

// window derives one window of a finished run.
func (ix *index) window(w window) *figures {
	f := newFigures()
	rates := ix.sum(w.loads, w.rates)
	counts := rates
	if !slices.Equal(w.rates, w.counts) {
		counts = ix.sum(w.loads, w.counts)
	}
	ix.fill(w, rates, counts, f)
	return f
}

func (ix *index) fill(w window, rates, counts *loadSum, f *figures) {
	if s := length(w.rates); s > 0 {
		f.set("seconds", s)
	}
	if len(w.loads) > 0 {
		for _, m := range loadMetrics {
			s := rates
			if m.counts {
				s = counts
			}
			if v, why := m.value(s); why == "" {
				f.set(m.Name, v)
			} else {
				f.missing(m.Name, why)
			}
		}
	} else if w.process == "" {
		for _, m := range loadMetrics {
			f.missing(m.Name, "no load ran")
		}
	}
	if w.ofLoad {
		return
	}
	ix.processes(w, rates, f)
	ix.series(w, f)
	ix.perRequest(w, counts, f)
}

// values adds the numbers that actions recorded.
func values(r *record.Run, f *figures) {
	for name, v := range r.Values {
		if _, taken := f.values[name]; taken {
			continue
		}
		switch v := v.(type) {
		case float64:
			f.set(name, v)
		case int:
			f.set(name, float64(v))
		}
	}
}

// texts are what is said of a window in words: what its handshakes agreed on, and texts that actions set.
func (ix *index) texts(w window) map[string]string {
	out := map[string]string{}
	if len(w.loads) > 0 && w.process == "" {
		out = ix.sum(w.loads, w.counts).texts()
	}
	if w.name != "" {
		return out
	}
	for name, v := range ix.d.Run.Values {
		if text, ok := v.(string); ok {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = text
		}
	}
	return out
}

// stalls are the seconds that the clean latencies of a window are without.
func (ix *index) stalls(w window) []record.LeftOut {
	var out []record.LeftOut
	left := ix.sum(w.loads, w.rates).leftOut()
	for p, why := range left {
		out = append(out, record.LeftOut{T: p.start, Phase: p.Phase, Why: why})
	}
	slices.SortFunc(out, func(a, b record.LeftOut) int {
		return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(len(a.Why), len(b.Why)), cmp.Compare(a.Phase, b.Phase))
	})
	return slices.Compact(out)
}
