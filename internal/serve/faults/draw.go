package faults

import (
	"math"
	"math/rand/v2"
	"time"
)

const uniform = "uniform"

// A distribution draws delays whose mean is the latency.
type distribution struct {
	part int // the jitter is at most this part of the latency
	draw func(r *rand.Rand, latency, jitter float64) float64
}

var distributions = map[string]distribution{
	uniform:  {1, func(r *rand.Rand, latency, jitter float64) float64 { return latency + jitter*(2*r.Float64()-1) }},
	"normal": {3, normal},
	"pareto": {1, pareto},
}

// draw is the next delay.
func (l Latency) draw(r *rand.Rand) time.Duration {
	if l.Jitter == 0 {
		return l.Latency
	}
	return min(MaxLatency, time.Duration(distributions[l.distribution()].draw(r, float64(l.Latency), float64(l.Jitter))))
}

// normal draws again what is further away than three standard deviations, so that the mean stays.
func normal(r *rand.Rand, latency, jitter float64) float64 {
	for {
		if z := r.NormFloat64(); math.Abs(z) <= 3 {
			return latency + jitter*z
		}
	}
}

// pareto has the mean m and standard deviation s: its shape a is 1 + sqrt(1 + (m/s)^2), its least value m (a-1)/a. See
// https://en.wikipedia.org/wiki/Pareto_distribution.
func pareto(r *rand.Rand, m, s float64) float64 {
	a := 1 + math.Sqrt(1+m*m/(s*s))
	return m * (a - 1) / a * math.Pow(1-r.Float64(), -1/a)
}
