// Package sized makes result sets of any size, as plan runs would have left them, for tests of what reads them.
//
// A set is consistent: the totals of its loads, its metrics, guards and self-checks are derived of what is recorded. Every
// target is a little slower than the one before it. To make thousands of runs quickly there are only some recordings of
// each target; runs share them as hard links.
package sized

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
)

// A Size says how large a set is. All numbers are at least 1, Seconds at least 3.
type Size struct {
	Targets, Scenarios, Repeats int
	Seconds                     int    // of each run, with a sample of everything a second
	Recordings                  int    // of each target; 0: as many as no two runs of a cell are alike
	Trouble                     bool   // in every run requests fail, a guard breaks, a process dies
	Plan                        string // added to the plan: verdicts, report; "" adds the verdicts of Verdicts
}

// Verdicts read metrics alone, as most plans' do: of a cell, of each run, against another target.
const Verdicts = `
verdicts:
  - {verdict: no request fails, each: run, pass: failed == 0}
  - {verdict: answers are quick, pass: p99_ms < 60 && phase("after").p99_ms < 60}
  - {verdict: close to the first, pass: 'req_per_s / target("t01").req_per_s > 0.5'}
  - {verdict: memory stays, pass: sut_rss_peak_mib < 1000, gate: fail-only}
`

// SeriesVerdicts read a series and events of each run.
const SeriesVerdicts = `
verdicts:
  - {verdict: memory does not climb, each: run, pass: '!phase("measure").series("sut_rss_mib").climbs()'}
  - {verdict: nothing dies, each: run, pass: events("exit").size() == 0}
`

// Target, Scenario are the names of those of a set, from 0.
func Target(i int) string   { return fmt.Sprintf("t%02d", i+1) }
func Scenario(i int) string { return fmt.Sprintf("s%02d", i+1) }

// PlanText is the plan of a set. It compiles, and is never run.
func PlanText(s Size) string {
	var b strings.Builder
	p := phasesOf(s.Seconds)
	b.WriteString("plan: sized\nabout: a result set of a given size\nbackends: {web: {replicas: 4}}\ntargets:\n")
	for i := range s.Targets {
		fmt.Fprintf(&b, "  %s: {about: 'proxy %d', install: [{start: {name: proxy, command: [proxy], listen: [http]}}]}\n", Target(i), i+1)
	}
	b.WriteString("scenarios:\n")
	for i := range s.Scenarios {
		fmt.Fprintf(&b, "  %s: {repeats: %d, phases: [{warm-up: {for: %gs, do: [{load: {path: /small, connections: 16}, name: main, through: after}]}}, {measure: {for: %gs}}, {load: {name: after, for: %gs}}]}\n",
			Scenario(i), s.Repeats, p[0].End, p[1].End-p[1].Start, p[2].End-p[2].Start)
	}
	if s.Plan == "" {
		s.Plan = Verdicts
	}
	b.WriteString(s.Plan)
	return b.String()
}

// begun is when the first run began.
var begun = time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)

// Make makes a set in dir, which must not exist or be empty.
func Make(dir string, s Size) (*record.Set, error) {
	set, err := record.Create(record.CreateOptions{Plan: "sized", Start: begun, Out: dir})
	if err != nil {
		return nil, err
	}
	if err := about(set, s); err != nil {
		return nil, err
	}
	m := maker{set: set, size: s, recorded: map[[2]int]*record.Data{}}
	for target := range s.Targets {
		for scenario := range s.Scenarios {
			for repeat := range s.Repeats {
				if err := m.run(target, scenario, repeat); err != nil {
					return nil, err
				}
			}
		}
	}
	return set, nil
}

// about writes what is not of a run.
func about(set *record.Set, s Size) error {
	if err := set.WriteFile("plan.yaml", []byte(PlanText(s))); err != nil {
		return err
	}
	if err := set.WriteFile("journal.jsonl", nil); err != nil {
		return err
	}
	programs, planned := map[string]record.Program{}, map[string]int{}
	for t := range s.Targets {
		programs[Target(t)] = record.Program{Path: "/usr/bin/proxy", Version: fmt.Sprintf("proxy %d.0", t+1)}
		for sc := range s.Scenarios {
			planned["all/"+Target(t)+"/"+Scenario(sc)] = s.Repeats
		}
	}
	err := set.WriteEnvironment(&record.Environment{Version: record.Version, Plan: "sized.yaml", Start: begun, Command: []string{"planrun", "sized.yaml"}, Planrun: "(devel)",
		Hostname: "vm", OS: "linux", CPUs: cpus, NUMA: 1, MemoryMiB: 16384, Programs: programs})
	if err != nil {
		return err
	}
	if err := set.WriteStage(&record.Stage{Name: "all", Round: 1, Start: begun, Order: "blocked", Rounds: 1, Planned: planned}); err != nil {
		return err
	}
	return set.WriteEnd(&record.End{})
}

// A maker makes the runs of a set.
type maker struct {
	set      *record.Set
	size     Size
	n        int                     // runs so far
	recorded map[[2]int]*record.Data // target, variant -> what was recorded, without samples
}

// run writes a run. The first of a recording is written whole; the others link its files.
func (m *maker) run(target, scenario, repeat int) error {
	// Scenarios have other recordings, so that their figures differ.
	variants := m.size.Recordings
	if variants == 0 {
		variants = m.size.Repeats + min(3, m.size.Scenarios-1)
	}
	key := [2]int{target, (repeat + scenario) % variants}
	d := m.recorded[key]
	first := d == nil
	if first {
		d = Recording(target, key[1], m.size.Seconds, m.size.Trouble)
	}
	r := *d.Run
	r.Coord = record.Coord{Stage: "all", Scenario: Scenario(scenario), Target: Target(target), Round: 1, Repeat: repeat + 1}
	r.Start = begun.Add(time.Duration(m.n*(m.size.Seconds+5)) * time.Second)
	m.n++
	if !first {
		if err := m.set.WriteRun(&r); err != nil {
			return err
		}
		for _, f := range []string{"series.jsonl", "latency.hlog", "events.jsonl"} {
			if err := os.Link(m.set.Path("runs", d.Run.ID, f), m.set.Path("runs", r.ID, f)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := m.record(&r, d); err != nil {
		return err
	}
	m.recorded[key] = &record.Data{Run: &r}
	return nil
}

// record writes a run with what was recorded of it, second by second, as an engine would.
func (m *maker) record(r *record.Run, d *record.Data) error {
	w, err := m.set.StartRun(r, record.WriterOptions{Every: time.Hour})
	if err != nil {
		return err
	}
	for _, e := range d.Events {
		w.Event(e)
	}
	for len(d.Points) > 0 {
		n := 0
		for n < len(d.Points) && d.Points[n].T < d.Points[0].T+1 {
			n++
		}
		w.Points(d.Points[:n]...)
		d.Points = d.Points[n:]
		if len(d.Seconds) > 0 {
			w.Seconds(d.Seconds[0])
			d.Seconds = d.Seconds[1:]
		}
		w.Flush()
	}
	w.Seconds(d.Seconds...)
	return w.Finish(r)
}

// Recording is a run of a target, whole, with everything that package measure derives of it. Its Coord is empty.
func Recording(target, variant, seconds int, trouble bool) *record.Data {
	d := recording(target, variant, seconds, trouble)
	measure.Derive(d)
	d.Run.Guards = measure.Guards(d, measure.DefaultThresholds(), measure.Machine{Ports: 28232})
	d.Run.Checks = measure.Checks(d)
	return d
}
