package measure

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

func cellRun(id, target string, repeat int, status record.Status, metrics map[string]float64, guards ...record.Guard) *record.Run {
	r := &record.Run{
		ID: id, Coord: record.Coord{Stage: "s", Scenario: "sc", Target: target, Round: 1, Repeat: repeat}, Status: status,
		Phases: []record.Phase{{Name: "measure", Kind: "measure", End: 4, Recorded: true, Headline: true}},
		Loads:  []record.Load{{Name: "main", Headline: true}, {Name: "side"}},
		Guards: guards,
	}
	if metrics != nil {
		r.Metrics = record.WindowsOf(map[string]map[string]float64{"": metrics, "load/side": {"p99_ms": 7}, "load/main": {"p99_ms": 8}})
	}
	return r
}

func TestCells(t *testing.T) {
	slow := record.Guard{Name: "generator-cpu", Load: "main", Taints: "timing", Message: "the load generator was the bottleneck"}
	cells, descs := CellsOf([]*record.Run{
		cellRun("1", "nginx", 1, record.Done, map[string]float64{"p99_ms": 4, "failed": 1, "max_ms": 10, "sut_rss_peak_mib": 5, "mine": 1}),
		cellRun("2", "caddy", 1, record.Failed, nil),
		cellRun("3", "nginx", 2, record.Done, map[string]float64{"p99_ms": 2, "failed": 2, "max_ms": 30}, slow),
		cellRun("4", "nginx", 3, record.Done, map[string]float64{"p99_ms": 9, "failed": 0, "max_ms": 20}),
		cellRun("5", "nginx", 4, record.Unmet, map[string]float64{"p99_ms": 1000, "failed": 1000}),
	})
	if len(cells) != 2 {
		t.Fatalf("%d cells", len(cells))
	}
	c := cells[0]
	if c.Coord.Target != "nginx" || c.Coord.Repeat != 0 || c.Status != record.Done || strings.Join(c.Runs, " ") != "1 3 4 5" {
		t.Errorf("cell %+v %s %v", c.Coord, c.Status, c.Runs)
	}
	want := map[string]record.Value{
		"p99_ms":           {Value: 4, Runs: []float64{4, 2, 9}, Tainted: "in 1 of 3 runs: the load generator was the bottleneck"},
		"failed":           {Value: 3, Runs: []float64{1, 2, 0}},
		"max_ms":           {Value: 30, Runs: []float64{10, 30, 20}, Tainted: "in 1 of 3 runs: the load generator was the bottleneck"},
		"sut_rss_peak_mib": {Value: 5, Runs: []float64{5}},
		"mine":             {Value: 1, Runs: []float64{1}},
	}
	if diff := cmp.Diff(want, c.Metrics[""].Map()); diff != "" {
		t.Error(diff)
	}
	if v := c.Metrics["load/side"].Value("p99_ms"); v.Tainted != "" {
		t.Errorf("another load's guard taints load side: %s", v.Tainted)
	}
	if v := c.Metrics["load/main"].Value("p99_ms"); v.Tainted == "" {
		t.Error("the load's own guard does not taint it")
	}
	if cells[1].Status != record.Failed {
		t.Errorf("caddy is %s", cells[1].Status)
	}
	if d := descs["sut_rss_peak_mib"]; d.Across != series.Max || d.Unit != "MiB" || d.Class != series.Count {
		t.Errorf("sut_rss_peak_mib is %+v", d)
	}
}

func TestTaint(t *testing.T) {
	timing, work := record.Guard{Taints: "timing", Message: "t"}, record.Guard{Taints: "work", Message: "w"}
	for _, c := range []struct {
		guard record.Guard
		class series.Class
		want  string
	}{
		{timing, series.Timing, "t"}, {timing, series.Count, ""}, {work, series.Timing, "w"}, {work, series.Count, "w"},
		{record.Guard{Taints: "work", OK: true}, series.Count, ""}, {record.Guard{Message: "warning"}, series.Timing, ""},
	} {
		r := &record.Run{Guards: []record.Guard{c.guard}}
		if got := tainting(r, "").of(&series.Desc{Class: c.class}); got != c.want {
			t.Errorf("%+v taints %s: %q, want %q", c.guard, c.class, got, c.want)
		}
	}
}

// The names that published figures use are metrics, put together as their statistic says.
func TestPublishedNames(t *testing.T) {
	stat := map[string]series.Across{"median": series.Median, "sum": series.Sum, "max": series.Max}
	for name, want := range map[string]string{
		"backend_conns_per_1k_req": "median", "errors": "sum", "failed": "sum", "load_cpu_cores": "median", "non_2xx": "sum",
		"p50_ms": "median", "p99_9_clean_ms": "median", "p99_9_ms": "median", "p99_clean_ms": "median", "p99_ms": "median",
		"req_per_s": "median", "requests": "sum", "slow_over_1s": "sum", "sut_cpu_cores": "median", "sut_cpu_us_per_req": "median",
		"sut_rss_peak_mib": "max", "worst_second_p99_ms": "max",
	} {
		d, ok := newDescriber(&record.Run{}).describe(name)
		if !ok || d.Across != stat[want] || d.Name != name {
			t.Errorf("%s: %+v, want %s", name, d, want)
		}
	}
}

// Every metric that a run turns out to have was produced, with the description that it is stored with.
func TestProducedNamesEverything(t *testing.T) {
	d := counted()
	d.Run.Values = map[string]any{"startup_ms": 12.0}
	Derive(d)
	k := Known{
		Loads: true, LoadNames: []string{"main", "side"}, Roles: []string{"sut", "backends", "load"}, Processes: []string{"nginx", "web", "main"},
		Probes: []Probe{{Series: processSeries}, {Series: d.Run.Series}, {Series: d.Run.Series[:1], Of: []string{"web"}},
			{Series: []series.SeriesDesc{{Name: "probe_gaps", Shape: series.Counter}}, Of: []string{"process"}}},
		Values: []series.Desc{{Name: "startup_ms"}},
	}
	produced := map[string]series.Desc{}
	for _, p := range Produced(k) {
		produced[p.Name] = p
	}
	for name := range d.Run.Metrics[""].All() {
		p, ok := produced[name]
		if !ok {
			t.Errorf("%s was not announced", name)
			continue
		}
		if got, _ := newDescriber(d.Run).describe(name); name != "startup_ms" && got != p {
			t.Errorf("%s is announced as %+v and described as %+v", name, p, got)
		}
	}
	for _, want := range []string{"sut_fds_last", "nginx_threads_max", "lag_p99_ms", "web_connections_opened_per_s", "main_generator_waiting_max"} {
		if _, ok := produced[want]; !ok {
			t.Errorf("%s is not announced", want)
		}
	}
	for i, p := range Catalogue() {
		if p.Name == "" || p.Doc == "" || p.Across == "" || p.Class == "" {
			t.Errorf("metric %d of the catalogue lacks something: %+v", i, p)
		}
	}
}

// Cells have the names of their runs' metrics as these have them, not lists of their own.
func TestCellsShareNames(t *testing.T) {
	var runs []*record.Run
	metrics := record.WindowsOf(map[string]map[string]float64{"": {"a": 1, "b": 2}})
	for range 3 {
		runs = append(runs, &record.Run{Status: record.Done, Metrics: metrics})
	}
	cells, _ := CellsOf(runs)
	if got, want := cells[0].Metrics[""].Names(), metrics[""].Names(); len(got) != 2 || &got[0] != &want[0] {
		t.Errorf("the names are there twice: %q, %q", got, want)
	}
	less := &record.Run{Status: record.Done, Metrics: record.WindowsOf(map[string]map[string]float64{"": {"b": 3}})}
	cells, _ = CellsOf(append(runs, less))
	if got := cells[0].Metrics[""]; !slices.Equal(got.Names(), []string{"a", "b"}) || !slices.Equal(got.Value("b").Runs, []float64{2, 2, 2, 3}) || len(got.Value("a").Runs) != 3 {
		t.Errorf("with a run that lacks one: %v", got.Map())
	}
}
