package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// A failing run has failures in seconds 3, 4 and 5 of six, most in the fourth.
func failing() (*fixture, *record.Run) {
	f := newFixture()
	phases := []record.Phase{{Name: "before", Kind: "load", End: 3, Recorded: true}, {Name: "less", Kind: "churn", Start: 3, End: 6, Recorded: true, Headline: true}}
	f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, phases: phases, failed: load.Counts{Non2xx: map[int]int64{502: 9}}})
	r := f.in.Runs[0]
	r.Loads[0].Totals = map[string]load.Counts{"less": r.Loads[0].Totals["measure"]}
	for i, n := range []float64{0, 0, 0, 1, 7, 1} {
		f.data[r.ID].Points = append(f.data[r.ID].Points, series.Point{T: float64(i), Series: "failed", V: n})
	}
	return f, r
}

func TestWhenRequestsFailed(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*fixture, *record.Run)
		want string
	}{
		{"an event beside it", func(f *fixture, r *record.Run) {
			f.data[r.ID].Events = []record.Event{{T: 0.5, Kind: "change", Message: "long before"}, {T: 3.2, Kind: "change", Message: "web: 4 replicas became 2"}, {T: 3.1, Kind: "phase", Message: "less"}}
			r.Actions = []record.Action{{Kind: "scale", Name: "scale", Start: 3.1, End: 3.3}, {Kind: "load", Name: "small", Start: 0, End: 6}}
		}, "in phase less, from 3.0 s to 6.0 s, most at 4.0 s (7); beside it: change: web: 4 replicas became 2 (at 3.2 s)."},
		{"an action beside it", func(f *fixture, r *record.Run) {
			r.Actions = []record.Action{{Kind: "http", Name: "reload", Start: 2.5, End: 2.6}}
		}, "beside it: action http reload (at 2.5 s)."},
		{"a fault in force", func(f *fixture, r *record.Run) {
			r.Actions = []record.Action{{Kind: "toxic", Name: "toxic", Start: 0.5, End: 6}}
			r.Facts.Faults = []record.Fault{{Relay: "slow", Toxic: "latency", Start: 0.5, End: 6}}
		}, "beside it: latency on slow in force (since 0.5 s)."},
		{"nothing but the phase", func(*fixture, *record.Run) {}, "beside it: phase less began (at 3.0 s)."},
		{"nothing at all", func(f *fixture, r *record.Run) { r.Phases[0].End, r.Phases[1].Start = 0.5, 0.5 }, "; nothing was recorded beside it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, r := failing()
			c.make(f, r)
			if got := said(t, f); !strings.Contains(got, c.want) {
				t.Errorf("the findings do not say %q:\n%s", c.want, got)
			}
		})
	}
}

// What failed before anything counts is no finding.
func TestWarmUpIsNoOutbreak(t *testing.T) {
	f, r := failing()
	r.Phases[1].Recorded = false
	if o, err := newBuilder(f.in, Options{}).outbreak(r); o != nil || err != nil {
		t.Errorf("an outbreak %+v, error %v", o, err)
	}
}
