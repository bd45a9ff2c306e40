package measure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

const noHandshake = "there was no TLS handshake"

// handshakeMetrics are of loads that speak TLS.
var handshakeMetrics = []loadMetric{
	counter("handshakes", series.Neither, "TLS handshakes", func(c *load.Counts) int64 { return c.Handshakes }),
	perSecondOf("handshakes_per_s", "TLS handshakes in the window, by its length", func(c *load.Counts) int64 { return c.Handshakes }),
	counter("resumed", series.Neither, "TLS handshakes that resumed a session", func(c *load.Counts) int64 { return c.Resumed }),
	{desc("resumed_ratio", "", series.Neither, series.Median, series.Count, "TLS handshakes that resumed a session, by TLS handshakes"), true,
		func(s *loadSum) (float64, string) {
			if s.counts.Handshakes == 0 {
				return 0, noHandshake
			}
			return float64(s.counts.Resumed) / float64(s.counts.Handshakes), ""
		}},
	shaken("full", "in", "received"), shaken("full", "out", "sent"), shaken("resumed", "in", "received"), shaken("resumed", "out", "sent"),
}

// shaken is the mean of the bytes that handshakes of a kind took in a direction.
func shaken(kind, direction, verb string) loadMetric {
	that := map[string]string{"full": "that resumed no session", "resumed": "that resumed a session"}[kind]
	doc := fmt.Sprintf("mean of the bytes of TLS that were %s in a handshake %s, without session tickets that follow it", verb, that)
	return loadMetric{desc("handshake_"+kind+"_bytes_"+direction, "", series.Neither, series.Median, series.Count, doc), true,
		func(s *loadSum) (float64, string) {
			c := &s.counts
			n, in, out := c.Handshakes-c.Resumed, c.FullIn, c.FullOut
			if kind == "resumed" {
				n, in, out = c.Resumed, c.ResumedIn, c.ResumedOut
			}
			bytes := in
			if direction == "out" {
				bytes = out
			}
			switch {
			case n == 0:
				return 0, "there was no TLS handshake " + that
			case bytes == 0: // a result set of before they were counted
				return 0, "the bytes of handshakes were not counted"
			}
			return float64(bytes) / float64(n), ""
		}}
}

// A Text is something of loads that is said in words. A table can show it.
type Text struct {
	Name, Doc string
	of        func(load.Session) string
}

// Texts are all of them, in the order of the documentation.
var Texts = []Text{
	{"tls_version", "the version of TLS", func(s load.Session) string { return s.Version }},
	{"tls_group", "the group of the key exchange; a session that is resumed in TLS 1.2 has none", func(s load.Session) string { return s.Group }},
	{"tls_cipher", "the cipher suite", func(s load.Session) string { return s.Cipher }},
	{"tls_alpn", "the protocol that the server chose by ALPN", func(s load.Session) string { return s.ALPN }},
}

// texts are what the handshakes of a window agreed on; where they differ, each with how many. nil if there were none.
func (s *loadSum) texts() map[string]string {
	if len(s.counts.Sessions) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, t := range Texts {
		counts := map[string]int64{}
		for text, n := range s.counts.Sessions {
			said := t.of(load.ParseSession(text))
			if said == "" {
				said = "none"
			}
			counts[said] += n
		}
		names := slices.Sorted(maps.Keys(counts))
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
		if len(names) > 1 {
			for i, name := range names {
				names[i] = fmt.Sprintf("%s (%d)", name, counts[name])
			}
		}
		out[t.Name] = strings.Join(names, ", ")
	}
	return out
}
