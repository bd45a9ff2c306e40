package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// A failing run has failures in seconds 3, 4 and 5 of six, most in the fourth.
func failing() (*fixture, *record.Run) {
	f := newFixture()
	phases := []record.Phase{{Name: "before", Kind: "load", End: 3, Recorded: true}, {Name: "less", Kind: "churn", Start: 3, End: 6, Recorded: true, Headline: true}}
	f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, phases: phases, failed: load.Counts{Non2xx: map[int]int64{502: 9}}})
	r := f.in.Runs[0]
	r.Loads[0].Totals = map[string]load.Counts{"less": r.Loads[0].Totals["less"]}
	for i, n := range map[int]int64{3: 1, 4: 7, 5: 1} {
		f.failed(r, "less", i, n)
	}
	f.in.Failed = func(id string) ([]record.FailedSecond, error) { return measure.FailedSeconds(f.data[id]), nil }
	return f, r
}

// failed adds n failed requests to a second of a run's load.
func (f *fixture) failed(r *record.Run, phase string, second int, n int64) {
	d := f.data[r.ID]
	d.Seconds = append(d.Seconds, load.Second{Load: r.Loads[0].Name, Phase: phase, Second: second, Counts: load.Counts{Due: n, Non2xx: map[int]int64{502: n}}})
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
		}, "in phase less, from 3.0 s to 6.0 s, most within 4.0 to 5.0 s (7); beside it: change: web: 4 replicas became 2 (at 3.2 s)."},
		{"an action beside it", func(f *fixture, r *record.Run) {
			r.Actions = []record.Action{{Kind: "http", Name: "reload", Start: 2.5, End: 2.6}}
		}, "beside it: action http reload (at 2.5 s)."},
		{"a fault in force", func(f *fixture, r *record.Run) {
			r.Actions = []record.Action{{Kind: "toxic", Name: "toxic", Start: 0.5, End: 6}}
			r.Facts.Faults = []record.Fault{{Relay: "slow", Toxic: "latency", Start: 0.5, End: 6}}
		}, "beside it: latency on slow in force (since 0.5 s)."},
		{"replicas that end, a reload and a change of size", func(f *fixture, r *record.Run) {
			r.Actions = []record.Action{{Kind: "scale", Name: "scale web to 2", Start: 2.9, End: 3.9}}
			r.Facts.Changes = []record.Change{{Kind: "scale", What: "scale web 4 -> 2", Start: 2.9, End: 3.9}}
			replica := func(at float64, n int, state string) record.Event {
				return record.Event{T: at, Kind: "replica", Message: "a replica", Fields: map[string]any{"process": "web", "replica": float64(n), "state": state}}
			}
			f.data[r.ID].Events = []record.Event{replica(2.1, 2, "ready"), replica(2.2, 3, "announced"), {T: 2.3, Kind: "change", Message: "wrote a", Fields: map[string]any{"file": "a"}}, {T: 2.4, Kind: "exit", Message: "b/0 ended"},
				{T: 2.5, Kind: "restart", Message: "b/0 restarted"}, replica(2.95, 2, "leaving"), replica(2.96, 3, "leaving"), replica(2.97, 4, "leaving"), {T: 3.1, Kind: "reload", Message: "the target was told"},
				replica(3.4, 2, "exited"), replica(3.5, 3, "exited"), {T: 3.9, Kind: "change", Message: "scale web 4 -> 2: served", Fields: map[string]any{"change": "scale"}}}
		}, "beside it: exit: b/0 ended (at 2.4 s), restart: b/0 restarted (at 2.5 s), scale web 4 -> 2 (at 2.9 s), web/2, web/3 and 1 more told to end (at 3.0 s), reload: the target was told (at 3.1 s), web/2 and web/3 ended (at 3.4 s)."},
		{"nothing but the phase", func(*fixture, *record.Run) {}, "beside it: nothing that explains it, phase less began (at 3.0 s)."},
		{"nothing at all", func(f *fixture, r *record.Run) { r.Phases[0].End, r.Phases[1].Start = 0.5, 0.5 }, "; beside it: nothing that explains it."},
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

// Of replicas that ended together two are named; the others are kept for a writer that folds, in sentences and in tables.
func TestWhenKeepsTheRest(t *testing.T) {
	f, r := failing()
	for i := range 4 {
		f.data[r.ID].Events = append(f.data[r.ID].Events, record.Event{T: 3.1, Kind: "replica", Fields: map[string]any{"process": "web", "replica": float64(i), "state": "leaving"}})
	}
	b := newBuilder(f.in, Options{})
	when, err := b.whenTable()
	if err != nil {
		t.Fatal(err)
	}
	seconds, _, err := b.failingTable()
	if err != nil {
		t.Fatal(err)
	}
	o, err := b.outbreak(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]Text{"the table": when.Rows[0][len(when.Columns)-1], "a second": seconds.Rows[0][len(seconds.Columns)-1], "the sentence": o.say()} {
		var rest []string
		for _, s := range got {
			for _, n := range s.Rest {
				rest = append(rest, plain(n))
			}
		}
		if and(rest) != "web/2 and web/3" {
			t.Errorf("%s folds %q: %s", name, rest, plain(got))
		}
	}
}

// Of processes that died all are kept: those beyond the bound fold.
func TestDeathsKeepTheRest(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000)})
	for range mostDeaths + 1 {
		f.in.Runs[0].Processes = append(f.in.Runs[0].Processes, record.Process{Name: "a", Replica: len(f.in.Runs[0].Processes), Died: "signal: killed"})
	}
	got, err := newBuilder(f.in, Options{}).deaths()
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, error %v", got, err)
	}
	n := 0
	for _, s := range got[0] {
		n += len(s.Rest)
	}
	if said := plain(got[0]); n != 1 || !strings.HasPrefix(said, "5 processes died: ") || !strings.HasSuffix(said, " and 1 more.") {
		t.Errorf("%d fold: %s", n, said)
	}
}

// What does not count as an outcome of the run is no part of when requests failed: what failed in a warm-up, or of a load
// that ended with its phase and had not heard it yet.
func TestWhenIsOfWhatCounts(t *testing.T) {
	for name, c := range map[string]struct {
		stopped float64
		want    string
	}{"the load ended with its phase": {6.1, "from 3.0 s to 6.0 s, most within 4.0 to 5.0 s (7)"}, "it went on": {8, "from 3.0 s to 7.0 s, most within 6.0 to 7.0 s (83)"}} {
		f, r := failing()
		r.Phases = append(r.Phases, record.Phase{Name: "after", Kind: "load", Start: 6.2, End: 8, Recorded: true})
		r.Loads[0].Stopped = c.stopped
		f.failed(r, record.Between("less"), 6, 80)
		if c.stopped > 6.2 {
			f.failed(r, "after", 6, 3) // of the same second
		}
		o, err := newBuilder(f.in, Options{}).outbreak(r)
		if err != nil || o == nil || !strings.Contains(plain(o.say()), c.want) {
			t.Errorf("%s: %+v, error %v, want %q", name, o, err, c.want)
		}
	}
	f, r := failing()
	r.Phases[1].Recorded = false
	if o, err := newBuilder(f.in, Options{}).outbreak(r); o != nil || err != nil {
		t.Errorf("of a warm-up: %+v, error %v", o, err)
	}
}

// Both tables say the same of the same second: what is nearest to it, also if its requests were over much later.
func TestBesideIsTheSame(t *testing.T) {
	f, r := failing()
	for i := range 8 { // in the second, and long after it while its requests still wait
		f.data[r.ID].Events = append(f.data[r.ID].Events, record.Event{T: 3.2 + 0.5*float64(i), Kind: "reload", Message: fmt.Sprint("reload ", i)})
	}
	f.in.Failed = func(string) ([]record.FailedSecond, error) {
		return []record.FailedSecond{{T: 3, Over: 9, Phase: "less", Counts: load.Counts{Non2xx: map[int]int64{502: 9}}}}, nil
	}
	b := newBuilder(f.in, Options{})
	when, err := b.whenTable()
	if err != nil {
		t.Fatal(err)
	}
	seconds, _, err := b.failingTable()
	if err != nil {
		t.Fatal(err)
	}
	last := func(t Table) string { return terminal(t.Rows[0][len(t.Columns)-1]) }
	if got := last(when); got != last(seconds) || !strings.Contains(got, "reload 0 ") || !strings.Contains(got, "reload 5 ") || strings.Contains(got, "reload 6 ") {
		t.Errorf("beside the first second stand\n%s\nand\n%s", got, last(seconds))
	}
}
