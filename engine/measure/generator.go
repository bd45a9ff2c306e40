package measure

import (
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// GeneratorSeries are what load workers say of themselves, one source for each load, one replica for each worker.
var GeneratorSeries = []series.SeriesDesc{
	{Name: "generator_cpu_s", Unit: "s", Shape: series.Counter, Class: series.Timing, Doc: "CPU time of the load's workers"},
	{Name: "generator_run_wait_s", Unit: "s", Shape: series.Counter, Class: series.Timing, Doc: "time during which threads of the load's workers were ready to run and had no CPU"},
	{Name: "generator_gc_pause_s", Unit: "s", Shape: series.Counter, Class: series.Timing, Doc: "pauses of the load's workers for their collector"},
	{Name: "generator_fds", Shape: series.Gauge, Class: series.Count, Doc: "open file descriptors of the load's workers"},
	{Name: "generator_fd_limit", Shape: series.Gauge, Class: series.Count, Doc: "file descriptors that the load's workers may have open"},
	{Name: "generator_open", Shape: series.Gauge, Class: series.Count, Doc: "open connections of the load"},
	{Name: "generator_in_flight", Shape: series.Gauge, Class: series.Count, Doc: "requests of the load that wait for their answer"},
	{Name: "generator_waiting", Shape: series.Gauge, Class: series.Count, Doc: "requests of the load that are due and wait for a connection"},
}

// HealthPoints are the points to record of a worker's health; start is when the load began, in seconds since the run did.
// What the worker could not read is left out.
func HealthPoints(name string, worker int, start float64, h load.Health) []series.Point {
	point := func(s string, v float64) series.Point {
		return series.Point{T: start + h.Second, Series: s, Source: name, Replica: worker, V: v}
	}
	out := []series.Point{
		point("generator_cpu_s", h.CPUSeconds),
		point("generator_gc_pause_s", float64(h.GCPauseNs)/1e9),
		point("generator_fds", float64(h.Descriptors)),
		point("generator_open", float64(h.Open)),
		point("generator_in_flight", float64(h.InFlight)),
		point("generator_waiting", float64(h.Waiting)),
	}
	if h.RunWaitNs != nil {
		out = append(out, point("generator_run_wait_s", float64(*h.RunWaitNs)/1e9))
	}
	if h.DescriptorLimit > 0 {
		out = append(out, point("generator_fd_limit", float64(h.DescriptorLimit)))
	}
	return out
}
