package faults

import (
	"math"
	"math/rand/v2"
	"time"
)

const uniform = "uniform"

// A distribution draws delays whose mean is the latency.
type distribution struct {
	part   int    // the jitter is at most this part of the latency
	most   string // that, in words
	beyond string // what a larger one would mean
	draw   func(r *rand.Rand, latency, jitter float64) float64
}

const belowZero = "delays below zero would be cut off, and the mean not be the latency"

// The delays of pareto are never below zero. But with a deviation as large as the mean more than half of the variance is of
// one delay in a thousand, and with twice as much five sixths: few runs would have the deviation that was asked for.
var distributions = map[string]distribution{
	uniform:  {1, "the latency", belowZero, func(r *rand.Rand, latency, jitter float64) float64 { return latency + jitter*(2*r.Float64()-1) }},
	"normal": {3, "a third of the latency", belowZero, normal},
	"pareto": {1, "the latency", "a larger deviation would come from delays too rare for a run to have them", pareto},
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
