package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// Every metric that the report names is defined in it, and a series of a probe that a chart draws; what it does not name is not.
func TestGlossary(t *testing.T) {
	f := newFixture()
	r := f.in.Results
	for name, d := range r.Descs {
		d.Doc = "what " + name + " is"
		r.Descs[name] = d
	}
	r.Descs["slow_over_1s"] = series.Desc{Name: "slow_over_1s", Doc: "own round trips", Across: series.Sum}
	r.Descs["generator"] = series.Desc{Name: "generator", Doc: "not sent"}
	r.Descs["unseen_ms"] = series.Desc{Name: "unseen_ms", Doc: "in no table"}
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000)})
	f.cell(cellSpec{scenario: "s", target: "b", rates: around(2000)})
	for _, run := range f.in.Runs {
		run.Series = []series.SeriesDesc{{Name: "rss_mib", Unit: "MiB", Doc: "resident memory"}}
	}
	r.Sections = []record.Section{{Kind: "table", Title: "T", Cells: []int{0, 1}, Rows: []string{"target"}, Metrics: []string{"failed", "slow_over_1s"}},
		{Kind: "table", Title: "U", Cells: []int{0, 1}, Columns: []string{"target"}, Metrics: []string{"p50_ms"}},
		{Kind: "chart", Title: "sut_rss_mib", Cells: []int{0}}}
	d, err := Build(f.in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := d.Sections[len(d.Sections)-1]
	if last.Title != "What the metrics are" {
		t.Fatalf("the last section is %q", last.Title)
	}
	defined := map[string]string{}
	for _, row := range last.Blocks[0].(Table).Rows {
		defined[terminal(row[0])] = terminal(row[len(row)-1])
	}
	for name, want := range map[string]string{"failed": "what failed is", "req_per_s": "what req_per_s is", "p50_ms": "what p50_ms is", "slow_over_1s": "own round trips", "sut_rss_mib": "resident memory; of the target's processes"} {
		if defined[name] != want {
			t.Errorf("%s is %q, want %q", name, defined[name], want)
		}
	}
	for _, name := range []string{"generator", "unseen_ms"} {
		if doc, ok := defined[name]; ok {
			t.Errorf("%s is defined as %q, though nothing shows it", name, doc)
		}
	}
	table, about := tableOf(t, d, "T")
	if got := table.Columns[1].About; got != "what failed is" {
		t.Errorf("the column of failed is about %q", got)
	}
	if want := "slow_over_1s: own round trips."; about != want {
		t.Errorf("below the table stands %q, want %q", about, want)
	}
}

// tableOf is the first table of a section, and the paragraph behind it.
func tableOf(t *testing.T, d *Document, title string) (Table, string) {
	t.Helper()
	for _, s := range d.Sections {
		for i, block := range s.Blocks {
			if x, ok := block.(Table); ok && s.Title == title {
				about := ""
				if i+1 < len(s.Blocks) {
					about = strings.TrimSpace(terminal(s.Blocks[i+1].(Paragraph).Text))
				}
				return x, about
			}
		}
	}
	t.Fatalf("there is no table in a section %q", title)
	return Table{}, ""
}

// A high percentile that the generator's own delay may have made says so beside it; the median does not.
func TestOwnDelayBesideTheFigure(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, open: true, guards: []record.Guard{{Name: "own-delay", Message: "it reached 43 ms"}}})
	f.in.Results.Sections = []record.Section{{Kind: "table", Title: "T", Cells: []int{0}, Metrics: []string{"p50_ms", "p99_ms"}}}
	d, err := Build(f.in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, _ := tableOf(t, d, "T")
	row := table.Rows[0]
	if p99 := row[len(row)-1]; terminal(p99) != "1.00*" || terminal(d.Notes[p99[1].Note-1]) != "may be the load generator's own: it reached 43 ms" || terminal(row[len(row)-2]) != "0.250" {
		t.Errorf("the row is %v, the notes are %v", row, d.Notes)
	}
}

// What a verdict judges by a clean latency is told from the latency that the report has everywhere else.
func TestCleanLatencyIsToldApart(t *testing.T) {
	f := newFixture()
	f.in.Results.Descs["p99_clean_ms"] = series.Desc{Name: "p99_clean_ms", Doc: "p99_ms without some seconds"}
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000), open: true})
	judge := func(verdict, expression string) record.Judgement {
		return record.Judgement{Verdict: verdict, Coord: record.Coord{Scenario: "s", Target: "a"}, Outcome: record.Pass, Expression: expression}
	}
	f.in.Results.Verdicts = []record.Judgement{judge("v", "p99_clean_ms < 5"), judge("w", "p99_ms < 5"), judge("x", "1.5 * scenario(\"t\").p99_clean_ms > 1")}
	f.in.Results.Sections = []record.Section{{Kind: "verdicts"}}
	if got, want := said(t, f), "p99_clean_ms in \u201cv\u201d and \u201cx\u201d is not the p99_ms of the other findings: it is p99_ms without some seconds."; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
	s, err := verdictSection(newBuilder(f.in, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := s.Blocks[len(s.Blocks)-1].(Paragraph); !ok || terminal(p.Text) != "p99_clean_ms: p99_ms without some seconds." {
		t.Errorf("the verdicts end with %v", s.Blocks[len(s.Blocks)-1])
	}
	f.in.Results.Verdicts = f.in.Results.Verdicts[1:2]
	if got := said(t, f); strings.Contains(got, "clean") {
		t.Errorf("no verdict is by p99_clean_ms:\n%s", got)
	}
}
