package engine

import (
	"context"
	"maps"
	"time"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/origin"
)

// A clock compares the wall clock with the monotonic clock.
type clock struct{ wall, mono time.Time }

func newClock() clock {
	now := time.Now()
	return clock{now.Round(0), now}
}

// step is how far the wall clock moved against the monotonic clock since, in seconds.
func (c clock) step() float64 {
	now := time.Now()
	return (now.Round(0).Sub(c.wall) - now.Sub(c.mono)).Seconds()
}

// servers are cumulative counters of builtin servers, by name and replica.
type servers map[string]map[string]float64

// readServers asks the origins for their counters, so that a report can hold them against the load's own.
func (in *installation) readServers(ctx context.Context) servers {
	out := in.servedBefore()
	for _, name := range in.p.backends.Names() {
		for _, p := range in.replicas(name) {
			out.add(replicaName(name, p), served(ctx, p))
		}
	}
	return out
}

// served is what an origin counted since its start, also one that has ended; nil of an external command, or of one that
// died: that is an event of its own.
func served(ctx context.Context, p task.Process) map[string]float64 {
	var s origin.Sample
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := p.Sample(ctx, &s); err != nil {
		return nil
	}
	received, answered := s.Total()
	opened := int64(0)
	for _, l := range s.Listeners {
		opened += l.Opened
	}
	return map[string]float64{"requests": float64(received), "answered": float64(answered), "connections": float64(opened)}
}

// add adds counters to those of a server.
func (s servers) add(name string, counters map[string]float64) {
	for k, v := range counters {
		if s[name] == nil {
			s[name] = map[string]float64{}
		}
		s[name][k] += v
	}
}

func replicaName(name string, p task.Process) string { return name + "/" + itoa(p.Replica()) }

// since gives what was counted after an earlier reading.
func (s servers) since(before servers) servers {
	out := servers{}
	for name, counters := range s {
		out[name] = maps.Clone(counters)
		for k, v := range before[name] {
			out[name][k] -= v
		}
	}
	return out
}

// begin makes the installation serve a run: its processes are the run's.
func (in *installation) begin(r *run) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.run = r
	in.moved.ended, in.moved.came = nil, nil
	for _, p := range in.group.All() {
		r.rec.Processes = append(r.rec.Processes, processRecord(p, in.wants[p]))
	}
}

// over ends that. It notes which processes died.
func (in *installation) over(r *run) {
	in.mu.Lock()
	defer in.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	in.run = nil
	in.runs++
	if in.dead != "" {
		for i := range r.rec.Processes {
			p := &r.rec.Processes[i]
			for _, e := range r.data.Events {
				if e.Kind == "exit" && e.Fields["process"] == p.Name && e.Fields["replica"] == p.Replica {
					p.Died = e.Message
				}
			}
		}
	}
}
