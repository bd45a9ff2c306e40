package main

import (
	"math"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/stats"
)

// A metric that is gated.
type metric struct {
	name  string
	lower bool // is better
}

var (
	cpuTime = metric{"sut_cpu_us_per_req", true}
	metrics = []metric{{"req_per_s", false}, cpuTime}
)

// gateOf is the limit of a metric's ratio: beyond the largest |ln| of ratio and noise floor of the pairs.
func gateOf(m metric, pairs []*pair) float64 {
	g := 0.0
	for _, p := range pairs {
		g = max(g, math.Abs(math.Log(*p.rows[m.name].Ratio)), math.Log(*p.rows[m.name].Floor))
	}
	if !m.lower {
		g = -g
	}
	return math.Exp(g)
}

// sign stands between a ratio and the gate that it is to pass.
func (m metric) sign() string {
	if m.lower {
		return "<="
	}
	return ">="
}

// worse counts the pairs of which diff itself says that they got worse, beyond the noise of their own runs.
func (m metric) worse(pairs []*pair) (n int) {
	for _, p := range pairs {
		if p.rows[m.name].Outcome == compare.Worse {
			n++
		}
	}
	return n
}

func (m metric) median(pairs []*pair) float64 {
	var v []float64
	for _, p := range pairs {
		v = append(v, *p.rows[m.name].Ratio)
	}
	return stats.Median(v)
}
