package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/record"
)

// threaded has three cells: of one target many threads were recorded, of one none, and one was not run.
func threaded() *fixture {
	f := newFixture()
	f.cell(cellSpec{scenario: "perf", target: "a", rates: around(1000)})
	f.cell(cellSpec{scenario: "perf", target: "b", rates: []float64{1000}})
	f.cell(cellSpec{scenario: "perf", target: "c", status: record.Unsupported, reason: "it has no threads"})
	f.in.Threads = func(id string) ([]Thread, error) {
		if id != "002" { // the second run of a
			return nil, nil
		}
		out := []Thread{{Track: Track{Name: "late"}, Why: "sampled too seldom"}, {Track: Track{Name: "idle"}}, {Track: Track{Name: "other"}, Rest: true, Cores: 0.05}}
		for i := range 10 {
			out = append(out, Thread{Track: Track{Name: fmt.Sprintf("worker/%d", i)}, Cores: 0.01 * float64(i+1)})
		}
		return out, nil
	}
	return f
}

func TestThreadSection(t *testing.T) {
	b := newBuilder(threaded().in, Options{})
	s, err := threadSection(b, record.Section{Kind: "threads", Cells: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"target", "thread", "CPU (cores)", "of the target's"}}
	for i := 9; i >= 2; i-- {
		want = append(want, []string{"a", fmt.Sprintf("worker/%d", i), number(0.01*float64(i+1), "timing"), percent(0.01 * float64(i+1) / 0.6)})
	}
	want = append(want, []string{"a", "all others", "0.0800", "13.3 %"},
		[]string{"b", "-", "n/a*", "-"}, []string{"c", "-", "unsupported*", "-"})
	if diff := cmp.Diff(want, firstTable(t, s)); diff != "" {
		t.Error(diff)
	}
	if got := terminal(s.Blocks[0].(Paragraph).Text); !strings.Contains(got, "of the first run of each cell that has any") {
		t.Errorf("it does not say which run is shown: %s", got)
	}
	for i, want := range []string{"perf / b: no thread was recorded one by one", "perf / c: unsupported: it has no threads"} {
		if got := terminal(b.notes[i]); got != want {
			t.Errorf("note %q, want %q", got, want)
		}
	}
	for _, c := range []struct {
		rest float64
		want [][]string
	}{
		{0, [][]string{{"a", "busy", "0.500", "100 %"}, {"a", "1 idle thread", "0", "0 %"}}},
		{1e-17, [][]string{{"a", "busy", "0.500", "100 %"}, {"a", "1 idle thread", "0", "0 %"}}},
		{0.5, [][]string{{"a", "busy", "0.500", "50.0 %"}, {"a", "all others", "0.500", "50.0 %"}}},
	} {
		b.in.Threads = func(string) ([]Thread, error) {
			return []Thread{{Track: Track{Name: "idle"}}, {Track: Track{Name: "busy"}, Cores: 0.5}, {Track: Track{Name: "other"}, Rest: true, Cores: c.rest}}, nil
		}
		s, err := threadSection(b, record.Section{Cells: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, firstTable(t, s)[1:]); diff != "" {
			t.Errorf("the rest used %v: %s", c.rest, diff)
		}
	}
	b.in.Threads = func(string) ([]Thread, error) { return nil, errors.New("torn") }
	if _, err := threadSection(b, record.Section{Cells: []int{0}}); err == nil || !strings.Contains(err.Error(), "reading run 001: torn") {
		t.Errorf("an error of reading: %v", err)
	}
	if s, err := threadSection(b, record.Section{}); err != nil || len(s.Blocks) != 1 {
		t.Errorf("of no cell: %v, %v", s, err)
	}
}

// What is said in words stands in a table as it is, the texts of runs that differ beside each other, and has no ratio.
func TestTextsInTables(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000)})
	f.cell(cellSpec{scenario: "s", target: "b", rates: around(1000)})
	f.cell(cellSpec{scenario: "s", target: "c", rates: around(1000)})
	say := func(run int, version string) {
		f.in.Runs[run].Texts = map[string]map[string]string{"load/full": {"tls_version": version}}
	}
	for i := range 3 {
		say(i, "TLS 1.3")
		say(3+i, fmt.Sprintf("TLS 1.%d", 2+i%2))
	}
	b := newBuilder(f.in, Options{})
	s, err := tableSection(b, record.Section{Title: "t", Rows: []string{"target"}, Metrics: []string{"load/full/tls_version", "req_per_s"}, Cells: []int{0, 1, 2},
		Aggregate: "geomean", Ratios: []record.Ratio{{Of: "b", To: record.Against{Target: "a"}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"target", "full: tls_version", "req_per_s"}, {"a", "TLS 1.3", "1,000"}, {"b", "TLS 1.2; TLS 1.3", "1,000"}, {"c", "n/a*", "1,000"}, {"geometric mean of 3 of 3 rows", "-", "1,000"}}
	if diff := cmp.Diff(want, firstTable(t, s)); diff != "" {
		t.Error(diff)
	}
	var ratios [][]string
	for _, block := range s.Blocks {
		if table, ok := block.(Table); ok && ratios == nil && len(table.Columns) > 3 {
			ratios = grid(table)
			if table.Columns[1].Right {
				t.Error("a text stands to the right")
			}
		}
	}
	if len(ratios) != 2 || ratios[1][0] != "req_per_s" {
		t.Errorf("ratios: %v", ratios)
	}
	for window, want := range map[string]string{"": "", "load/a": "a", "phase/x": "x", "phase/x/y/load/a": "x/y, a", "replica/web/0": "replica/web/0"} {
		if got := windowWords(window); got != want {
			t.Errorf("window %s is %q, want %q", window, got, want)
		}
	}
}

// An optional action that could not be done is a finding, once for all cells with the same reason.
func TestForgone(t *testing.T) {
	f := newFixture()
	for _, target := range []string{"a", "b"} {
		f.cell(cellSpec{scenario: "perf", target: target, rates: around(1000)})
	}
	for i, r := range f.in.Runs {
		r.Actions = []record.Action{{Kind: "exec", Name: "perf record", Where: "plan.yaml:9:5", Start: 2, Error: "plan.yaml:9:5: there is no program perf on this machine", Optional: true},
			{Kind: "exec", Name: "fine", Optional: true}}
		if i == 0 {
			r.Actions = append(r.Actions, record.Action{Kind: "exec", Name: "odd", Where: "plan.yaml:10:5", Error: "exit status 1\nof <b>", Optional: true})
		}
	}
	b := newBuilder(f.in, Options{})
	var got []string
	for _, item := range b.forgone() {
		got = append(got, terminal(item))
	}
	want := []string{
		"Left out: perf record, of perf / a and perf / b (there is no program perf on this machine). It is optional, and the runs went on.",
		"Left out: odd, of perf / a (exit status 1 of <b>). It is optional, and the runs went on.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if sections, err := happenings(b); err != nil || len(sections) > 0 {
		t.Errorf("said again by what happened: %v, %v", sections, err)
	}
}

// What commands printed stands as it is, once for each cell and action.
func TestPrinted(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "perf", target: "a", rates: around(1000)})
	f.cell(cellSpec{scenario: "perf", target: "b", rates: []float64{1000}})
	output := func(run, action, text string) {
		f.data[run].Events = append(f.data[run].Events, record.Event{Kind: "output", Message: text, Fields: map[string]any{"action": action}})
	}
	output("001", "perf report", "90 % <main>\n```10 % `rest`")
	output("002", "perf report", "again")
	output("004", "perf report", "another")
	sections, err := printed(newBuilder(f.in, Options{}))
	if err != nil || len(sections) != 1 {
		t.Fatal(sections, err)
	}
	var b strings.Builder
	if err := WriteMarkdown(&b, &Document{Title: "t", Sections: sections}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## What commands printed\n", "\nperf / a: perf report:\n\n````\n90 % <main>\n```10 % `rest`\n````\n", "\nperf / b: perf report:\n\n```\nanother\n```\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "again") {
		t.Error("a second run of a cell is shown too")
	}
}
