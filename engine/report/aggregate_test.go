package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/planrun/planrun/engine/record"
)

// A mean over rows is of those in which every side that takes part has a value: else a target looks better for what it could
// not do.
func TestGeomeanOfMatchedRows(t *testing.T) {
	f := newFixture()
	for i, scenario := range []string{"easy", "hard", "odd"} {
		f.cell(cellSpec{scenario: scenario, target: "a", rates: around([]float64{1000, 4000, 50}[i])})
		if scenario == "odd" {
			f.cell(cellSpec{scenario: scenario, target: "b", status: record.Failed, reason: "it broke"})
		} else {
			f.cell(cellSpec{scenario: scenario, target: "b", rates: around(4000)})
		}
		f.cell(cellSpec{scenario: scenario, target: "gone", status: record.Unsupported, reason: "no program"})
	}
	s := record.Section{Kind: "table", Title: "T", Cells: []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, Rows: []string{"scenario"}, Columns: []string{"target"}, Metrics: []string{"req_per_s"}, Aggregate: "geomean",
		Ratios: []record.Ratio{{Of: "b", To: record.Against{Target: "a"}}, {Of: "gone", To: record.Against{Target: "a"}}, {Of: "absent", To: record.Against{Target: "a"}}}}
	b := newBuilder(f.in, Options{})
	section, err := tableSection(b, s)
	if err != nil {
		t.Fatal(err)
	}
	var tables [][][]string
	var said []string
	for _, block := range section.Blocks {
		switch block := block.(type) {
		case Table:
			tables = append(tables, grid(block))
		case Paragraph:
			said = append(said, terminal(block.Text))
		case List:
			for _, item := range block.Items {
				said = append(said, terminal(item))
			}
		}
	}
	if len(tables) != 3 {
		t.Fatalf("%d tables, want 3: %v", len(tables), tables)
	}
	last := tables[0][len(tables[0])-1]
	if want := []string{"geometric mean of 2 of 3 rows", "2,000", "4,000", "n/a*"}; !cmp.Equal(last, want) {
		t.Errorf("the last row is %q, want %q", last, want)
	}
	want := [][]string{
		{"metric", "of", "to", "geometric mean of the ratios", "rows", "what they say"},
		{"req_per_s", "b", "a", "2.000", "2 of 3", "1 better, 1 within noise"},
		{"req_per_s", "gone", "a", "n/a*", "0 of 3", "-"},
	}
	if d := cmp.Diff(want, tables[2]); d != "" {
		t.Errorf("means of ratios (-want +got):\n%s", d)
	}
	all := strings.Join(said, "\n")
	for _, w := range []string{"Left out of the geometric means, of all sides alike:\nreq_per_s: odd (b: odd / b: error: it broke)", "Left out of these means, of all ratios alike:\nreq_per_s: odd (", "No ratios with absent: there is no cell of that target here."} {
		if !strings.Contains(all, w) {
			t.Errorf("the section does not say %q:\n%s", w, all)
		}
	}
}

func TestZeroHasNoGeomean(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "one", target: "a", rates: around(1000)})
	f.cell(cellSpec{scenario: "two", target: "a", rates: around(1000)})
	b := newBuilder(f.in, Options{})
	section, err := tableSection(b, record.Section{Kind: "table", Cells: []int{0, 1}, Rows: []string{"scenario"}, Metrics: []string{"failed", "req_per_s"}, Aggregate: "geomean"})
	if err != nil {
		t.Fatal(err)
	}
	rows := firstTable(t, section)
	if got, want := rows[len(rows)-1], []string{"geometric mean of 2 of 2 rows", "n/a*", "1,000"}; !cmp.Equal(got, want) {
		t.Errorf("the last row is %q, want %q", got, want)
	}
	if len(b.notes) != 1 || terminal(b.notes[0]) != "failed is 0 in row one: it has no geometric mean" {
		t.Errorf("notes %v", b.notes)
	}
}
