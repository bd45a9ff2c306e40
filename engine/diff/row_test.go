package diff_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/record/recordtest"
)

// cellOf is a cell of a scenario with a metric.
func cellOf(scenario string, metrics map[string][]float64) recordtest.Cell {
	return recordtest.Cell{Stage: "main", Scenario: scenario, Target: "nginx", Metrics: metrics}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	rate := func(v ...float64) map[string][]float64 { return map[string][]float64{"req_per_s": v} }
	failed := func(v ...float64) map[string][]float64 { return map[string][]float64{"failed": v} }
	latency := func(v, failed float64) map[string][]float64 {
		return map[string][]float64{"p99_ms": around(v), "requests": around(1000), "failed": {0, 0, failed}}
	}
	spoilt := cellOf("tainted", rate(around(120)...))
	spoilt.Guards = []record.Guard{{Name: "generator-cpu", Taints: "timing", Message: "its CPUs were 99 % busy"}}
	broken := cellOf("broken", nil)
	broken.Status, broken.Reason = record.Failed, "install: not ready"
	a := recordtest.Set{Cells: []recordtest.Cell{cellOf("better", rate(around(100)...)), cellOf("worse", rate(around(100)...)), cellOf("much worse", rate(around(100)...)), cellOf("noisy", rate(80, 100, 120)),
		cellOf("few", rate(100)), cellOf("none", failed(0, 0, 0)), cellOf("appears", failed(0, 0, 0)), cellOf("grows", failed(0, 0, 1)), cellOf("tainted", rate(around(100)...)), cellOf("distorted", latency(10, 0)), cellOf("broken", rate(around(100)...))}}
	b := recordtest.Set{Cells: []recordtest.Cell{cellOf("better", rate(around(120)...)), cellOf("worse", rate(around(80)...)), cellOf("much worse", rate(around(50)...)), cellOf("noisy", rate(85, 105, 125)),
		cellOf("few", rate(50)), cellOf("none", failed(0, 0, 0)), cellOf("appears", failed(0, 3, 4)), cellOf("grows", failed(0, 0, 300)), spoilt, cellOf("distorted", latency(20, 50)), broken}}
	d := compareSets(t, open(t, "a", a), open(t, "b", b), diff.CompareOptions{Metrics: []string{"req_per_s", "failed", "p99_ms"}})
	var got []string
	for _, r := range d.Rows {
		if r.Coord.Scenario == "distorted" && r.Name.Metric == "failed" {
			continue
		}
		got = append(got, r.Coord.Scenario+": "+string(r.Outcome())+" "+r.Ratio.NA)
	}
	want := []string{"much worse: worse ", "worse: worse ", "appears: worse A is 0", "grows: n/a 0/0: the medians", "better: better ", "tainted: not to be trusted ", "few: noise unknown ", "noisy: within noise ",
		"distorted: n/a distorted", "broken: n/a B: error: install: not ready", "none: equal 0/0"}
	if len(got) != len(want) {
		t.Fatalf("rows:\n%s", strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("row %d is %q, want %q", i, got[i], want[i])
		}
	}
	s := d.Summary
	if s.Better != 1 || s.Worse != 4 || s.WithinNoise != 1 || s.Unknown != 1 || s.Untrusted != 1 || s.Equal != 1 || s.Appeared != 2 {
		t.Errorf("%+v", s)
	}
}

// Sums of different numbers of runs are no match: twice the failures of each run must not look like half of them.
func TestUnevenSums(t *testing.T) {
	t.Parallel()
	failed := func(v ...float64) *diff.Set {
		return open(t, "set", recordtest.Set{Cells: []recordtest.Cell{cellOf("h1", map[string][]float64{"failed": v})}})
	}
	for _, c := range []struct {
		metric string
		b      []float64
		uneven bool
	}{{"failed", []float64{20}, true}, {"failed", []float64{20, 20, 20}, false}, {"failed.mean", []float64{20}, false}} {
		d := compareSets(t, failed(10, 10, 10), failed(c.b...), diff.CompareOptions{Metrics: []string{c.metric}})
		if len(d.Rows) != 1 {
			t.Fatalf("%d rows", len(d.Rows))
		}
		if why := d.Rows[0].Uneven(); (why != "") != c.uneven {
			t.Errorf("%s of %v: %q", c.metric, c.b, why)
		}
	}
}

// What the machine calls the same in two stages is the least that counts as a difference.
func TestRepeatedStagesAreTheFloor(t *testing.T) {
	t.Parallel()
	stage := func(name string, v float64) recordtest.Cell {
		c := nginx(v)
		c.Stage = name
		return c
	}
	set := func(first, again float64) recordtest.Set {
		return recordtest.Set{Cells: []recordtest.Cell{stage("main", first), stage("reversed", again)}}
	}
	for _, c := range []struct {
		again float64
		want  string
	}{{100, "worse"}, {88, "within noise"}} {
		d := compareSets(t, open(t, "a", set(100, c.again)), open(t, "b", set(90, 90)), diff.CompareOptions{Metrics: []string{"req_per_s"}})
		i := slices.IndexFunc(d.Rows, func(r diff.Row) bool { return r.Coord.Stage == "main" })
		if i < 0 || string(d.Rows[i].Outcome()) != c.want {
			t.Errorf("where the stages of A are 100 and %v, 90 is not %s: %+v", c.again, c.want, d.Rows)
		}
	}
}

// Runs on one process have one peak: that they agree says nothing about how much another installation's would differ.
func TestPeaksOfSharedProcesses(t *testing.T) {
	t.Parallel()
	set := func(peak float64, share bool) recordtest.Set {
		c := cellOf("h1", map[string][]float64{"sut_rss_peak_mib": {peak, 1.001 * peak, 1.001 * peak}})
		return recordtest.Set{Cells: []recordtest.Cell{c}, Run: func(i int, r *record.Run) {
			if r.Install = "nginx-1"; !share {
				r.Install = fmt.Sprintf("nginx-%d", i+1)
			}
		}}
	}
	for share, want := range map[bool]string{true: "noise unknown", false: "worse"} {
		d := compareSets(t, open(t, "a", set(20, share)), open(t, "b", set(25, share)), diff.CompareOptions{})
		if len(d.Rows) != 1 || string(d.Rows[0].Outcome()) != want {
			t.Errorf("shared %v: %+v, want %s", share, d.Rows, want)
		}
	}
}

// Of several sets each has processes of its own: three a side are repeats.
func TestPeaksOfSets(t *testing.T) {
	t.Parallel()
	side := func(name string, peaks ...float64) *diff.Set {
		var sets []*diff.Set
		for i, peak := range peaks {
			c := cellOf("h1", map[string][]float64{"sut_rss_peak_mib": {peak, 1.001 * peak, 1.001 * peak}})
			sets = append(sets, open(t, fmt.Sprint(name, i), recordtest.Set{Cells: []recordtest.Cell{c}, Run: func(_ int, r *record.Run) { r.Install = "nginx-1" }}))
		}
		sets[0].More = sets[1:]
		return sets[0]
	}
	for _, c := range []struct {
		a, b []float64
		want string
	}{{[]float64{20, 20.1}, []float64{25, 25.1}, "noise unknown"}, {[]float64{20, 20.1, 20.2}, []float64{25, 25.1, 25.2}, "worse"}, {[]float64{20, 28, 24}, []float64{25, 22, 27}, "within noise"}} {
		d := compareSets(t, side("a", c.a...), side("b", c.b...), diff.CompareOptions{})
		if len(d.Rows) != 1 || string(d.Rows[0].Outcome()) != c.want {
			t.Errorf("%v and %v: %+v, want %s", c.a, c.b, d.Rows, c.want)
		}
	}
}

func TestChosenMetrics(t *testing.T) {
	t.Parallel()
	c := cellOf("h1", map[string][]float64{"req_per_s": around(100), "p50_ms": around(1), "p99_ms": around(5), "phase/fault/p99_ms": around(9), "sut_threads_max": around(4), "requests": around(5000)})
	a, b := open(t, "a", recordtest.Set{Cells: []recordtest.Cell{c}}), open(t, "b", recordtest.Set{Cells: []recordtest.Cell{c}})
	for _, x := range []struct {
		patterns []string
		want     string
	}{
		{nil, "p50_ms p99_ms req_per_s"},
		{[]string{"*_ms"}, "p50_ms p99_ms"},
		{[]string{"phase/*/p99_ms.max", "p99_ms"}, "p99_ms phase/fault/p99_ms.max"},
		{[]string{"sut_*"}, "sut_threads_max"},
	} {
		var got []string
		for _, r := range compareSets(t, a, b, diff.CompareOptions{Metrics: x.patterns}).Rows {
			got = append(got, r.Name.Text)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != x.want {
			t.Errorf("%v: %v, want %s", x.patterns, got, x.want)
		}
	}
	for _, bad := range []string{"p99", "[", "phase/x/p99_ms"} {
		if _, err := diff.Compare(a, b, diff.CompareOptions{Metrics: []string{bad}}); err == nil {
			t.Errorf("%s is found", bad)
		}
	}
}

func TestMeansAreOfMatchedCells(t *testing.T) {
	t.Parallel()
	cell := func(v float64, at string) recordtest.Cell {
		c := nginx(v)
		c.Matrix = size(at)
		return c
	}
	a := recordtest.Set{Cells: []recordtest.Cell{cell(100, "1k"), cell(100, "2k"), cell(100, "64k")}}
	b := recordtest.Set{Cells: []recordtest.Cell{cell(200, "1k"), cell(800, "2k"), cell(1, "9k")}}
	d := compareSets(t, open(t, "a", a), open(t, "b", b), diff.CompareOptions{Metrics: []string{"req_per_s"}})
	if len(d.Means) != 1 || math.Abs(d.Means[0].Ratio-4) > 1e-9 || d.Means[0].Cells != 2 {
		t.Errorf("%+v", d.Means)
	}
	var left []string
	for _, u := range d.Unmatched {
		left = append(left, u.Side+" "+u.Why)
	}
	if got := strings.Join(left, "; "); got != "A B has no size=64k of scenario h1; B A has no size=9k of scenario h1" {
		t.Error(got)
	}
}

func TestTwoTargetsOfOneSet(t *testing.T) {
	t.Parallel()
	other := nginx(50)
	other.Target = "haproxy"
	plan := strings.Replace(recordtest.Plan, "targets:\n", "targets:\n  haproxy:\n    with:\n      workers: 3\n", 1)
	set := open(t, "a", recordtest.Set{Plan: plan, Cells: []recordtest.Cell{nginx(100), other}, Run: func(_ int, r *record.Run) {
		if r.Coord.Target == "haproxy" {
			r.With = map[string]any{"workers": 3.0}
		}
	}})
	d := compareSets(t, openAt(t, set.Dir, "nginx"), openAt(t, set.Dir, "haproxy"), diff.CompareOptions{Metrics: []string{"req_per_s"}})
	if len(d.Rows) != 1 || d.Rows[0].Coord.Target != "nginx:haproxy" || string(d.Rows[0].Outcome()) != "worse" || d.Same != "" {
		t.Errorf("%+v", d.Rows)
	}
	if got := words(d); !strings.Contains(got, "the knob workers of nginx:haproxy: 2 in A, 3 in B") {
		t.Error(got)
	}
	if _, err := diff.Open(set.Dir, diff.Options{Target: "ngnix"}); err == nil {
		t.Error("a target that is not there is found")
	}
}
