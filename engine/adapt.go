package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// verdictRun tells expressions about a run. Whole adds what only a finished run has: all windows, and its guards.
func verdictRun(r *record.Run, samples verdict.Samples, whole bool) *verdict.Run {
	out := &verdict.Run{Round: r.Coord.Round, Repeat: r.Coord.Repeat, Installed: r.Install, Metrics: r.Metrics[""], Absent: map[string]string{}, Phases: map[string]*verdict.Window{},
		Loads: map[string]*verdict.Window{}, Samples: samples, Names: map[string]any{}}
	switch r.Status {
	case record.Unmet, record.Interrupted:
		out.Outcome, out.Reason = verdict.Inconclusive, reasonOf(r)
	case record.Failed:
		out.Outcome, out.Reason = verdict.Errored, reasonOf(r)
	}
	if r.Published != nil {
		out.Ranked = map[string]bool{}
		for _, m := range r.Published.Ranked {
			out.Ranked[m] = true
		}
	}
	for n, v := range r.Params {
		out.Names["params."+n] = v
	}
	for _, p := range r.Phases {
		if out.Phases[p.Name] == nil {
			out.Phases[p.Name] = &verdict.Window{Start: p.Start, Loads: map[string]*verdict.Window{}}
		}
		out.Phases[p.Name].Seconds += max(0, p.End-p.Start)
	}
	if !whole {
		return out
	}
	for key, why := range r.Missing {
		if !strings.Contains(key, "/") {
			out.Absent[key] = why
		}
	}
	out.Answers = counts(r.Answers[""])
	for window, metrics := range r.Metrics {
		parts, answers := strings.Split(window, "/"), counts(r.Answers[window])
		switch {
		case parts[0] == "phase" && len(parts) == 2 && out.Phases[parts[1]] != nil:
			out.Phases[parts[1]].Metrics, out.Phases[parts[1]].Answers = metrics, answers
		case parts[0] == "phase" && len(parts) == 4 && out.Phases[parts[1]] != nil:
			out.Phases[parts[1]].Loads[parts[3]] = &verdict.Window{Metrics: metrics, Answers: answers}
		case parts[0] == "load":
			out.Loads[parts[1]] = &verdict.Window{Metrics: metrics, Answers: answers}
		}
	}
	out.Replicas = sync.OnceValue(func() map[string][]map[string]any { return replicas(r) })
	for _, g := range slices.Concat(r.Guards, r.Checks) {
		if !g.OK && g.Taints != "" {
			out.Taints = append(out.Taints, verdict.Taint{Guard: g.Name, Message: g.Message, Class: verdict.TaintClass(g.Taints), Load: g.Load, Aside: aside(r, g.Load)})
		}
	}
	return out
}

// reasonOf is why a run ended as it did, with the place in the plan that this is about.
func reasonOf(r *record.Run) string {
	if r.Where == "" || strings.Contains(r.Reason, r.Where) {
		return r.Reason
	}
	return r.Where + ": " + r.Reason
}

// counts are numbers as expressions have them; nil stays nil.
func counts(m map[string]int64) map[string]float64 {
	if m == nil {
		return nil
	}
	out := make(map[string]float64, len(m))
	for k, n := range m {
		out[k] = float64(n)
	}
	return out
}

// addRun adds a run to what became of its cell. A run of the cell that could not be installed is one that the harness spoiled
// where others could.
func addRun(cell *verdict.Cell, run *verdict.Run) {
	if cell.State == verdict.Failed {
		cell.Runs = append(cell.Runs, &verdict.Run{Outcome: verdict.Errored, Reason: cell.Reason})
		cell.State, cell.Reason = verdict.Ran, ""
	}
	cell.Runs = append(cell.Runs, run)
}

// addWhole adds to a cell what was published of all its runs together.
func addWhole(cell *verdict.Cell, r *record.Run) {
	if r.Published == nil {
		return
	}
	cell.Whole = map[string]float64{}
	for _, d := range r.ValueDescs {
		if v, ok := measure.WholeValue(d.Across, r.Published.Whole[d.Name]); ok {
			cell.Whole[d.Name] = v
		}
	}
}

// addNone notes that a cell has no run.
func addNone(cell *verdict.Cell, r *record.Run) {
	switch {
	case r.Status != record.Failed:
		cell.State, cell.Reason = verdict.Skipped, r.Reason
	case len(cell.Runs) > 0:
		cell.Runs = append(cell.Runs, &verdict.Run{Round: r.Coord.Round, Repeat: r.Coord.Repeat, Outcome: verdict.Errored, Reason: r.Reason})
	default:
		cell.State, cell.Reason = verdict.Failed, r.Reason
	}
}

// replicas lists the figures of each replica of each process.
func replicas(r *record.Run) map[string][]map[string]any {
	out := map[string][]map[string]any{}
	for _, p := range r.Processes {
		for p.Replica >= len(out[p.Name]) {
			out[p.Name] = append(out[p.Name], map[string]any{})
		}
		for name, v := range r.Metrics[fmt.Sprintf("replica/%s/%d", p.Name, p.Replica)].All() {
			out[p.Name][p.Replica][name] = v
		}
	}
	return out
}

// eventsOf lists what happened by kind. A kind that was watched is there even if nothing of it happened: the engine watches
// its processes and actions.
func eventsOf(d *record.Data) map[string][]verdict.Event {
	out := map[string][]verdict.Event{}
	for _, k := range watchedEvents {
		if d.Run.Published != nil {
			break // nobody watched
		}
		out[k] = []verdict.Event{}
	}
	if slices.ContainsFunc(d.Run.Processes, func(p record.Process) bool { return p.Limits != nil && p.Limits.Memory > 0 }) ||
		slices.ContainsFunc(d.Run.Actions, func(a record.Action) bool { return a.Kind == "limit" }) {
		out["oom"] = []verdict.Event{}
	}
	for _, e := range d.Events {
		x := verdict.Event{At: e.T, Detail: e.Message}
		x.Process, _ = e.Fields["process"].(string)
		out[e.Kind] = append(out[e.Kind], x)
	}
	return out
}

// watchedEvents are the kinds of events that the engine always sees. An oom is seen only where a cgroup tells.
var watchedEvents = []string{"exit", "restart", "change", "fault", "phase", "abort", "probe", "replica", "reload"}

// derive computes the metrics, guards and self-checks of a finished run, with the plan's own metrics.
func (p *Program) derive(ctx context.Context, d *record.Data) {
	measure.Derive(d)
	run := verdictRun(d.Run, samplesOf(d), true)
	at := verdictCoord(d.Run.Coord)
	for _, x := range p.custom {
		r, ok := x.Eval(ctx, at, run)
		switch {
		case !ok:
		case r.Err != nil:
			d.Run.Missing[x.Name] = r.Err.Error()
		default:
			if v, is := r.Value.(float64); is {
				d.Run.Metrics[""].Set(x.Name, v) // which run reads, too
				delete(d.Run.Missing, x.Name)
			}
		}
	}
	if d.Run.Published != nil { // nothing was measured that could be guarded
		return
	}
	d.Run.Guards = measure.Guards(d, p.thresholds(), measure.Machine{Ports: machine.EphemeralPorts()})
	d.Run.Checks = measure.Checks(d)
}

// thresholds are those of the plan's host section.
func (p *Program) thresholds() measure.Thresholds {
	g := p.Host.Guards
	t := measure.DefaultThresholds()
	t.RateDelivered, t.GeneratorCPU = float64(g.RateDelivered), float64(g.GeneratorCPU)
	if g.ForeignCPU != nil {
		t.ForeignCPU, t.ForeignLimited = float64(*g.ForeignCPU), true
	}
	t.SendLag, t.OwnDelay, t.ClockStep, t.Shortest = g.SendLag, float64(g.OwnDelay), g.ClockStep, g.Shortest
	t.Descriptors, t.Ports = float64(g.Descriptors), float64(g.Ports)
	return t
}

// recoveryOf is when a scenario's targets are back, as its runs record it.
func recoveryOf(s dsl.Scenario) *record.Recovery {
	b := s.Recovery
	return &record.Recovery{Rate: float64(b.Rate), P99: float64(b.P99), SlackMs: float64(b.Slack) / float64(time.Millisecond), HoldS: b.Hold.Seconds()}
}

// aside reports whether a load is out of the headline figures: its guards taint only what is read of it.
func aside(r *record.Run, load string) bool {
	i := slices.IndexFunc(r.Loads, func(l record.Load) bool { return l.Name == load })
	return i >= 0 && !r.Loads[i].Headline
}
