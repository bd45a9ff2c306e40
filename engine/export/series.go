package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// SeriesCSV writes what was sampled, a row a sample, run by run:
//
//	run       its id, as in the CSV of values and below runs/
//	time      in seconds since the run began; of a second of a load, its begin
//	series    its name; of loads requests, ok, failed (by the second in which they were due) and the latencies p50_ms,
//	          p99_ms, max_ms of that second's successes
//	value     a number, in the series' unit
//	unit
//	source    a process, a relay, a part of the host; of loads the load
//	replica, role, label   of processes; of loads the label is the phase
//
// What happened comes behind them, as a series event with the value 1: its source is the kind, its label the message.
//
// Where a file of a run cannot be read, rows are of what can be, and unread, which may be nil, is told: a line a file. A run is in memory at a time.
func SeriesCSV(w io.Writer, set *record.Set, unread func(r *record.Run, why error)) error {
	t := csv.NewWriter(w)
	_ = t.Write([]string{"run", "time", "series", "value", "unit", "source", "replica", "role", "label"}) // t.Error has it
	for d, err := range set.All() {
		if d == nil {
			return err
		}
		if err != nil && unread != nil {
			unread(d.Run, err)
		}
		units := map[string]string{}
		for _, s := range d.Run.Series {
			units[s.Name] = s.Unit
		}
		for _, p := range d.Points {
			unit, ok := units[p.Series]
			if !ok {
				unit = unitIn(p.Series)
			}
			sample(t, d.Run.ID, p, unit, strconv.Itoa(p.Replica))
		}
		start := map[string]float64{}
		for _, l := range d.Run.Loads {
			start[l.Name] = l.Start
		}
		for i := range d.Seconds {
			second(t, d.Run.ID, start[d.Seconds[i].Load], &d.Seconds[i])
		}
		for _, e := range d.Events {
			sample(t, d.Run.ID, series.Point{T: e.T, Series: "event", Source: e.Kind, Label: e.Message, V: 1}, "", "")
		}
		if err := t.Error(); err != nil {
			return wrote("csv", err)
		}
	}
	t.Flush()
	return wrote("csv", t.Error())
}

// unitIn is the unit at the end of a name. What workers of a load say of themselves is described nowhere else in a run.
func unitIn(name string) string {
	if !strings.HasSuffix(name, "_per_s") {
		for end, unit := range map[string]string{"_s": "s", "_ms": "ms", "_us": "us", "_mib": "MiB"} {
			if strings.HasSuffix(name, end) {
				return unit
			}
		}
	}
	return ""
}

func sample(t *csv.Writer, run string, p series.Point, unit, replica string) {
	_ = t.Write([]string{Defused(run), number(p.T), Defused(p.Series), number(p.V), Defused(unit), Defused(p.Source), replica, Defused(p.Role), Defused(p.Label)})
}

// second writes what a load did in one second.
func second(t *csv.Writer, run string, start float64, s *load.Second) {
	one := func(name, unit string, v float64) {
		sample(t, run, series.Point{T: start + float64(s.Second), Series: name, Source: s.Load, Role: "load", Label: s.Phase, V: v}, unit, "")
	}
	failed := int64(0)
	for _, n := range s.Counts.Non2xx {
		failed += n
	}
	for _, n := range s.Counts.Errors {
		failed += n
	}
	one("requests", "", float64(s.Counts.Due))
	one("ok", "", float64(s.Counts.OK))
	one("failed", "", float64(failed))
	if h := s.Latency; h != nil && h.Count() > 0 {
		one("p50_ms", "ms", h.Quantile(0.5)/1e6)
		one("p99_ms", "ms", h.Quantile(0.99)/1e6)
		one("max_ms", "ms", float64(h.Max())/1e6)
	}
}
