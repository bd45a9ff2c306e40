package measure

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// served is the example with TLS, retries, and a header that says who answered: in the measure phase a and b share evenly,
// after it a gives everything.
func served() *record.Data {
	d := example()
	d.Run.Loads[0].Spec.By = "x-served-by"
	for i := range d.Seconds {
		s := &d.Seconds[i]
		if s.Load != "main" || s.Phase == "warm-up" {
			continue
		}
		c := &s.Counts
		c.By = map[string]int64{"a": 25, "b": 24, "(none)": 1}
		if s.Phase == "after" {
			c.By = map[string]int64{"a": 50}
		}
		c.Opened, c.Handshakes, c.Resumed, c.ReuseRetried, c.Retried, c.Refused, c.Goaways = 4, 3, 1, 2, 5, 6, 1
		c.FullIn, c.FullOut, c.ResumedIn, c.ResumedOut = 3001, 700, 500, 600
		c.Sessions = map[string]int64{"TLS 1.3 TLS_AES_128_GCM_SHA256 X25519 ALPN http/1.1": 2, "TLS 1.3 TLS_AES_256_GCM_SHA384 X25519 ALPN http/1.1 resumed": 1}
		s.Connect, s.TLS = hist(4, time.Millisecond), hist(1, time.Millisecond, 2*time.Millisecond, 6*time.Millisecond)
	}
	return d
}

func TestAnswers(t *testing.T) {
	d := served()
	Derive(d)
	// 4 seconds of two workers measured, 2 after.
	want := map[string]map[string]int64{
		"": {"a": 400, "b": 192, "(none)": 8}, "load/main": {"a": 400, "b": 192, "(none)": 8},
		"phase/measure": {"a": 200, "b": 192, "(none)": 8}, "phase/measure/load/main": {"a": 200, "b": 192, "(none)": 8},
		"phase/after": {"a": 200}, "phase/after/load/main": {"a": 200},
		"phase/warm-up": {}, "phase/warm-up/load/main": {},
	}
	if diff := cmp.Diff(want, d.Run.Answers); diff != "" {
		t.Error(diff)
	}
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"answerers": 2, "answerers_max_share": 400. / 592, "answerers_cv": 104. / 296})
	wantMetrics(t, d.Run.Metrics["phase/after"], map[string]float64{"answerers": 1, "answerers_max_share": 1, "answerers_cv": 0})
	for key, why := range map[string]string{
		"phase/warm-up/answerers": "no answer says who gave it", "load/side/answerers_cv": "no load counts by who answered",
	} {
		if d.Run.Missing[key] != why {
			t.Errorf("%s is missing because of %q, want %q", key, d.Run.Missing[key], why)
		}
	}

	d = served()
	d.Seconds[3].Counts.By["(other)"] = 1
	Derive(d)
	if v, ok := d.Run.Metrics[""].Get("answerers"); ok || d.Run.Missing["answerers"] == "" {
		t.Errorf("answerers = %v of more than are told apart", v)
	}
	d = example()
	Derive(d)
	if d.Run.Answers != nil {
		t.Errorf("answers of loads that do not count: %v", d.Run.Answers)
	}
}

// What connections, handshakes and retries come to.
func TestConnectionMetrics(t *testing.T) {
	d := served()
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{
		"connections_opened": 48, "connections_opened_per_s": 8, "handshakes": 36, "handshakes_per_s": 6, "resumed": 12, "resumed_ratio": 1. / 3,
		"reuse_retried": 24, "goaway_retried": 60, "refused_retried": 72, "goaways": 12,
		"handshake_full_bytes_in": 1500.5, "handshake_full_bytes_out": 350, "handshake_resumed_bytes_in": 500, "handshake_resumed_bytes_out": 600,
		"connect_p50_ms": 1, "connect_max_ms": 1, "handshake_p50_ms": 2, "handshake_p90_ms": 6, "handshake_max_ms": 6, "handshake_mean_ms": 3,
	})
	d = example()
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"handshakes": 0, "handshakes_per_s": 0, "connections_opened_per_s": 0, "reuse_retried": 0})
	for _, name := range []string{"resumed_ratio", "handshake_p99_ms", "connect_p99_ms", "handshake_full_bytes_in", "handshake_resumed_bytes_out"} {
		if v, ok := d.Run.Metrics[""].Get(name); ok || d.Run.Missing[name] == "" {
			t.Errorf("%s = %v without TLS", name, v)
		}
	}
}

// What handshakes agreed on is said in words; so are texts that actions set.
func TestTexts(t *testing.T) {
	d := served()
	d.Run.Values = map[string]any{"release": "1.2.3", "build": 7.0}
	Derive(d)
	tls := map[string]string{"tls_version": "TLS 1.3", "tls_group": "X25519", "tls_cipher": "TLS_AES_128_GCM_SHA256 (24), TLS_AES_256_GCM_SHA384 (12)", "tls_alpn": "http/1.1"}
	whole := maps.Clone(tls)
	whole["release"] = "1.2.3"
	for window, want := range map[string]map[string]string{"": whole, "load/main": tls, "load/side": nil, "phase/warm-up": nil} {
		if diff := cmp.Diff(want, d.Run.Texts[window]); diff != "" {
			t.Errorf("window %q: %s", window, diff)
		}
	}
	d = example()
	Derive(d)
	if d.Run.Texts != nil {
		t.Errorf("without TLS: %v", d.Run.Texts)
	}
	d = served()
	for i := range d.Seconds { // as an earlier build recorded it
		c := &d.Seconds[i].Counts
		c.FullIn = 0
		c.Sessions = map[string]int64{"TLS 1.2 TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": 1}
	}
	Derive(d)
	if got := d.Run.Texts["load/main"]; got["tls_alpn"] != "none" || got["tls_group"] != "none" || d.Run.Missing["handshake_full_bytes_in"] != "the bytes of handshakes were not counted" {
		t.Errorf("%v; %s", got, d.Run.Missing["handshake_full_bytes_in"])
	}
}

// A source address has so many ports; connections from several have so many more.
func TestPortsOfSeveralSources(t *testing.T) {
	for _, c := range []struct {
		sources []string
		open    float64
		ok      bool
	}{
		{nil, 950, false}, {nil, 850, true},
		{[]string{"127.0.0.1", "127.0.0.2"}, 1900, false}, {[]string{"127.0.0.1", "127.0.0.2"}, 1700, true},
		{[]string{"127.0.1.0/24"}, 200_000, true}, {[]string{"127.0.1.0/24"}, 255_000, false}, {[]string{"::1"}, 950, false},
		{[]string{"127.0.0.0/8"}, 1e6, true},
	} {
		d := example()
		d.Run.Loads[0].Spec.Sources = c.sources
		d.Points = append(d.Points, HealthPoints("main", 0, 1, load.Health{Second: 1, Open: int(c.open)})...)
		ok := true
		for _, g := range Guards(d, DefaultThresholds(), Machine{Ports: 1000}) {
			if g.Name == "ports" && g.Load == "main" {
				ok = g.OK
			}
		}
		if ok != c.ok {
			t.Errorf("%v connections from %v: the guard holds: %v", c.open, c.sources, ok)
		}
	}
}
