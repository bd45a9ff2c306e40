package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// grid is a table as plain text.
func grid(t Table) [][]string {
	var out [][]string
	head := []string{}
	for _, c := range t.Columns {
		head = append(head, c.Title)
	}
	out = append(out, head)
	for _, r := range t.Rows {
		line := []string{}
		for _, c := range r {
			line = append(line, terminal(c))
		}
		out = append(out, line)
	}
	return out
}

func firstTable(t *testing.T, s Section) [][]string {
	t.Helper()
	for _, b := range s.Blocks {
		if table, ok := b.(Table); ok {
			return grid(table)
		}
	}
	t.Fatalf("no table in %v", s)
	return nil
}

func TestPivot(t *testing.T) {
	f := newFixture()
	axis := func(v string) []record.Axis { return []record.Axis{{Name: "size", Value: v}} }
	f.in.Results.Targets = []record.Target{{Name: "b"}, {Name: "a"}} // the plan's order, not the alphabet's
	for _, target := range []string{"a", "b"} {
		for _, size := range []string{"4k", "64k"} {
			rate := 1000.0
			if size == "4k" {
				rate = 2000
			}
			f.cell(cellSpec{stage: "one", scenario: "s", target: target, matrix: axis(size), rates: []float64{rate}})
		}
	}
	b := newBuilder(f.in, Options{})
	cells := []int{0, 1, 2, 3}
	for _, c := range []struct {
		name string
		s    record.Section
		want [][]string
	}{
		{"what would be thrown together gets rows", record.Section{Cells: cells, Rows: []string{"target"}, Metrics: []string{"req_per_s"}},
			[][]string{{"target", "size", "req_per_s"}, {"b", "4k", "2,000"}, {"b", "64k", "1,000"}, {"a", "4k", "2,000"}, {"a", "64k", "1,000"}}},
		{"an axis across", record.Section{Cells: cells, Rows: []string{"target"}, Columns: []string{"size"}, Metrics: []string{"req_per_s"}},
			[][]string{{"target", "4k", "64k"}, {"b", "2,000", "1,000"}, {"a", "2,000", "1,000"}}},
		{"two metrics across", record.Section{Cells: cells[:1], Rows: []string{"scenario"}, Columns: []string{"target"}, Metrics: []string{"req_per_s", "failed"}},
			[][]string{{"scenario", "a req_per_s", "a failed"}, {"s", "2,000", "0"}}},
		{"a hole in the schedule", record.Section{Cells: cells[:3], Rows: []string{"target"}, Columns: []string{"matrix.size"}, Metrics: []string{"req_per_s"}},
			[][]string{{"target", "4k", "64k"}, {"b", "2,000", "n/a*"}, {"a", "2,000", "1,000"}}},
		{"without rows: what varies", record.Section{Cells: cells[:2], Metrics: []string{"req_per_s"}},
			[][]string{{"size", "req_per_s"}, {"4k", "2,000"}, {"64k", "1,000"}}},
		{"one cell", record.Section{Cells: cells[:1], Metrics: []string{"req_per_s"}},
			[][]string{{"target", "req_per_s"}, {"a", "2,000"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := tableSection(b, c.s)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, firstTable(t, s)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestRounds(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000, 2000, 3000, 5000}})
	for i, r := range f.in.Runs {
		r.Coord.Round, r.Coord.Repeat = 1+i/2, 1+i%2
	}
	f.in.Runs[1].Metrics, f.in.Runs[1].Missing = nil, map[string]string{"req_per_s": "no request was due"}
	b := newBuilder(f.in, Options{})
	s, err := tableSection(b, record.Section{Cells: []int{0}, Rows: []string{"round"}, Metrics: []string{"req_per_s", "req_per_s.n", "requests"}})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"round", "req_per_s", "req_per_s.n", "requests"}, {"1", "1,000", "1", "5,000"}, {"2", "4,000", "2", "40,000"}}
	if d := cmp.Diff(want, firstTable(t, s)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	s, err = tableSection(b, record.Section{Cells: []int{0}, Rows: []string{"round", "repeat"}, Metrics: []string{"req_per_s"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := firstTable(t, s); got[2][2] != "n/a*" || b.notes[len(b.notes)-1][0].Text != "req_per_s: no request was due" {
		t.Errorf("the run without a value shows as %v, notes %v", got[2], b.notes)
	}
}

func TestLosses(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "best", rates: around(2000)})
	f.cell(cellSpec{scenario: "s", target: "near", rates: around(1995)})
	f.cell(cellSpec{scenario: "s", target: "far", rates: around(1000), failed: load.Counts{Errors: map[string]int64{"reset": 1}}})
	b := newBuilder(f.in, Options{})
	s, err := lossSection(b, record.Section{Cells: []int{0, 1, 2}, Metrics: []string{"req_per_s", "failed"}, Losses: &record.Against{Target: "best"}})
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, r := range firstTable(t, s)[1:] {
		got = append(got, []string{r[0], r[2], r[6], r[7], r[4], r[5]})
	}
	want := [][]string{
		{"far", "req_per_s", "1,000", "2,000", "0.500", "best is better: beyond the noise floor of 1.023"},
		{"far", "failed", "1", "0", "n/a", "n/a: 0/0: the medians of the runs are both 0"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if p, ok := s.Blocks[1].(Paragraph); !ok || terminal(p.Text) != "No loss beyond the noise: best and near." {
		t.Errorf("after the table: %v", s.Blocks[1])
	}
}

func TestChartBuckets(t *testing.T) {
	p := Panel{Title: "x", Lines: []Line{{Name: "a"}}}
	c := Chart{Seconds: 70, Phases: []Stretch{{Name: "one", To: 33}, {Name: "two", From: 33, To: 70}}}
	for i := range 70 {
		v := float64(i)
		value := &v
		if i >= 20 && i < 30 {
			value = nil
		}
		p.Lines[0].Values = append(p.Lines[0].Values, value)
	}
	got := grid(c.table(p))
	if len(got) != 16 {
		t.Fatalf("%d lines, want a header and 15: %v", len(got), got)
	}
	want := map[int][]string{1: {"0", "one", "2.00"}, 5: {"20", "one", "no sample"}, 7: {"30", "one", "31.0"}, 8: {"33", "two", "35.0"}, 15: {"68", "two", "68.5"}}
	for i, w := range want {
		if d := cmp.Diff(w, got[i]); d != "" {
			t.Errorf("line %d (-want +got):\n%s", i, d)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	broken := errors.New("torn")
	for _, c := range []struct {
		name string
		make func() Input
		want string
	}{
		{"no results", func() Input { return Input{} }, "there are no results"},
		{"a cell that is not there", func() Input {
			f := newFixture()
			f.in.Results.Sections = []record.Section{{Kind: "table", Title: "x", Cells: []int{7}}}
			return f.in
		}, `table "x": a section selects cell 7 of 0`},
		{"a kind that is not there", func() Input {
			f := newFixture()
			f.in.Results.Sections = []record.Section{{Kind: "poem"}}
			return f.in
		}, `unknown kind "poem"`},
		{"a run that cannot be read", func() Input {
			f := newFixture()
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1}})
			f.in.Results.Sections = []record.Section{{Kind: "chart", Title: "x", Cells: []int{0}}}
			f.in.Series = func(string, string) ([]float64, []float64, error) { return nil, nil, broken }
			return f.in
		}, `chart "x": reading run 001: torn`},
		{"events that cannot be read", func() Input {
			f := newFixture()
			f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1}})
			f.in.Events = func(string) ([]record.Event, []string, error) { return nil, nil, broken }
			return f.in
		}, "events of run 001: torn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Build(c.make(), Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// A run that the results name and that is not there is a finding, no crash.
func TestMissingRun(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}})
	f.in.Runs = nil
	var b strings.Builder
	if err := Write(&b, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "its run 001 is not in the result set") {
		t.Errorf("the report does not say that run 001 is missing:\n%s", b.String())
	}
}

func TestWhich(t *testing.T) {
	for _, c := range []struct {
		rounds, round, repeat int
		want                  string
	}{{1, 0, 0, ""}, {1, 1, 2, "repeat 2"}, {3, 1, 2, "round 1, repeat 2"}, {3, 2, 0, "round 2"}, {1, 1, 0, "round 1"}, {3, 0, 2, "repeat 2"}} {
		b := &builder{rounds: c.rounds}
		if got := b.which(c.round, c.repeat); got != c.want {
			t.Errorf("of %d rounds, round %d repeat %d is %q, want %q", c.rounds, c.round, c.repeat, got, c.want)
		}
	}
}
