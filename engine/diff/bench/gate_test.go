package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/stats"
)

func TestInTurns(t *testing.T) {
	for _, c := range []struct {
		sets    int
		swapped bool
		want    []int
	}{{1, false, []int{0, 1}}, {2, false, []int{0, 1, 1, 0}}, {2, true, []int{1, 0, 0, 1}}, {3, false, []int{0, 1, 1, 0, 0, 1}}} {
		if got := inTurns(c.sets, c.swapped); !slices.Equal(got, c.want) {
			t.Errorf("%d sets a side: %v, want %v", c.sets, got, c.want)
		}
	}
}

// Would no pair be left out, the quantile is Student's; leaving out the largest makes what is left smaller, so the quantile is
// larger, by as much as makes the gate nearly the same.
func TestQuantile(t *testing.T) {
	for each, student := range map[int]float64{1: 4.3027, 2: 2.7764, 5: 2.2281} { // at 0.975, of 2, 4 and 10 degrees of freedom
		if got := quantile(2, each); math.Abs(got/student-1) > 0.03 { // of two pairs none is left out
			t.Errorf("two pairs of %d: %v, want Student's %v", each, got, student)
		}
	}
	if got := quantile(5, 2); got < 1.1*2.2281 || got > 1.8*2.2281 {
		t.Errorf("five pairs of 2: %v, Student's would be 2.2281 of all five", got)
	}
}

// simulated is a pair whose sets are apart by drift, runs of a set by sigma, B by slower, and set number hit by disturbance.
func simulated(r *rand.Rand, sigma, drift, slower, disturbance float64) *pair {
	const sets, runs = 4, 1
	p := &pair{order: inTurns(sets, r.IntN(2) == 1), rows: map[string]diff.JSONRow{}}
	hit := r.IntN(2 * sets)
	var side [2][]float64
	for i, s := range p.order {
		at := drift*r.NormFloat64() + float64(s)*slower
		if i == hit {
			at += disturbance
		}
		for range runs {
			side[s] = append(side[s], 100*math.Exp(at+sigma*r.NormFloat64()))
		}
	}
	ratio := stats.Median(side[1]) / stats.Median(side[0])
	p.rows[cpuTime.name] = diff.JSONRow{Metric: cpuTime.name, Ratio: &ratio, A: diff.JSONSide{Runs: side[0]}, B: diff.JSONSide{Runs: side[1]}}
	return p
}

// The rule, tried on many benches: lognormal runs, drift between sets, and one pair of the five in which a set was half as dear
// again. The gate's alarms are as many as it is for, with and without such a pair, and it finds what is well beyond the drift.
func TestGateOfSimulatedSets(t *testing.T) {
	const benches, sigma, drift, slower = 400, 0.008, 0.009, 0.05
	k := quantile(5, 2)
	for _, c := range []struct {
		disturbance  float64
		alarms       [2]float64 // of all A/A pairs
		found, wider float64    // at least; the median gate, in percent, at most
	}{{0, [2]float64{0.01, 0.045}, 0.95, 3}, {0.4, [2]float64{0.001, 0.04}, 0.95, 3}} {
		r := rand.New(rand.NewPCG(8, 8))
		var alarms, found, pairs int
		var gates []float64
		for range benches {
			var calm [][]float64
			for i := range 5 {
				disturbance := 0.0
				if i == 3 {
					disturbance = c.disturbance
				}
				calm = append(calm, simulated(r, sigma, drift, 0, disturbance).logs(cpuTime))
			}
			gate := k * trimmed(calm)
			gates = append(gates, 100*gate)
			for range 10 {
				pairs++
				if simulated(r, sigma, drift, 0, 0).logs(cpuTime)[0] > gate {
					alarms++
				}
				if simulated(r, sigma, drift, slower, 0).logs(cpuTime)[0] > gate {
					found++
				}
			}
		}
		a, f, g := float64(alarms)/float64(pairs), float64(found)/float64(pairs), stats.Median(gates)
		t.Logf("disturbance %v: %.3f alarms, %.3f found, the median gate at %.1f %%", c.disturbance, a, f, g)
		if a < c.alarms[0] || a > c.alarms[1] || f < c.found || g > c.wider {
			t.Errorf("disturbance %v: %.3f alarms (want %v), %.3f found (want %v), the median gate at %.1f %% (want %v)", c.disturbance, a, c.alarms, f, c.found, g, c.wider)
		}
	}
}

// What five pairs give by hand: the largest is left out, and the sides of a metric that is better high are turned round.
func TestNoiseOf(t *testing.T) {
	var pairs []*pair
	for _, x := range []float64{0.01, -0.01, 0.01, 0.9, -0.01} {
		ratio := math.Exp(x)
		p := &pair{order: inTurns(1, false), rows: map[string]diff.JSONRow{}}
		for _, m := range metrics {
			p.rows[m.name] = diff.JSONRow{Ratio: &ratio}
		}
		pairs = append(pairs, p)
	}
	k := quantile(5, 1)
	for _, m := range metrics {
		n := noiseOf(m, pairs)
		want := math.Exp(0.01 * k)
		if !m.lower {
			want = 1 / want
		}
		if math.Abs(n.scale-0.01) > 1e-12 || math.Abs(n.gate-want) > 1e-12 {
			t.Errorf("%s: %+v, want 0.01 and %v", m.name, n, want)
		}
	}
}

// The sets of ABBA, read as ABAB: 1 and 3 against 2 and 4.
func TestLogs(t *testing.T) {
	ratio := 1.2 // as diff gave it
	p := &pair{order: inTurns(2, false), rows: map[string]diff.JSONRow{cpuTime.name: {Ratio: &ratio, A: diff.JSONSide{Runs: []float64{1, 1, 4, 4}}, B: diff.JSONSide{Runs: []float64{2, 2, 3, 3}}}}}
	got := p.logs(cpuTime) // the sets were 1, 2, 3, 4
	if len(got) != 2 || math.Abs(math.Exp(got[0])-1.2) > 1e-12 || math.Abs(math.Exp(got[1])-3./2) > 1e-12 {
		t.Errorf("%v, want the logarithms of 1.2 and of (2+4)/(1+3)", got)
	}
	row := p.rows[cpuTime.name]
	row.A.Runs = row.A.Runs[:3] // a run is missing, so which is of which set is not known
	p.rows[cpuTime.name] = row
	if got := p.logs(cpuTime); len(got) != 1 {
		t.Errorf("with a run missing: %v", got)
	}
}

func TestDisturbed(t *testing.T) {
	speed := func(ratio float64) map[string]diff.JSONRow {
		return map[string]diff.JSONRow{hostSpeed: {Ratio: &ratio}}
	}
	rows := func(foreignCPU, stolenCPU float64, tainted ...string) map[string]diff.JSONRow {
		return map[string]diff.JSONRow{
			foreign:      {A: diff.JSONSide{Runs: []float64{0.01, 0.02}}, B: diff.JSONSide{Runs: []float64{0.01, foreignCPU}}},
			stolen:       {A: diff.JSONSide{Runs: []float64{0, stolenCPU}}},
			cpuTime.name: {Tainted: tainted},
		}
	}
	for _, c := range []struct {
		rows map[string]diff.JSONRow
		want string
	}{{rows(0.02, 0), ""}, {rows(0.4, 0), "foreign_cpu was 0.40 cores in a run"}, {rows(0, 0.3), "stolen_cpu was 0.30 cores"}, {rows(0, 0, "B: busy"), "B: busy"},
		{speed(0.98), ""}, {speed(1.02), ""}, {speed(0.96), "host_speed of B was 0.960 of A's"}, {speed(1.2), "host_speed of B was 1.200 of A's"}, {map[string]diff.JSONRow{}, ""}} {
		if got := (&pair{rows: c.rows}).judge(0.15, 0.03); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, args := range []string{"-pairs 0", "-sets 1 -repeats 2", "-sets 0", "x"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
	if o, err := parse(nil); err != nil || o.sets*o.repeats < stats.MinRuns {
		t.Error(fmt.Sprint(o, err))
	}
}
