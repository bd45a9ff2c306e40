package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/hdr"
)

// pictured is a result set with a fault, in which a process died, and three repeats of each cell.
func pictured(scenarios, targets int) *fixture {
	f := newFixture()
	phases := []record.Phase{{Name: "before", Kind: "load", End: 3, Recorded: true}, {Name: "fault", Kind: "fault", Start: 3, End: 5, Recorded: true}, {Name: "after", Kind: "measure", Start: 5, End: 7.5, Recorded: true}}
	for s := range scenarios {
		for t := range targets {
			f.cell(cellSpec{stage: "main", scenario: fmt.Sprint("s", s), target: fmt.Sprint("t", t), rates: around(1000), open: true, phases: phases})
		}
	}
	for _, r := range f.in.Runs {
		r.Seconds = 9 // with what came after the phases
		r.Actions = []record.Action{{Phase: "before", Kind: "load", Start: 0.1}, {Phase: "fault", Kind: "toxic", Name: "slow", Start: 3.1},
			{Phase: "after", Kind: "scale", Start: 5.5}, {Phase: "after", Kind: "scale", Start: 6}}
		f.data[r.ID].Events = []record.Event{{T: 4, Kind: "exit", Message: "nginx/0: killed"}, {T: 4, Kind: "phase", Message: "of no matter"}}
	}
	f.in.Latency = func(string) (*hdr.Histogram, error) {
		h := new(hdr.Histogram)
		for i := range int64(1000) {
			h.Record((i + 1) * 1e6)
		}
		return h, nil
	}
	f.in.Threads = func(string) ([]Thread, error) {
		return []Thread{{Track: Track{"idle", []float64{1, 2}, []float64{0, 0}}}, {Track: Track{"a", []float64{1, 2}, []float64{0.1, 0.1}}, Cores: 0.1}, {Track: Track{"b", []float64{1, 2}, []float64{0.5, 0.6}}, Cores: 0.55}}, nil
	}
	return f
}

func TestPicture(t *testing.T) {
	f := pictured(1, 2)
	d, err := Build(f.in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var charts []Chart
	var ranges []Ranges
	var percentiles []Percentiles
	for _, s := range d.Sections {
		for _, block := range s.Blocks {
			switch block := block.(type) {
			case Chart:
				charts = append(charts, block)
			case Ranges:
				ranges = append(ranges, block)
			case Percentiles:
				percentiles = append(percentiles, block)
			}
		}
	}
	if len(charts) != 3 || len(ranges) != 1 || len(percentiles) != 1 {
		t.Fatalf("%d charts, %d ranges, %d percentiles", len(charts), len(ranges), len(percentiles))
	}
	c := charts[0]
	if c.Seconds != 8 || len(c.Panels) == 0 || c.Panels[0].Title != "p99_ms" || len(c.Panels[0].Lines) != 2 {
		t.Fatalf("%d s, panels %v", c.Seconds, c.Panels)
	}
	if v := c.Panels[0].Lines[1].Values; len(v) != 8 || v[2] == nil || *v[2] != 1 {
		t.Errorf("values %v", v)
	}
	want := []Mark{{[]float64{3.1}, "toxic slow (phase fault)"}, {[]float64{4}, "t0: exit: nginx/0: killed"}, {[]float64{4}, "t1: exit: nginx/0: killed"}, {[]float64{5.5, 6}, "scale (phase after)"}}
	if d := cmp.Diff(want, c.Marks); d != "" {
		t.Errorf("marks (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Stretch{{"before", "load", 0, 3}, {"fault", "fault", 3, 5}, {"after", "measure", 5, 7.5}}, c.Phases); d != "" {
		t.Errorf("phases (-want +got):\n%s", d)
	}
	threads := charts[2].Panels
	if len(threads) != 2 || len(threads[0].Lines) != 2 || threads[0].Lines[0].Name != "b" {
		t.Errorf("threads: %v", threads)
	}
	if g := ranges[0].Groups; len(g) != 1 || len(g[0].Bars) != 2 || g[0].Label != "p99_ms, lower is better" || g[0].Bars[0].Low >= g[0].Bars[0].High {
		t.Errorf("ranges: %v", g)
	}
	// Three runs of a cell, merged.
	lines := percentiles[0].Lines
	if len(lines) != 2 || lines[0].Count != 3000 {
		t.Fatalf("percentiles: %v", lines)
	}
	last := lines[0].Points[len(lines[0].Points)-1]
	if last != (Percentile{Share: 1, Ms: 1000}) {
		t.Errorf("the maximum is %v", last)
	}
	for _, p := range lines[0].Points[:len(lines[0].Points)-1] {
		if p.Share >= 0.001 && (p.Ms < 1000*p.Share*0.995 || p.Ms > 1000*p.Share+2) {
			t.Errorf("%.4f of the requests took at most %.2f ms", p.Share, p.Ms)
		}
	}
}

// However large a result set is, so many pictures are drawn, and it is said what is not.
func TestPicturesAreBounded(t *testing.T) {
	f := pictured(12, 20)
	read := map[string]bool{}
	series := f.in.Series
	f.in.Series = func(id, name string) ([]float64, []float64, error) {
		read[id] = true
		return series(id, name)
	}
	b := newBuilder(f.in, Options{})
	sections, err := pictures(b)
	if err != nil || len(sections) != 1 {
		t.Fatalf("%d sections, %v", len(sections), err)
	}
	charts := 0
	for _, block := range sections[0].Blocks {
		if c, ok := block.(Chart); ok {
			charts++
			for _, p := range c.Panels {
				if len(p.Lines) > mostLines {
					t.Errorf("%d lines", len(p.Lines))
				}
			}
		}
	}
	if charts != 3*mostPictured || len(read) != 3*mostLines*mostPictured {
		t.Errorf("%d charts of %d runs", charts, len(read))
	}
	last, ok := sections[0].Blocks[len(sections[0].Blocks)-1].(Paragraph)
	if !ok || !cmp.Equal(terminal(last.Text), "Not drawn, so that this page opens at once: s8, s9, s10 and s11. A section chart: p99_ms of the plan's report with a where draws what it selects.") {
		t.Errorf("at the end: %v", sections[0].Blocks[len(sections[0].Blocks)-1])
	}
}

// What the picture of all has no room for is named.
func TestOverviewIsBounded(t *testing.T) {
	s, err := overview(newBuilder(pictured(mostPanels+2, 2).in, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	blocks := s[0].Blocks
	if r := blocks[0].(Ranges); len(r.Groups) != mostPanels {
		t.Errorf("%d groups are drawn", len(r.Groups))
	}
	if last, ok := blocks[len(blocks)-1].(Paragraph); !ok || terminal(last.Text) != fmt.Sprintf("Not drawn: s%d and s%d. The tables have the figures.", mostPanels, mostPanels+1) {
		t.Errorf("at the end: %v", blocks[len(blocks)-1])
	}
}

// What cannot all be marked is counted, and a chart in numbers says what happened too.
func TestMarksAreBounded(t *testing.T) {
	f := pictured(1, 1)
	r := f.in.Runs[0]
	for i := range 30 {
		r.Actions = append(r.Actions, record.Action{Kind: "http", Name: fmt.Sprint("request ", i), Phase: r.Phases[0].Name, Start: 1})
	}
	b := newBuilder(f.in, Options{})
	units, err := b.units([]int{0})
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.chart(units, []string{"p99_ms"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := b.marks(units)
	if err != nil || len(c.Marks) != mostMarks {
		t.Fatalf("%d marks, %v", len(c.Marks), err)
	}
	var out strings.Builder
	if err := WriteText(&out, &Document{Sections: []Section{{Blocks: []Block{c}}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- 1.0 s: http request 0 (phase before)", fmt.Sprintf("Not marked: %d more things that happened.", len(all)-mostMarks)} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not said: %q\n%s", want, out.String())
		}
	}
}
