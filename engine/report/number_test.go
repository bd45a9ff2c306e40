package report

import (
	"math"
	"testing"

	"github.com/planrun/planrun/engine/series"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v     float64
		class series.Class
		want  string
	}{
		{0, series.Timing, "0"},
		{7.314, series.Timing, "7.31"},
		{12.349, series.Timing, "12.3"},
		{0.012349, series.Timing, "0.0123"},
		{99.96, series.Timing, "100"},
		{25437.4, series.Timing, "25,437"},
		{1234567, series.Count, "1,234,567"},
		{12, series.Count, "12"},
		{12, series.Timing, "12.0"},
		{-1234.5, series.Timing, "-1,235"},
		{-7.314, series.Timing, "-7.31"},
		{0.00001234, series.Timing, "1.23e-05"},
		{999999999999999, series.Count, "999,999,999,999,999"},
		{1e308, series.Timing, "1.00e+308"},
		{-2.5e15, series.Count, "-2.50e+15"},
		{math.NaN(), series.Timing, "n/a"},
		{math.Inf(1), series.Count, "n/a"},
	} {
		if got := number(c.v, c.class); got != c.want {
			t.Errorf("number(%v, %s) = %s, want %s", c.v, c.class, got, c.want)
		}
	}
}

func TestFactor(t *testing.T) {
	for v, want := range map[float64]string{1: "1.000", 1.0044: "1.004", 9.9996: "10.0", 12.34: "12.3", 0.5: "0.500", 0.0001234: "0.000123", math.Inf(1): "unbounded"} {
		if got := factor(v); got != want {
			t.Errorf("factor(%v) = %s, want %s", v, got, want)
		}
	}
}

func TestHeader(t *testing.T) {
	for _, c := range []struct{ name, unit, want string }{
		{"p99_ms", "ms", "p99_ms"},
		{"req_per_s", "req/s", "req_per_s"},
		{"sut_rss_peak_mib", "MiB", "sut_rss_peak_mib"},
		{"worst", "ms", "worst (ms)"},
		{"failed", "", "failed"},
		{"temperature", "degrees", "temperature (degrees)"},
	} {
		if got := header(c.name, series.Desc{Unit: c.unit}); got != c.want {
			t.Errorf("header(%s, %s) = %s, want %s", c.name, c.unit, got, c.want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for s, want := range map[string]string{"plans/a.yaml": "plans/a.yaml", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$(x)": "'$(x)'"} {
		if got := shellQuote(s); got != want {
			t.Errorf("shellQuote(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestCPUList(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		want string
	}{{nil, "not pinned"}, {[]int{0}, "0"}, {[]int{0, 1, 2, 3, 8}, "0-3,8"}} {
		if got := cpuList(c.cpus); got != c.want {
			t.Errorf("cpuList(%v) = %s, want %s", c.cpus, got, c.want)
		}
	}
}
