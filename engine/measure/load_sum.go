package measure

import (
	"fmt"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// Stall is the send lag above which a second is one in which the generator stalled: p99_clean_ms leaves it out.
const Stall = 50 * time.Millisecond

// late is the generator's own send lag from which a request was not delivered in its time.
const late = time.Second

// A loadSum is what the loads of a window did in it, added up.
type loadSum struct {
	ix      *index
	spans   []span
	seconds float64 // length of the spans
	loads   map[string]bool
	pieces  []*piece
	counts  load.Counts
	merged  map[string]*hdr.Histogram // made when they are asked for
}

func (ix *index) sum(loads map[string]bool, spans []span) *loadSum {
	s := &loadSum{ix: ix, spans: spans, seconds: length(spans), loads: loads}
	for i := range ix.pieces {
		p := &ix.pieces[i]
		if !loads[p.Load] || !p.in(spans) {
			continue
		}
		s.pieces = append(s.pieces, p)
		record.AddCounts(&s.counts, p.Counts)
	}
	return s
}

// hist is the sum of the histograms that of gives; pieces without one do not matter.
func (s *loadSum) hist(name string, of func(*piece) *hdr.Histogram) *hdr.Histogram {
	if h, ok := s.merged[name]; ok {
		return h
	}
	var hs []*hdr.Histogram
	for _, p := range s.pieces {
		hs = append(hs, of(p))
	}
	if s.merged == nil {
		s.merged = map[string]*hdr.Histogram{}
	}
	s.merged[name] = merged(hs...)
	return s.merged[name]
}

func (s *loadSum) latency() *hdr.Histogram {
	return s.hist("latency", func(p *piece) *hdr.Histogram { return p.Latency })
}

func (s *loadSum) service() *hdr.Histogram {
	return s.hist("service", func(p *piece) *hdr.Histogram { return p.Service })
}

func (s *loadSum) lag() *hdr.Histogram {
	return s.hist("lag", func(p *piece) *hdr.Histogram { return p.Lag })
}

func (s *loadSum) connect() *hdr.Histogram {
	return s.hist("connect", func(p *piece) *hdr.Histogram { return p.Connect })
}

func (s *loadSum) tls() *hdr.Histogram {
	return s.hist("tls", func(p *piece) *hdr.Histogram { return p.TLS })
}

// clean is the latency of the pieces that a clean figure keeps; left says whether any is.
func (s *loadSum) clean() (h *hdr.Histogram, left bool) {
	out := s.leftOut()
	h = s.hist("clean", func(p *piece) *hdr.Histogram {
		if out[p] != "" {
			return nil
		}
		return p.Latency
	})
	return h, len(out) < len(s.pieces)
}

// unlessDue says why there is no count: nothing was due, so nothing was watched.
func (s *loadSum) unlessDue() string {
	if s.counts.Due == 0 {
		return noneDue
	}
	return ""
}

// wholeSeconds are the pieces of which at least half a second lies in the window; all if there are none such.
func (s *loadSum) wholeSeconds() []*piece {
	var whole []*piece
	for _, p := range s.pieces {
		if p.covered(s.spans) >= 0.5 {
			whole = append(whole, p)
		}
	}
	if whole == nil {
		return s.pieces
	}
	return whole
}

func (s *loadSum) worstSecond() (float64, string) {
	worst, why := 0.0, noSuccess
	for _, second := range bySecond(s.wholeSeconds()) {
		var hs []*hdr.Histogram
		for _, p := range second {
			hs = append(hs, p.Latency)
		}
		if v, w := quantileOf(merged(hs...), 0.99, noSuccess); w == "" {
			worst, why = max(worst, v), ""
		}
	}
	return worst, why
}

// leftOut are the pieces that a clean figure is without, and why.
func (s *loadSum) leftOut() map[*piece]string {
	out := map[*piece]string{}
	if len(s.spans) == 0 {
		return out
	}
	first := s.spans[0].from
	for _, sp := range s.spans {
		first = min(first, sp.from)
	}
	for _, p := range s.pieces {
		lag := time.Duration(p.Counts.StalledLagNs)
		switch {
		case p.start < first+1:
			out[p] = "the window's first second"
		case lag > Stall:
			out[p] = fmt.Sprintf("the load generator stalled for %v", lag.Round(time.Millisecond))
		}
	}
	return out
}

func cleanDoc(name string) string {
	return fmt.Sprintf("%s without the window's first second and without the seconds in which the generator's own send lag went above %v; above %[1]s where these seconds were quicker than the others", name, Stall)
}

func cleanQuantile(q float64) func(*loadSum) (float64, string) {
	return func(s *loadSum) (float64, string) {
		h, left := s.clean()
		if !left && len(s.pieces) > 0 {
			return 0, "no second is left without the first one and those in which the generator stalled"
		}
		return quantileOf(h, q, noSuccess)
	}
}

// delivered is the metric rate_delivered.
func (s *loadSum) delivered() (float64, string) {
	var planned, missed float64
	open := false
	for _, name := range sortedKeys(s.loads) {
		l := s.ix.loads[name]
		if l == nil || len(l.Spec.Rate) == 0 {
			continue
		}
		open = true
		one := s.ix.sum(map[string]bool{name: true}, s.spans)
		due := float64(one.counts.Due)
		want, known := one.planned(l)
		if !known {
			want = due
		}
		short := max(0, want-due)
		if due > 0 {
			// An arrival more or less at the ends of a phase is rounding.
			short = max(0, short-float64(len(s.spans)))
		}
		missed += short + float64(one.counts.Generator)
		for _, p := range one.pieces {
			// A lag that the generator itself had no part in is a slow target's.
			if time.Duration(p.Counts.StalledLagNs) > late {
				missed += float64(above(p.Lag, late))
			}
		}
		planned += want
	}
	switch {
	case !open:
		return 0, "there is no open loop: a closed loop has no rate to deliver"
	case planned <= 0:
		return 0, noneDue
	}
	return max(0, 1-missed/planned), ""
}

// planned is the integral of the load's rate over the spans. It is not known of a load that began or ended within one
// where nothing says when.
func (s *loadSum) planned(l *record.Load) (requests float64, known bool) {
	for _, sp := range s.spans {
		from, to := max(sp.from, l.Start), sp.to
		switch {
		case l.Stopped > 0:
			to = min(to, l.Stopped)
		case l.End > 0 && l.End < sp.to:
			return 0, false
		}
		if to > from {
			requests += due(l.Spec.Rate, to-l.Start) - due(l.Spec.Rate, from-l.Start)
		}
	}
	return requests, true
}

// due is the integral of a rate from 0 to t, in requests.
func due(steps []load.RateStep, t float64) float64 {
	sum := 0.0
	for _, st := range steps {
		over := st.Over.Seconds()
		if st.Over == 0 {
			return sum + st.To*t
		}
		if t <= over {
			return sum + t*st.From + t*t*(st.To-st.From)/(2*over)
		}
		sum += over * (st.From + st.To) / 2
		t -= over
	}
	return sum
}

// above counts the values above a limit, within the histogram's precision.
func above(h *hdr.Histogram, limit time.Duration) int64 {
	if h.Count() == 0 || h.Max() <= int64(limit) {
		return 0
	}
	n := h.Overflow()
	for _, bar := range h.Raw().Distribution() {
		if bar.From > int64(limit) {
			n += bar.Count
		}
	}
	return n
}

// bySecond groups pieces of several loads that are of about the same second, in order of time.
func bySecond(pieces []*piece) map[int][]*piece {
	out := map[int][]*piece{}
	for _, p := range pieces {
		k := int(p.start + 0.5)
		out[k] = append(out[k], p)
	}
	return out
}
