package main

import (
	"math"
	"math/rand/v2"
	"slices"

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

// alarm is how often a pair of the same thing may pass a gate on the bad side.
const alarm = 0.025

// A noise is what A/A pairs say of a metric.
type noise struct {
	scale float64 // of the logarithm of an A/A ratio
	gate  float64 // the limit of a ratio
}

// noiseOf finds the gate of a metric. What is known of A/A ratios is that their logarithms are around 0; each pair gives one or
// two of them, and the pair that is furthest off is left out, whatever it says: its disturbance need not show in any guard.
func noiseOf(m metric, pairs []*pair) noise {
	logs := make([][]float64, len(pairs))
	for i, p := range pairs {
		logs[i] = p.logs(m)
	}
	s := trimmed(logs)
	g := quantile(len(logs), len(logs[0])) * s
	if !m.lower {
		g = -g
	}
	return noise{s, math.Exp(g)}
}

// trimmed is the root mean square of what the pairs give, without the pair in which it is the largest (of less than three pairs,
// of all).
func trimmed(pairs [][]float64) float64 {
	squares := make([]float64, len(pairs))
	for i, p := range pairs {
		for _, x := range p {
			squares[i] += x * x / float64(len(p))
		}
	}
	slices.Sort(squares)
	if len(squares) > 2 {
		squares = squares[:len(squares)-1]
	}
	return math.Sqrt(stats.Mean(squares))
}

// quantile is by how many times trimmed one more normal value around 0 is passed with the probability alarm, where trimmed is of
// so many pairs that give so many values each: Student's quantile would it leave out no pair. It is found by trying, the same
// way each time.
func quantile(pairs, each int) float64 {
	const tries = 100000
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, tries)
	sample := make([][]float64, pairs)
	for i := range v {
		for p := range sample {
			sample[p] = sample[p][:0]
			for range each {
				sample[p] = append(sample[p], r.NormFloat64())
			}
		}
		v[i] = r.NormFloat64() / trimmed(sample)
	}
	slices.Sort(v)
	return v[int(float64(tries)*(1-alarm))]
}

// sign stands between a ratio and the gate that it is to pass.
func (m metric) sign() string {
	if m.lower {
		return "<="
	}
	return ">="
}

// worse counts the pairs of which diff itself says that they got worse, beyond the noise that their own sets show.
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
