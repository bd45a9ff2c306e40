package report

import (
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// A curve gives a value of one run for a stretch of its time [from, to), in seconds since it began; false if nothing was
// sampled there.
type curve func(from, to float64) (float64, bool)

// curveOf finds what a name means: a number of the headline loads by second, or a series of a role's processes
// ("sut_rss_mib") or of anything else ("listen_drops").
func curveOf(d *record.Data, name string) curve {
	if c := counted(d, name); c != nil {
		return c
	}
	if h, q := histogram(name); h != nil {
		return func(from, to float64) (float64, bool) {
			var sum hdr.Histogram
			for _, s := range secondsOf(d, from, to) {
				if part := h(s); part != nil && sum.Merge(part) != nil {
					return 0, false
				}
			}
			if sum.Count() == 0 {
				return 0, false
			}
			return q(&sum) / 1e6, true
		}
	}
	return sampled(d, name)
}

// secondsOf are the headline loads' seconds that begin within a stretch of the run.
func secondsOf(d *record.Data, from, to float64) (out []load.Second) {
	start := map[string]float64{}
	for _, l := range d.Run.Loads {
		if l.Headline {
			start[l.Name] = l.Start
		}
	}
	for _, s := range d.Seconds {
		if at, ok := start[s.Load]; ok {
			if t := at + float64(s.Second); t >= from && t < to {
				out = append(out, s)
			}
		}
	}
	return out
}

// counted are outcomes: rates of successes, or counts within the stretch.
func counted(d *record.Data, name string) curve {
	of := map[string]func(load.Counts) int64{
		"req_per_s": func(c load.Counts) int64 { return c.OK },
		"requests":  func(c load.Counts) int64 { return c.Due },
		"failed":    failedOf,
		"non_2xx": func(c load.Counts) (n int64) {
			for _, k := range c.Non2xx {
				n += k
			}
			return n
		},
		"errors": func(c load.Counts) (n int64) {
			for _, k := range c.Errors {
				n += k
			}
			return n
		},
		"slow_over_1s": func(c load.Counts) int64 { return c.SlowOver1s },
	}[name]
	if of == nil {
		return nil
	}
	return func(from, to float64) (float64, bool) {
		seconds := secondsOf(d, from, to)
		if len(seconds) == 0 {
			return 0, false
		}
		n := int64(0)
		for _, s := range seconds {
			n += of(s.Counts)
		}
		if name == "req_per_s" {
			return float64(n) / (to - from), true
		}
		return float64(n), true
	}
}

// quantities of a histogram, in ns.
var quantities = map[string]func(*hdr.Histogram) float64{
	"p50":   func(h *hdr.Histogram) float64 { return h.Quantile(0.5) },
	"p90":   func(h *hdr.Histogram) float64 { return h.Quantile(0.9) },
	"p99":   func(h *hdr.Histogram) float64 { return h.Quantile(0.99) },
	"p99_9": func(h *hdr.Histogram) float64 { return h.Quantile(0.999) },
	"max":   func(h *hdr.Histogram) float64 { return float64(h.Max()) },
	"mean":  (*hdr.Histogram).Mean,
}

// histogram reads p99_ms, service_p50_ms, lag_p99_ms, connect_max_ms: which histogram, and which of its numbers in ns.
func histogram(name string) (of func(load.Second) *hdr.Histogram, number func(*hdr.Histogram) float64) {
	rest, ok := strings.CutSuffix(name, "_ms")
	if !ok {
		return nil, nil
	}
	for prefix, h := range map[string]func(load.Second) *hdr.Histogram{
		"":         func(s load.Second) *hdr.Histogram { return s.Latency },
		"service_": func(s load.Second) *hdr.Histogram { return s.Service },
		"lag_":     func(s load.Second) *hdr.Histogram { return s.Lag },
		"connect_": func(s load.Second) *hdr.Histogram { return s.Connect },
		"tls_":     func(s load.Second) *hdr.Histogram { return s.TLS },
	} {
		if stat, ok := strings.CutPrefix(rest, prefix); ok {
			if q := quantities[stat]; q != nil {
				return h, q
			}
		}
	}
	return nil, nil
}
