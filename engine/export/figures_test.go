package export

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// Published figures of which only statistics are known stay as they were published, in every format that can say so.
func TestPublishedFigures(t *testing.T) {
	set := newSet(t)
	res := newResults(nil)
	res.Descs = map[string]series.Desc{"p99_ms": {Name: "p99_ms", Unit: "ms", Better: series.Lower, Across: series.Median}, "failed": {Name: "failed", Across: series.Sum}}
	res.Cells = []record.Cell{{Coord: record.Coord{Scenario: "h1", Target: "nginx"}, Status: record.Done, Metrics: record.CellWindowsOf(map[string]map[string]record.Value{"": {
		"p99_ms": {Value: 2.74, Whole: map[string]float64{"median": 2.74, "max": 4}}, "failed": {Value: 7, Whole: map[string]float64{"sum": 7}},
	}})}}
	var b bytes.Buffer
	if err := CSV(&b, set, res, Options{Figures: true, Runs: true}); err != nil {
		t.Fatal(err)
	}
	if want := "scenario,target,metric,statistic,value\nh1,nginx,failed,sum,7\nh1,nginx,p99_ms,median,2.74\nh1,nginx,p99_ms,max,4\n"; b.String() != want {
		t.Errorf("it is\n%s, want\n%s", &b, want)
	}
	b.Reset()
	if err := OpenMetrics(&b, res, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`statistic="sum"} 7.0`, `statistic="median"} 2.74`, `statistic="max"} 4.0`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not have %s:\n%s", want, &b)
		}
	}
}

// Figures that would be of two cells at once are not written.
func TestFiguresOfTwoCells(t *testing.T) {
	res := newResults(nil)
	for _, stage := range []string{"first", "reversed"} {
		res.Cells = append(res.Cells, record.Cell{Coord: record.Coord{Stage: stage, Scenario: "h1", Target: "nginx"}})
	}
	err := CSV(io.Discard, newSet(t), res, Options{Figures: true})
	if err == nil || !strings.Contains(err.Error(), `"first / h1 / nginx" and "reversed / h1 / nginx"`) {
		t.Errorf("the error is %v", err)
	}
}
