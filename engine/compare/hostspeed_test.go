package compare

import (
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// The host was not equally fast if its speeds are apart by more than a word is worth and than chance explains; of few runs
// nothing is known of chance, so it must be more.
func TestHostSpeed(t *testing.T) {
	for _, c := range []struct {
		name   string
		of, to []float64
		want   bool
	}{
		{"equally fast", []float64{10, 10.1, 9.9}, []float64{10, 9.9, 10.1}, false},
		{"hardly apart", []float64{9.7, 9.71, 9.7}, []float64{10, 10.01, 10}, false},
		{"slower", []float64{9, 9.1, 8.9}, []float64{10, 10.1, 9.9}, true},
		{"faster", []float64{11, 11.1, 10.9}, []float64{10, 10.1, 9.9}, true},
		{"in some runs of both", []float64{10, 5, 5.5}, []float64{10, 10.5, 5}, false},
		{"one run each, apart", []float64{9}, []float64{10}, false},
		{"one run each, far apart", []float64{8}, []float64{10}, true},
		{"not known", nil, []float64{10}, false},
	} {
		side := func(name string, runs []float64) Side {
			cell := &record.Cell{Status: record.Done, Metrics: record.CellWindows{"": new(record.CellWindow)}}
			if runs != nil {
				cell.Metrics[""].Set("host_speed", record.Value{Value: runs[0], Runs: runs})
			}
			return Side{Name: name, Cell: cell}
		}
		if _, got := HostSpeed(side("a", c.of), side("b", c.to)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if _, apart := HostSpeed(Side{Why: "no cell"}, Side{Why: "no cell"}); apart {
		t.Error("sides without cells are apart")
	}
}
