package measure

import (
	"fmt"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// A loadMetric is one metric of loads.
type loadMetric struct {
	series.Desc
	counts bool // of all that counts, in the headline window: see outcomeSpans
	value  func(s *loadSum) (v float64, why string)
}

const (
	noneDue    = "no request was due"
	noSuccess  = "no request succeeded"
	noneInTime = "the window has no length"
)

// loadMetrics are all metrics of loads, in the order of the documentation.
var loadMetrics = slicesOf(
	[]loadMetric{
		counter("requests", series.Neither, "requests that were due in the window, whenever they were sent", func(c *load.Counts) int64 { return c.Due }),
		counter("ok", series.Higher, "requests that were answered as expected", func(c *load.Counts) int64 { return c.OK }),
		{desc("req_per_s", "req/s", series.Higher, series.Median, series.Timing, "ok requests that were due in the window, by its length"), false,
			func(s *loadSum) (float64, string) {
				if s.seconds <= 0 {
					return 0, noneInTime
				}
				return float64(s.counts.OK) / s.seconds, s.unlessDue()
			}},
	},
	latencies("", "latency of successes, from the moment at which the request was due", (*loadSum).latency, noSuccess),
	latencies("service_", "latency of successes, from the actual send", (*loadSum).service, noSuccess),
	[]loadMetric{
		{apart(desc("max_elapsed_ms", "ms", series.Lower, series.Max, series.Timing, "longest time that any request took, failed ones too, from its due time")), false,
			func(s *loadSum) (float64, string) { return float64(s.counts.MaxElapsed) / 1e6, s.unlessDue() }},
		{desc("worst_second_p99_ms", "ms", series.Lower, series.Max, series.Timing, "highest p99 of any one second; seconds of which less than half lies in the window do not count if there are others"), false,
			(*loadSum).worstSecond},
		{desc("p99_clean_ms", "ms", series.Lower, series.Median, series.Timing, cleanDoc("p99_ms")), false, cleanQuantile(0.99)},
		{desc("p99_9_clean_ms", "ms", series.Lower, series.Median, series.Timing, cleanDoc("p99_9_ms")), false, cleanQuantile(0.999)},
		counter("failed", series.Lower, "requests that failed: non_2xx and errors", failed),
		unexplainedMetric,
		{desc("failed_ratio", "", series.Lower, series.Median, series.Count, "failed requests by requests"), true,
			func(s *loadSum) (float64, string) {
				if s.counts.Due == 0 {
					return 0, noneDue
				}
				return float64(failed(&s.counts)) / float64(s.counts.Due), ""
			}},
		counter("non_2xx", series.Lower, "answers whose status was not the expected one", func(c *load.Counts) int64 { return total(c.Non2xx) }),
		statusClass(3), statusClass(4), statusClass(5),
		counter("errors", series.Lower, "requests without a right answer, but for its status: the sum of the classes errors_...", func(c *load.Counts) int64 { return total(c.Errors) }),
	},
	errorClasses(),
	[]loadMetric{
		counter("slow_over_1s", series.Lower, "successes whose own round trip, from when they were sent, took longer than a second; a wait for a connection before that is not in it, but in waited, p99_ms, max_ms, worst_second_p99_ms and lag_max_ms", func(c *load.Counts) int64 { return c.SlowOver1s }),
		waitedMetric,
		counter("generator", series.Lower, "requests that the load generator itself could not send, for want of descriptors, ports, memory or CPU; they are no failures", func(c *load.Counts) int64 { return c.Generator }),
		counter("sent", series.Neither, "requests written to a connection in the window, whenever they were due, those sent again included", func(c *load.Counts) int64 { return c.Sent }),
		counter("connections_opened", series.Neither, "connections that were opened", func(c *load.Counts) int64 { return c.Opened }),
		perSecondOf("connections_opened_per_s", "connections that were opened in the window, by its length", func(c *load.Counts) int64 { return c.Opened }),
	},
	handshakeMetrics,
	[]loadMetric{
		counter("goaways", series.Neither, "HTTP/2 GOAWAY frames received", func(c *load.Counts) int64 { return c.Goaways }),
		counter("goaway_retried", series.Neither, "requests sent again because a GOAWAY said that they were not processed", func(c *load.Counts) int64 { return c.Retried }),
		counter("refused_retried", series.Neither, "requests sent again after REFUSED_STREAM", func(c *load.Counts) int64 { return c.Refused }),
		counter("reuse_retried", series.Neither, "requests sent again, once, on a new connection, because the old one had been closed before a byte of an answer", func(c *load.Counts) int64 { return c.ReuseRetried }),
		counter("bytes_in", series.Neither, "bytes received", func(c *load.Counts) int64 { return c.BytesIn }),
		counter("bytes_out", series.Neither, "bytes sent", func(c *load.Counts) int64 { return c.BytesOut }),
	},
	latencies("connect_", "time to open a connection, without TLS", (*loadSum).connect, "no connection was opened"),
	latencies("handshake_", "time of a TLS handshake", (*loadSum).tls, noHandshake),
	answererMetrics,
	[]loadMetric{
		quantile("lag_p50_ms", lagDoc, (*loadSum).lag, 0.5, noLag),
		quantile("lag_p99_ms", lagDoc, (*loadSum).lag, 0.99, noLag),
		{desc("lag_max_ms", "ms", series.Lower, series.Max, series.Timing, "largest send lag"), false,
			func(s *loadSum) (float64, string) { return maximum(s.lag(), noLag) }},
		{desc("rate_delivered", "", series.Higher, series.Median, series.Timing, "share of the planned requests of an open loop that the generator itself sent less than a second late; waiting for a slow target is not its fault"), false,
			(*loadSum).delivered},
	},
)

const (
	lagDoc = "send lag: sent minus due, a wait for a connection included"
	noLag  = "no send lag was recorded"
)

func slicesOf(lists ...[]loadMetric) []loadMetric {
	var out []loadMetric
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func desc(name, unit string, better series.Better, across series.Across, class series.Class, doc string) series.Desc {
	return series.Desc{Name: name, Unit: unit, Better: better, Across: across, Class: class, Doc: doc}
}

// counter is a count of outcomes: zero where requests were due.
func counter(name string, better series.Better, doc string, n func(*load.Counts) int64) loadMetric {
	return loadMetric{desc(name, "", better, series.Sum, series.Count, doc), true,
		func(s *loadSum) (float64, string) { return float64(n(&s.counts)), s.unlessDue() }}
}

// perSecondOf is a rate of events in the window.
func perSecondOf(name, doc string, n func(*load.Counts) int64) loadMetric {
	return loadMetric{desc(name, "1/s", series.Neither, series.Median, series.Timing, doc), false,
		func(s *loadSum) (float64, string) {
			if s.seconds <= 0 {
				return 0, noneInTime
			}
			return float64(n(&s.counts)) / s.seconds, s.unlessDue()
		}}
}

func failed(c *load.Counts) int64 { return total(c.Non2xx) + total(c.Errors) }

func total[K comparable](m map[K]int64) int64 {
	var sum int64
	for _, n := range m {
		sum += n
	}
	return sum
}

func statusClass(hundreds int) loadMetric {
	return counter(fmt.Sprintf("status_%dxx", hundreds), series.Lower, fmt.Sprintf("unexpected answers with a status of %d00 to %d99", hundreds, hundreds),
		func(c *load.Counts) int64 {
			var sum int64
			for code, n := range c.Non2xx {
				if code/100 == hundreds {
					sum += n
				}
			}
			return sum
		})
}

func errorClasses() []loadMetric {
	docs := []struct{ class, doc string }{
		{load.Connect, "a connection could not be opened"},
		{load.TLS, "a TLS handshake failed"},
		{load.Reset, "the connection ended before the answer did"},
		{load.Timeout, "no answer within the timeout"},
		{load.Protocol, "the answer broke the protocol"},
		{load.Mismatch, "the answer was not the expected one"},
		{load.Dropped, "too many requests waited already for a connection"},
	}
	var out []loadMetric
	for _, d := range docs {
		out = append(out, counter("errors_"+d.class, series.Lower, "failed requests: "+d.doc, func(c *load.Counts) int64 { return c.Errors[d.class] }))
	}
	return out
}

// apart describes a time that is not of successes alone.
func apart(d series.Desc) series.Desc {
	d.Apart = true
	return d
}

// latencies are the usual figures of one kind of histogram.
func latencies(prefix, doc string, h func(*loadSum) *hdr.Histogram, none string) []loadMetric {
	return []loadMetric{
		quantile(prefix+"p50_ms", "50th percentile: "+doc, h, 0.5, none),
		quantile(prefix+"p90_ms", "90th percentile: "+doc, h, 0.9, none),
		quantile(prefix+"p99_ms", "99th percentile: "+doc, h, 0.99, none),
		quantile(prefix+"p99_9_ms", "99.9th percentile: "+doc, h, 0.999, none),
		{desc(prefix+"max_ms", "ms", series.Lower, series.Max, series.Timing, "maximum: "+doc), false,
			func(s *loadSum) (float64, string) { return maximum(h(s), none) }},
		{desc(prefix+"mean_ms", "ms", series.Lower, series.Median, series.Timing, "mean: "+doc), false,
			func(s *loadSum) (float64, string) {
				if h(s).Count() == 0 {
					return 0, none
				}
				return h(s).Mean() / 1e6, ""
			}},
	}
}

func quantile(name, doc string, h func(*loadSum) *hdr.Histogram, q float64, none string) loadMetric {
	return loadMetric{desc(name, "ms", series.Lower, series.Median, series.Timing, doc), false,
		func(s *loadSum) (float64, string) { return quantileOf(h(s), q, none) }}
}

func quantileOf(h *hdr.Histogram, q float64, none string) (float64, string) {
	if h.Count() == 0 {
		return 0, none
	}
	return h.Quantile(q) / 1e6, ""
}

func maximum(h *hdr.Histogram, none string) (float64, string) {
	if h.Count() == 0 {
		return 0, none
	}
	return float64(h.Max()) / 1e6, ""
}
