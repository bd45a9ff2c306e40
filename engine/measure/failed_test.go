package measure

import (
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// Of the example's requests two fail, due in second 6: what was done or happened near them explains them.
func TestFailedUnexplained(t *testing.T) {
	replica := func(at float64, state string) record.Event {
		return record.Event{T: at, Kind: "replica", Fields: map[string]any{"process": "web", "replica": 1.0, "state": state}}
	}
	for _, c := range []struct {
		name string
		with func(*record.Data)
		want float64
	}{
		{"nothing", func(*record.Data) {}, 2},
		{"a replica ended before", func(d *record.Data) { d.Events = []record.Event{replica(4.1, "exited")} }, 0},
		{"too long before", func(d *record.Data) { d.Events = []record.Event{replica(3.9, "exited")} }, 2},
		{"while they went on", func(d *record.Data) { d.Events = []record.Event{replica(8.9, "leaving")} }, 0},
		{"after they were over", func(d *record.Data) { d.Events = []record.Event{replica(9.1, "leaving")} }, 2},
		{"a replica came", func(d *record.Data) { d.Events = []record.Event{replica(6, "ready")} }, 2},
		{"a long reload", func(d *record.Data) {
			d.Events = []record.Event{{T: 20, Kind: "reload", Fields: map[string]any{"start": 6.5}}}
		}, 0},
		{"a process died", func(d *record.Data) { d.Events = []record.Event{{T: 6.2, Kind: "exit"}} }, 0},
		{"a phase, a note", func(d *record.Data) { d.Events = []record.Event{{T: 6.2, Kind: "phase"}, {T: 6.2, Kind: "note"}} }, 2},
		{"a change that was being made", func(d *record.Data) { d.Run.Facts.Changes = []record.Change{{Start: 1, End: 5}} }, 0},
		{"an outage", func(d *record.Data) {
			d.Run.Facts.Changes = []record.Change{{Backend: "web", Gone: true, Start: 1, End: 2}, {Backend: "db", Came: []string{"db/1"}, Start: 2, End: 3}}
		}, 0},
		{"an outage that was over", func(d *record.Data) {
			d.Run.Facts.Changes = []record.Change{{Backend: "web", Gone: true, Start: 1, End: 2}, {Backend: "web", Came: []string{"web/0"}, Start: 2, End: 3}}
		}, 2},
		{"changes that were none", func(d *record.Data) {
			d.Run.Facts.Changes = []record.Change{{Start: 6, End: 6, Nothing: true}, {Start: 6, End: 6, Unmade: true}}
			d.Events = []record.Event{{T: 6, Kind: "change", Fields: map[string]any{"change": "scale"}}}
		}, 2},
		{"a command that goes on", func(d *record.Data) { d.Run.Actions = []record.Action{{Kind: "exec", Start: 1}} }, 0},
		{"a load, and a scale that waits", func(d *record.Data) {
			d.Run.Actions = []record.Action{{Kind: "load", Start: 1}, {Kind: "scale", Start: 1}}
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := example()
			c.with(d)
			Derive(d)
			wantMetrics(t, d.Run.Metrics[""], map[string]float64{"failed": 2 * 2, "failed_unexplained": 2 * c.want})
			wantMetrics(t, d.Run.Metrics["phase/measure"], map[string]float64{"failed_unexplained": 0})
		})
	}
}

func TestFailedSeconds(t *testing.T) {
	d := example()
	d.Seconds = append(d.Seconds, load.Second{Load: "side", Phase: "measure", Second: 2, Counts: load.Counts{Due: 1, Errors: map[string]int64{load.Reset: 1}}},
		load.Second{Load: "main", Phase: "measure", Second: 2, Counts: load.Counts{Due: 1, Errors: map[string]int64{load.Reset: 1}, MaxElapsed: time.Second}})
	d.Events = []record.Event{{T: 2, Kind: "restart"}}
	got := FailedSeconds(d)
	if len(got) != 2 {
		t.Fatalf("%d seconds: %+v", len(got), got)
	}
	if s := got[0]; s.T != 2 || s.Over != 4 || s.Phase != "measure" || s.Counts.Errors[load.Reset] != 1 || s.Unexplained != 0 {
		t.Errorf("the load of the headline: %+v", s)
	}
	if s := got[1]; s.T != 6 || s.Over != 9 || s.Phase != "after" || s.Counts.Non2xx[503] != 2 || s.Counts.Errors[load.Timeout] != 2 || s.Unexplained != 4 {
		t.Errorf("of both workers: %+v", s)
	}
}

// What fails behind a recorded phase counts where its load goes on into the next one: both in the run's figure and second by
// second, which are of the same requests, as is the report. What fails in the warm-up, or of a load that is over, does not.
func TestFailedBetweenPhases(t *testing.T) {
	for name, c := range map[string]struct {
		stopped float64 // of the load
		want    float64
	}{"it goes on": {7, 2*2 + 3}, "nobody knows when it stopped": {0, 2*2 + 3}, "it ended with its phase": {5.1, 2 * 2}} {
		d := example()
		d.Run.Phases[2].Start = 5.2
		d.Run.Loads[0].Stopped = c.stopped
		for _, s := range []struct {
			phase  string
			second int
			n      int64
		}{{"warm-up", 0, 1}, {record.Between("warm-up"), 1, 7}, {record.Between("measure"), 5, 3}, {record.Between("after"), 6, 2}} {
			d.Seconds = append(d.Seconds, load.Second{Load: "main", Phase: s.phase, Second: s.second, Counts: load.Counts{Due: s.n, Errors: map[string]int64{load.Reset: s.n}}})
		}
		Derive(d)
		requests := 600 + c.want - 4
		wantMetrics(t, d.Run.Metrics[""], map[string]float64{"failed": c.want, "failed_unexplained": c.want, "requests": requests, "seconds": 4})
		wantMetrics(t, d.Run.Metrics["load/main"], map[string]float64{"failed": c.want})
		wantMetrics(t, d.Run.Metrics["phase/measure"], map[string]float64{"failed": 0, "requests": 400})
		wantMetrics(t, d.Run.Metrics["phase/after"], map[string]float64{"failed": 4, "requests": 200})
		sum := int64(0)
		for _, s := range FailedSeconds(d) {
			sum += failed(&s.Counts)
		}
		if float64(sum) != c.want {
			t.Errorf("%s: second by second %d failed, %g in all", name, sum, c.want)
		}
	}
}
