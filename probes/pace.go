package probes

import (
	"time"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

// A pace is what every probe has: its interval, and a count of the samples that did not happen in time.
type pace struct {
	Every time.Duration `yaml:"every" default:"1s" min:"10ms" doc:"the interval between samples"`

	last  float64
	begun bool
	gaps  float64
}

var gapsDesc = series.SeriesDesc{Name: "probe_gaps", Shape: series.Counter, Class: series.Count,
	Doc: "samples that a probe missed: intervals that passed without one, by probe"}

// step notes one sample of a probe and emits how many are missing so far. A sample that is late by less than half an
// interval is none that is missing; one that comes three intervals after the last means two.
func (p *pace) step(kind string, env *task.ProbeEnv) {
	if p.begun && p.Every > 0 {
		if n := int((env.Now-p.last)/p.Every.Seconds() - 0.5); n > 0 {
			p.gaps += float64(n)
		}
	}
	p.begun, p.last = true, env.Now
	env.Emit(series.Point{T: env.Now, Series: gapsDesc.Name, Source: kind, V: p.gaps})
}
