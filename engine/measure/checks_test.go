package measure

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// counted is healthy with the totals that the workers say in the end.
func counted() *record.Data {
	d := healthy()
	for i := range d.Run.Loads {
		l := &d.Run.Loads[i]
		l.Totals = map[string]load.Counts{}
		for _, s := range d.Seconds {
			if s.Load == l.Name {
				sum := l.Totals[s.Phase]
				record.AddCounts(&sum, s.Counts)
				l.Totals[s.Phase] = sum
			}
		}
	}
	d.Run.Facts.Servers = map[string]map[string]float64{"web/0": {"requests": 772}, "nginx/0": {"requests": 5}}
	for i := range 8 {
		d.Points = append(d.Points, series.Point{T: float64(i), Series: "probe_gaps", Source: "process", V: float64(i) / 4})
	}
	d.Run.Series = append(d.Run.Series, processSeries...)
	return d
}

func TestChecksHold(t *testing.T) {
	d := counted()
	names := map[string]string{}
	for _, g := range Checks(d) {
		names[g.Name] = g.Message
		if !g.OK {
			t.Errorf("%s %s: %s", g.Name, g.Load, g.Message)
		}
	}
	for _, want := range []string{"workers-reported", "probes-reported", "counts-reconcile", "origin-count", "files-written"} {
		if names[want] == "" {
			t.Errorf("no check %s", want)
		}
	}
	// 7 s of 110 requests, and one of each load to verify.
	if want := "the loads sent 772 requests, verification included; the backends counted 772"; names["origin-count"] != want {
		t.Errorf("%q, want %q", names["origin-count"], want)
	}
}

func TestChecksFail(t *testing.T) {
	for _, c := range []struct {
		name, check, says string
		change            func(d *record.Data)
	}{
		{"a worker is missing", "workers-reported", "only 1 of 2 workers of load main reported", func(d *record.Data) { d.Run.Loads[0].Reported = 1 }},
		{"no last report", "workers-reported", "last report", func(d *record.Data) { d.Run.Loads[1].Final = false }},
		{"a lost second", "counts-reconcile", "in phase warm-up the workers counted 100 due, 100 ok, 0 failed in all, and 0, 0, 0 second by second", func(d *record.Data) {
			eachMain(d, func(s *load.Second) {
				if s.Phase == "warm-up" {
					s.Load = "gone"
				}
			})
		}},
		{"a request without outcome", "counts-reconcile", "in phase after 201 requests were due, and 200 had an outcome", func(d *record.Data) {
			d.Seconds[len(d.Seconds)-3].Counts.Due++
		}},
		{"a probe that sleeps", "probes-reported", "probe process missed 30 of 38 samples", func(d *record.Data) {
			setSeries(d, "probe_gaps", "process", func(p *series.Point) { p.V = 30 })
		}},
		{"no sample of any process", "probes-reported", "no sample of cpu_user_s", func(d *record.Data) {
			setSeries(d, "cpu_user_s", "", func(p *series.Point) { p.Series = "else" })
		}},
		{"the disk is full", "files-written", "7 lines could not be written", func(d *record.Data) { d.Run.Facts.Lost = 7 }},
		{"a torn line", "files-written", "the last line is torn", func(d *record.Data) { d.Notes = []string{"series.jsonl: the last line is torn"} }},
	} {
		d := counted()
		c.change(d)
		found := false
		for _, g := range Checks(d) {
			if !g.OK && g.Name == c.check {
				found = true
				if !strings.Contains(g.Message, c.says) {
					t.Errorf("%s: %q does not say %q", c.name, g.Message, c.says)
				}
			} else if !g.OK {
				t.Errorf("%s: %s failed too: %s", c.name, g.Name, g.Message)
			}
		}
		if !found {
			t.Errorf("%s: check %s held", c.name, c.check)
		}
	}
}

// A run that was cut short is not held against its loads.
func TestChecksOfInterruptedRun(t *testing.T) {
	d := counted()
	d.Run.Status = record.Interrupted
	d.Run.Loads[0].Final, d.Seconds = false, nil
	for _, g := range Checks(d) {
		if !g.OK {
			t.Errorf("%s: %s", g.Name, g.Message)
		}
	}
}
