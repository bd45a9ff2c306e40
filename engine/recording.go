package engine

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// takeSample records what a load worker reports.
func (r *run) takeSample(name string, worker int, offset float64, s load.Sample) {
	r.out.Seconds(s.Seconds...)
	for i := range s.Seconds { // the writer has copies
		x := &s.Seconds[i]
		for _, h := range []*hdr.Histogram{x.Latency, x.Service, x.Lag, x.Connect, x.TLS} {
			h.Pack()
		}
	}
	points := measure.HealthPoints(name, worker, offset, s.Health)
	r.out.Points(points...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.data.Seconds = append(r.data.Seconds, s.Seconds...)
	r.data.Points = append(r.data.Points, points...)
	for _, e := range s.Examples {
		if len(r.rec.Examples) < 20 {
			r.rec.Examples = append(r.rec.Examples, name+": "+e)
		}
	}
	r.progress.Load(r.rec.Coord, name, s)
}

// point records a reading of a probe.
func (r *run) point(p series.Point) {
	r.out.Points(p)
	r.mu.Lock()
	r.data.Points = append(r.data.Points, p)
	r.mu.Unlock()
	r.progress.Point(r.rec.Coord, p)
}

// event records something that happened.
func (r *run) event(kind, message string, fields map[string]any) {
	e := record.Event{T: r.since(time.Now()), Kind: kind, Message: r.redact(message), Fields: fields}
	r.out.Event(e)
	r.mu.Lock()
	r.data.Events = append(r.data.Events, e)
	r.mu.Unlock()
	r.progress.Event(r.rec.Coord, e)
}

// harness notes that the harness itself did not work; a self-check says so.
func (r *run) harness(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.harnessLocked(err)
}

func (r *run) harnessLocked(err error) {
	text := r.redact(err.Error())
	r.rec.Facts.Harness = append(r.rec.Facts.Harness, text)
	slog.Error(text)
}

func (r *run) addLoad(l record.Load) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rec.Loads = append(r.rec.Loads, l)
	return len(r.rec.Loads) - 1
}

func (r *run) editLoad(i int, f func(*record.Load)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.rec.Loads[i])
}

func (r *run) noteProcess(p task.Process, want []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rec.Processes = append(r.rec.Processes, processRecord(p, want))
}

func processRecord(p task.Process, want []int) record.Process {
	out := record.Process{Name: p.Name(), Role: p.Role(), Replica: p.Replica(), PID: p.PID(), CPUs: p.CPUs(), WantCPUs: want, Ports: p.Ports()}
	if c, ok := p.(interface{ Command() []string }); ok {
		out.Command = c.Command()
	}
	if l, ok := p.(interface{ Limited() task.Limits }); ok {
		out.Limits = limitsRecord(l.Limited())
	}
	if s, ok := p.(interface{ Spec() task.ProcessSpec }); ok {
		out.WantLimits = limitsRecord(s.Spec().Limits)
	}
	return out
}

func limitsRecord(l task.Limits) *record.Limits {
	if l.Memory == 0 && l.CPU == 0 && l.Processes == 0 {
		return nil
	}
	return &record.Limits{Memory: l.Memory, CPU: l.CPU, Processes: l.Processes}
}

// dirOf is the working directory of a process that belongs to the run.
func (r *run) dirOf(kind, name string, i int) string {
	return filepath.Join(r.out.Dir, kind, fmt.Sprintf("%s-%d", name, i))
}

func (r *run) logOf(p task.Process) string {
	if l, ok := p.(interface{ Log() string }); ok {
		return l.Log()
	}
	return "in the result set"
}
