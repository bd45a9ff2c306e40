package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// earlierSet is a fixture with an earlier result set beside it: one target was slower then, one is new, one was not measured
// alike.
func earlierSet() *fixture {
	then, now := newFixture(), newFixture()
	then.cell(cellSpec{scenario: "s", target: "a", rates: around(1000)})
	then.cell(cellSpec{scenario: "s", target: "c", rates: around(1000)})
	for _, target := range []string{"a", "b", "c"} {
		now.cell(cellSpec{scenario: "s", target: target, rates: around(2000)})
	}
	s := NewBeside("v1 | old", "results/old", then.in.Results)
	cells := now.in.Results.Cells
	s.Match(&cells[0], &then.in.Results.Cells[0], nil)
	s.Match(&cells[2], &then.in.Results.Cells[1], []string{"the window measure: 5s in A, 9s in B"})
	s.Unlike = []string{"the window measure: 5s in A, 9s in B (s / c)"}
	s.Unmatched = []string{"s / b, only in B: A has no target b"}
	now.in.Beside = []Beside{s}
	return now
}

func TestEarlierFiguresAsColumns(t *testing.T) {
	f := earlierSet()
	b := newBuilder(f.in, Options{})
	section, err := tableSection(b, record.Section{Kind: "table", Cells: []int{0, 1, 2}, Rows: []string{"target"}, Metrics: []string{"req_per_s", "req_per_s.max"}})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"target", "req_per_s", "req_per_s, v1 | old", "req_per_s to v1 | old", "req_per_s.max", "req_per_s.max, v1 | old"},
		{"a", "2,000", "1,000", "2.000, better (noise floor 1.023)", "2,020", "1,010"},
		{"b", "2,000", "n/a*", "n/a*", "2,020", "n/a*"},
		{"c", "2,000", "1,000", "2.000*", "2,020", "1,010"},
	}
	if d := cmp.Diff(want, firstTable(t, section)); d != "" {
		t.Errorf("the table (-want +got):\n%s", d)
	}
	if got, want := said(t, f), "Against v1 | old, of 2 cells in both: 1 better, 1 not measured alike. Better: s / a (req_per_s 2.000 times). 1 cell in one of the two only."; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
}

// Why the noise of a ratio to an earlier figure is not known is said where it stands.
func TestEarlierNoiseUnknown(t *testing.T) {
	f := earlierSet()
	f.in.Results.Cells[0].Metrics[""].Set("req_per_s", record.Value{Value: 2000, Runs: []float64{2000}})
	b := newBuilder(f.in, Options{})
	section, err := tableSection(b, record.Section{Kind: "table", Cells: []int{0}, Rows: []string{"target"}, Metrics: []string{"req_per_s"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := firstTable(t, section)[1][3]; got != "2.000, noise unknown*" {
		t.Errorf("says %q", got)
	}
	if !slices.ContainsFunc(b.notes, func(n Text) bool {
		return strings.Contains(terminal(n), "below 3 runs a side the noise is unknown (today has 1, v1 | old 3)")
	}) {
		t.Errorf("no note says why: %v", b.notes)
	}
}

func TestMetricsDefinedOtherwise(t *testing.T) {
	f := earlierSet()
	then := f.in.Beside[0].results.Descs
	d := then["req_per_s"]
	d.Across = series.Max
	then["req_per_s"] = d
	b := newBuilder(f.in, Options{})
	if got, want := b.other(f.in.Beside[0], "req_per_s"), "req_per_s was defined otherwise: its figure of several runs was max, and is median"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.other(f.in.Beside[0], "p99_ms"); got != "" {
		t.Errorf("p99_ms is the same, yet %q", got)
	}
}
