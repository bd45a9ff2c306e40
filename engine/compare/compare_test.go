package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

var (
	rate  = series.Desc{Name: "req_per_s", Unit: "req/s", Better: series.Higher, Across: series.Median, Class: series.Timing}
	p99   = series.Desc{Name: "p99_ms", Unit: "ms", Better: series.Lower, Across: series.Median, Class: series.Timing}
	count = series.Desc{Name: "failed", Better: series.Lower, Across: series.Sum, Class: series.Count}
	plain = series.Desc{Name: "requests", Across: series.Sum, Class: series.Count}
)

// of makes a cell whose metric d has these runs; further ones come as pairs of name and runs.
func of(d series.Desc, runs ...float64) *record.Cell {
	c := &record.Cell{Coord: record.Coord{Scenario: "s", Target: "t"}, Status: record.Done, Metrics: record.CellWindows{"": new(record.CellWindow)}}
	set(c, d, runs...)
	return c
}

func set(c *record.Cell, d series.Desc, runs ...float64) {
	c.Metrics[""].Set(d.Name, record.Value{Value: stats.Across(d.Across, runs), Runs: runs})
}

func around(v float64) []float64 { return []float64{v, 1.01 * v, 0.99 * v} }

func TestParseName(t *testing.T) {
	for text, want := range map[string]Name{
		"p99_ms":                {Metric: "p99_ms"},
		"p99_ms.min":            {Metric: "p99_ms", Stat: "min"},
		"phase/fault/p99_ms.cv": {Window: "phase/fault", Metric: "p99_ms", Stat: "cv"},
		"phase/v1.2/p99_ms":     {Window: "phase/v1.2", Metric: "p99_ms"},
		"phase/a/b/p99_ms":      {Window: "phase/a/b", Metric: "p99_ms"},
		"p99_ms.other":          {Metric: "p99_ms.other"},
	} {
		want.Text = text
		if got := ParseName(text); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	c := of(rate, 3, 1, 2)
	c.Metrics["phase/b"] = record.CellWindowOf(map[string]record.Value{"failed": {Value: 7}})
	c.Missing = map[string]string{"phase/b/p99_ms": "no request succeeded"}
	failed := &record.Cell{Status: record.Failed, Reason: "install"}
	for _, tc := range []struct {
		cell *record.Cell
		name string
		want float64
		why  string
	}{
		{c, "req_per_s", 2, ""}, {c, "req_per_s.min", 1, ""}, {c, "req_per_s.max", 3, ""}, {c, "req_per_s.n", 3, ""},
		{c, "req_per_s.mean", 2, ""}, {c, "req_per_s.cv", math.Sqrt(2./3) / 2, ""}, {c, "phase/b/failed", 7, ""},
		{c, "phase/b/p99_ms", 0, "phase/b/p99_ms: no request succeeded"},
		{c, "phase/c/p99_ms", 0, "phase/c/p99_ms: this cell has no such window"},
		{c, "p50_ms", 0, "p50_ms: nothing of it was recorded"},
		{of(rate, 0, 0), "req_per_s.cv", 0, "req_per_s.cv is undefined for these runs"},
		{failed, "p99_ms", 0, "x: error: install"},
	} {
		got := Read(tc.cell, "x", ParseName(tc.name))
		if tc.why == "" && math.Abs(got.Value-tc.want) > 1e-12 || !strings.HasPrefix(got.Why, tc.why) || (tc.why == "") != (got.Why == "") {
			t.Errorf("%s: %+v, want %v %q", tc.name, got, tc.want, tc.why)
		}
	}
}

func TestOutcome(t *testing.T) {
	tainted := of(rate, around(200)...)
	tainted.Metrics[""].Set("req_per_s", record.Value{Value: 200, Runs: around(200), Tainted: "the generator was busy"})
	for _, tc := range []struct {
		name string
		d    series.Desc
		a, b *record.Cell
		want Outcome
	}{
		{"more is better", rate, of(rate, around(200)...), of(rate, around(100)...), Better},
		{"less is worse", rate, of(rate, around(100)...), of(rate, around(200)...), Worse},
		{"a longer time is worse", p99, of(p99, around(200)...), of(p99, around(100)...), Worse},
		{"no direction", plain, of(plain, around(200)...), of(plain, around(100)...), Differs},
		{"near", rate, of(rate, around(100)...), of(rate, around(100.1)...), WithinNoise},
		{"two runs", rate, of(rate, 200, 200), of(rate, around(100)...), Unknown},
		{"tainted", rate, tainted, of(rate, around(100)...), Untrusted},
		{"nothing by nothing", count, of(count, 0, 0, 0), of(count, 0, 0, 0), NA},
		{"no cell", rate, nil, of(rate, 1), NA},
	} {
		got := Metric(ParseName(tc.d.Name), tc.d, Side{Name: "a", Cell: tc.a, Why: "no cell of a"}, Side{Name: "b", Cell: tc.b}, Options{})
		if got.Outcome() != tc.want {
			t.Errorf("%s: %s, want %s: %+v", tc.name, got.Outcome(), tc.want, got)
		}
		if (tc.want == NA) != (got.Ratio.NA != "") {
			t.Errorf("%s: NA is %q", tc.name, got.Ratio.NA)
		}
	}
}

// Runs on the same processes have one peak between them, whatever its last digits; runs on processes of their own have each
// one. Only of peaks does it matter.
func TestPeaksOfSharedProcesses(t *testing.T) {
	memory := series.Desc{Name: "sut_rss_peak_mib", Unit: "MiB", Better: series.Lower, Across: series.Max, Class: series.Count}
	for _, tc := range []struct {
		d      series.Desc
		shared bool
		want   Outcome
	}{{memory, true, Unknown}, {memory, false, Worse}, {rate, true, Better}} {
		a, b := of(tc.d, around(200)...), of(tc.d, around(100)...)
		b.Shared = tc.shared
		got := Metric(ParseName(tc.d.Name), tc.d, Side{Name: "a", Cell: a}, Side{Name: "b", Cell: b}, Options{})
		if got.Outcome() != tc.want || math.Abs(got.Ratio.Value-2) > 1e-9 {
			t.Errorf("%s, shared %v: %s, %+v", tc.d.Name, tc.shared, got.Outcome(), got.Ratio)
		}
		if unknown := tc.want == Unknown; unknown != strings.Contains(got.Ratio.Why, "shared their processes") || unknown != (got.Ratio.Floor == 0) {
			t.Errorf("%s, shared %v: %+v", tc.d.Name, tc.shared, got.Ratio)
		}
	}
}

// A latency of which too much failed is left out, by the limit that the caller asks for; a rate is of successes in any case.
func TestDistorted(t *testing.T) {
	a, b := of(p99, around(2)...), of(p99, around(1)...)
	set(a, plain, 1000, 1000)
	set(a, count, 0, 5)
	got := Metric(ParseName("p99_ms"), p99, Side{Name: "a", Cell: a}, Side{Name: "b", Cell: b}, Options{})
	if got.Ratio.NA != "distorted: 0.25 % of the requests of a failed or took over a second once sent" {
		t.Errorf("NA is %q", got.Ratio.NA)
	}
	if got := Metric(ParseName("p99_ms"), p99, Side{Name: "a", Cell: a}, Side{Name: "b", Cell: b}, Options{DistortedAbove: 0.01}); got.Outcome() != Worse {
		t.Errorf("with a limit of 1 %%: %s, %q", got.Outcome(), got.Ratio.NA)
	}
	took := series.Desc{Name: "route_propagation_ms", Unit: "ms", Better: series.Lower, Apart: true}
	set(a, took, around(20)...)
	set(b, took, around(10)...)
	if got := Metric(ParseName(took.Name), took, Side{Name: "a", Cell: a}, Side{Name: "b", Cell: b}, Options{}); got.Outcome() != Worse {
		t.Errorf("a time that is not of requests: %s, %q", got.Outcome(), got.Ratio.NA)
	}
	sides := []Side{{Name: "a", Cell: a}, {Name: "b", Cell: b}, {Name: "c", Why: "no cell of c"}, {Name: "d", Cell: of(p99, around(1)...)}}
	if got := Best(ParseName("p99_ms"), p99, sides, Options{}); got != 1 {
		t.Errorf("the best is %d, want 1: the first of equal ones", got)
	}
	if got := Unfit(ParseName("p99_ms"), p99, sides, Options{}); len(got) != 2 || !strings.HasPrefix(got[0], "distorted") || got[1] != "no cell of c" {
		t.Errorf("unfit: %q", got)
	}
	if got := Best(ParseName("p99_ms"), p99, sides[2:3], Options{}); got != -1 {
		t.Errorf("of nothing the best is %d", got)
	}
}

// A part of a cell has the values of its runs, put together as the metric's are; the cell's guards spoil it.
func TestPart(t *testing.T) {
	whole := of(rate, 1, 2, 3)
	whole.Metrics[""].Set("req_per_s", record.Value{Runs: []float64{1, 2, 3}, Tainted: "busy"})
	run := func(id string, status record.Status, rate, failed float64) *record.Run {
		return &record.Run{ID: id, Status: status, Metrics: record.WindowsOf(map[string]map[string]float64{"": {"req_per_s": rate, "failed": failed}})}
	}
	p := Part(whole, []*record.Run{run("2", record.Done, 2, 5), run("3", record.Done, 3, 6), run("4", record.Failed, 100, 100)}, map[string]series.Desc{"failed": count})
	if got := Read(p, "", ParseName("req_per_s")); got.Value != 2.5 || len(got.Runs) != 2 || got.Tainted != "busy" {
		t.Errorf("rate %+v", got)
	}
	if got := Read(p, "", ParseName("failed")); got.Value != 11 {
		t.Errorf("failed %+v", got)
	}
	if len(p.Runs) != 3 {
		t.Errorf("runs %v", p.Runs)
	}
}
