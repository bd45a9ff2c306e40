package export

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

type readFamily struct {
	Name, Type, Unit, Help string
	Samples                []struct {
		Name   string
		Labels map[string]string
		Value  float64
	}
}

// The reference parser of OpenMetrics, which is strict, has every value of every cell.
func TestOpenMetricsHoldsEveryCell(t *testing.T) {
	_, res := fixture(t)
	var b bytes.Buffer
	if err := OpenMetrics(&b, res, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "\n# EOF\n") {
		t.Errorf("it ends with %q", b.String()[max(0, b.Len()-50):])
	}
	var families []readFamily
	readBack(t, "openmetrics", b.Bytes(), &families)
	got := map[string]float64{} // NAME LABELS
	types := map[string]string{}
	for _, f := range families {
		types[f.Name] = f.Type + " " + f.Unit
		for _, s := range f.Samples {
			key := s.Name
			for _, l := range slices.Sorted(maps.Keys(s.Labels)) {
				key += "\x00" + l + "=" + s.Labels[l]
			}
			got[key] = s.Value
		}
	}
	n := 0
	for _, c := range res.Cells {
		for window, metrics := range c.Metrics {
			for name, v := range metrics.All() {
				across := res.Descs[name].Across
				want := map[string]float64{string(across): v.Value}
				if len(v.Runs) > 1 && across != series.Sum {
					want["min"], want["max"] = slices.Min(v.Runs), slices.Max(v.Runs)
				}
				for statistic, value := range want {
					labels := map[string]string{"plan": "synthetic v1.2", "stage": c.Coord.Stage, "scenario": c.Coord.Scenario, "target": c.Coord.Target, "matrix_size": axis(c.Coord, "size"), "window": window, "statistic": statistic}
					key := "planrun_" + name
					if across == series.Sum {
						key += "_total"
					}
					for _, l := range slices.Sorted(maps.Keys(labels)) {
						if labels[l] != "" {
							key += "\x00" + l + "=" + plain(labels[l])
						}
					}
					n++
					if v, ok := got[key]; !ok || v != value {
						t.Errorf("%q is %v (%v), want %v", key, v, ok, value)
					}
				}
			}
		}
	}
	others := 1 + len(res.Verdicts) - 1 + len(res.Cells) // the exit code, judgements (two are the same), cells
	if n == 0 || len(got) != n+others {
		t.Errorf("it has %d samples, want %d and %d", len(got), n, others)
	}
	for name, want := range map[string]string{
		"planrun_p99_ms": "gauge ms", "planrun_req_per_s": "gauge req_per_s", "planrun_failed": "counter ", "planrun_sut_rss_peak_mib": "gauge mib", "planrun_took_ms": "gauge ms", "planrun_verdict": "gauge ",
	} {
		if types[name] != want {
			t.Errorf("%s is a %q, want %q", name, types[name], want)
		}
	}
}

// Names of families and samples are never those of others, whatever metrics are called.
func TestOpenMetricsNames(t *testing.T) {
	o := &families{taken: map[string]bool{}}
	for _, test := range []struct{ name, unit, gauge, counter string }{
		{"p99_ms", "ms", "planrun_p99_ms", ""},
		{"p99", "ms", "planrun_p99_2_ms", ""},
		{"requests", "", "", "planrun_requests_total"},
		{"requests_total", "", "planrun_requests_2", ""},
		{"handshakes_per_s", "1/s", "planrun_handshakes_per_s", ""},
		{"sent", "MiB/s", "planrun_sent_mib_per_s", ""},
		{"größe", "µs", "planrun_gr__e_s", ""},
	} {
		if test.gauge != "" {
			if got := o.gauges(test.name, test.unit, "").GetName(); got != test.gauge {
				t.Errorf("%s is %s, want %s", test.name, got, test.gauge)
			}
		}
		if test.counter != "" {
			if got := o.counters(test.name, test.unit, "").GetName(); got != test.counter {
				t.Errorf("%s is %s, want %s", test.name, got, test.counter)
			}
		}
	}
}

// A sum that may fall below zero is no counter.
func TestOpenMetricsNegativeSum(t *testing.T) {
	res := &record.Results{Descs: map[string]series.Desc{"balance": {Name: "balance", Across: series.Sum}}, Cells: []record.Cell{{Metrics: record.CellWindowsOf(map[string]map[string]record.Value{"": {"balance": {Value: -3, Runs: []float64{-3}}}})}}}
	var b bytes.Buffer
	if err := OpenMetrics(&b, res, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "# TYPE planrun_balance gauge\nplanrun_balance{statistic=\"sum\"} -3.0\n") {
		t.Errorf("it is\n%s", &b)
	}
}

func TestOpenMetricsOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := OpenMetrics(&b, newResults(nil), Options{}); err != nil {
		t.Fatal(err)
	}
	var families []readFamily
	readBack(t, "openmetrics", b.Bytes(), &families)
	if len(families) != 1 || families[0].Name != "planrun_exit_code" {
		t.Errorf("%+v", families)
	}
}
