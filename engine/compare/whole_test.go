package compare

import (
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

func published(metrics map[string]record.Value) *record.Cell {
	return &record.Cell{Status: record.Done, Metrics: record.CellWindows{"": record.CellWindowOf(metrics)}}
}

// Of a cell of which only statistics of all runs are known nothing else is said, least of all that a ratio is beyond the noise.
func TestWhole(t *testing.T) {
	whole := published(map[string]record.Value{"p99_ms": {Value: 2, Whole: map[string]float64{"median": 2, "max": 9}}, "failed": {Value: 7, Whole: map[string]float64{"sum": 7}}, "requests": {Value: 1000, Whole: map[string]float64{"sum": 1000}}})
	runs := published(map[string]record.Value{"p99_ms": {Value: 1, Runs: []float64{1, 1.01, 0.99}}, "failed": {Value: 3, Runs: []float64{1, 1, 1}}})
	for text, want := range map[string]float64{"p99_ms": 2, "p99_ms.median": 2, "p99_ms.max": 9, "failed": 7} {
		if r := Read(whole, "a", ParseName(text)); r.Why != "" || r.Value != want || r.Only == "" {
			t.Errorf("%s: %+v", text, r)
		}
	}
	for _, text := range []string{"p99_ms.min", "p99_ms.n", "p99_ms.cv", "failed.mean"} {
		if r := Read(whole, "a", ParseName(text)); r.Why == "" {
			t.Errorf("%s: %+v", text, r)
		}
	}
	ms, count := series.Desc{Unit: "ms", Better: series.Lower}, series.Desc{Better: series.Lower, Across: series.Sum}
	high := Options{DistortedAbove: 0.5}
	for _, x := range []struct {
		metric string
		d      series.Desc
		a, b   *record.Cell
		opt    Options
		value  float64
		na     string
	}{
		{"p99_ms", ms, whole, runs, high, 2, ""},
		{"p99_ms", ms, runs, whole, high, 0.5, ""},
		{"p99_ms.max", ms, whole, runs, high, 2, ""},
		{"failed", count, whole, runs, Options{}, 7.0 / 3, ""}, // sums, also of the side whose runs are known
		{"p99_ms", ms, whole, runs, Options{}, 0, "distorted: 0.7 % of the requests of a failed or took over a second once sent"},
		{"failed", count, whole, runs, Options{DistortsAll: true}, 0, "distorted: 0.7 % of the requests of a failed or took over a second once sent"},
	} {
		c := Metric(ParseName(x.metric), x.d, Side{Name: "a", Cell: x.a}, Side{Name: "b", Cell: x.b}, x.opt)
		if c.Ratio.Value != x.value || c.Ratio.NA != x.na || x.na == "" && (c.Ratio.Noise != stats.Unknown || c.Outcome() != Unknown || c.Ratio.Why == "" || c.Ratio.Needed != 0) {
			t.Errorf("%s: %+v", x.metric, c.Ratio)
		}
	}
}
