package engine

import (
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
)

// fault notes a fault of an action of the run: events at its beginning and end, and what it did for guards and the report.
func (r *run) fault(kind, action, phase string) func(task.Fault) func(task.Effect) {
	return func(f task.Fault) func(task.Effect) {
		start := time.Now()
		tell := func(what string) {
			if !f.Moment {
				r.event("fault", f.What+what, map[string]any{"action": action})
			}
		}
		tell(" begins")
		return func(e task.Effect) {
			end := start
			if !f.Moment {
				end = time.Now()
			}
			tell(" ends")
			r.mu.Lock()
			defer r.mu.Unlock()
			r.rec.Facts.Faults = append(r.rec.Facts.Faults, record.Fault{Kind: kind, What: r.redact(f.What), Action: action, Phase: phase, Start: r.since(start), End: r.since(end),
				Gone: r.redact(e.Unfelt), Share: e.Share, Packets: e.Packets, Dropped: e.Dropped, StoppedS: e.Stopped.Seconds(), Unreached: e.Unreached, Seen: r.redact(e.Seen)})
			if kind == "drop" {
				sum := int64(0)
				for _, f := range r.rec.Facts.Faults {
					sum += f.Dropped
				}
				r.setValueLocked(task.DroppedMetric, float64(sum))
			}
		}
	}
}

// fault of an action that runs while a target is installed: nothing is measured yet.
func (in *installation) fault(f task.Fault) func(task.Effect) {
	tell := func(what string) {
		if !f.Moment {
			in.event("fault", f.What+what, nil)
		}
	}
	tell(" begins")
	return func(task.Effect) { tell(" ends") }
}
