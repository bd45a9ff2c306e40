package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// A host is a machine of the tests: time goes on by one with each run, and a request costs what the host makes of it then.
type host struct {
	now   int
	cost  func(now int) float64 // of the worker's request, in seconds; the peer's is twice as much
	speed func(now int) float64
	log   []string // who ran
}

// A pretender is a client on it.
type pretender struct {
	*host
	as      string
	factor  float64
	foreign float64
	claims  int64

	startForeign float64
}

func (p pretender) name() string { return p.as }

func (p pretender) run(row, string, time.Duration) (run, error) {
	p.log = append(p.log, p.as)
	p.now++
	start := startRequests * p.cost(p.now)
	return run{Requests: 1000, Claimed: p.claims, Connections: 1, CPU: 1000*p.factor*p.cost(p.now) + start, Wall: 1, Foreign: p.foreign, StartCPU: start}, nil
}

func (p pretender) start(row) (run, error) {
	p.log = append(p.log, "start")
	p.now++
	return run{CPU: startRequests * p.cost(p.now), Foreign: p.startForeign}, nil
}

// startRequests is how many of the worker's requests need as much as a client's start.
const startRequests = 100

func steady(int) float64 { return 1 }

// pretend is a comparison of the worker with wrk on such a host.
func pretend(h *host) comparison {
	return comparison{
		row:  row{name: "a", peer: "wrk", connections: 1},
		mine: pretender{h, "planrun", 1, 0, 1000, 0}, theirs: pretender{h, "wrk", 2, 0, 1000, 0},
		speed:    func() (float64, error) { return h.speed(h.now), nil },
		duration: time.Second,
	}
}

// A host that becomes slower at a steady pace changes no ratio, whoever begins, but for the peer's start: it is taken off each of
// its runs as it was in the middle of the first round, so that what it needs more in a later one counts as its requests'.
func TestDriftCancels(t *testing.T) {
	h := &host{cost: func(now int) float64 { return 0.001 * (1 + 0.1*float64(now)) }, speed: func(int) float64 { return 10 }}
	rounds, err := pretend(h).all(2, limits{apart: 0.1, foreign: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if want := "planrun wrk start wrk planrun wrk planrun planrun wrk"; strings.Join(h.log, " ") != want {
		t.Errorf("%s; want %s", h.log, want)
	}
	for i, r := range rounds {
		middle := []float64{3, 7.5}[i]
		slower := (1 + 0.1*middle) / (1 + 0.1*3)
		want := 1000 / (2000 + startRequests*(1-1/slower))
		if got := r.side(false).cost() / r.side(true).cost(); math.Abs(got-want) > 1e-9 || math.Abs(got/0.5-1) > 0.05*(slower-1)+1e-9 {
			t.Errorf("round %d: ratio %v, want %v", i+1, got, want)
		}
		if x := r.runs[0]; x.Round != i+1 || x.Try != 1 || !x.First || x.Theirs != (i == 1) || r.runs[1].First || r.runs[2].First || !r.runs[3].First {
			t.Errorf("round %d: %+v", i+1, r.runs)
		}
	}
}

// A round is measured again for what the machine did, as often as a row may, and never for its ratio.
func TestDisturbedRounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		speed   func(now int) float64
		cost    func(now int) float64
		foreign float64 // of the worker's runs
		start   float64 // of the peer's start
		again   int
		want    string // of each round: c counts, d counts disturbed, a was measured again
	}{
		{"calm", func(int) float64 { return 10 }, steady, 0, 0, 5, "cc"},
		{"a ratio that jumps", func(int) float64 { return 10 }, func(now int) float64 { return float64(now * now % 7) }, 0, 0, 5, "cc"},
		{"within the limits", func(now int) float64 { return 10 + float64(now%2)*0.9 }, steady, 0.1, 0.1, 5, "cc"},
		{"slower during the first round's last run", func(now int) float64 { return 10 - 2*float64(min(1, now/5)) }, steady, 0, 0, 5, "acc"},
		{"others", func(int) float64 { return 10 }, steady, 0.11, 0, 3, "aaadd"},
		{"others during the peer's start", func(int) float64 { return 10 }, steady, 0, 0.11, 2, "aadc"},
		{"never calm", func(now int) float64 { return 10 + float64(now%2)*1.1 }, steady, 0, 0, 1, "add"},
		{"never again", func(now int) float64 { return 10 + float64(now%2)*1.1 }, steady, 0, 0, 0, "dd"},
	} {
		h := &host{cost: c.cost, speed: c.speed}
		of := pretend(h)
		of.mine, of.theirs = pretender{h, "planrun", 1, c.foreign, 1000, 0}, pretender{h, "wrk", 2, 0, 1000, c.start}
		rounds, err := of.all(2, limits{apart: 0.1, foreign: 0.1, again: c.again})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range rounds {
			switch {
			case r.discarded:
				got += "a"
			case r.disturbed:
				got += "d"
			default:
				got += "c"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if res := (result{rounds: rounds}); len(res.counted(true)) != 2 || len(res.counted(false)) != len(rounds)-2 {
			t.Errorf("%s: %d rounds count", c.name, len(res.counted(true)))
		}
	}
}

// Which round it was and with which time is said of each run, and how fast the host was beside it.
func TestTriesAreTold(t *testing.T) {
	h := &host{cost: steady, speed: func(now int) float64 { return []float64{10, 11, 12, 13, 14}[min(now, 4)] }}
	of := pretend(h)
	of.theirs = nil
	rounds, err := of.all(2, limits{apart: 0.05, again: 5})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rounds {
		for _, x := range r.runs {
			got = append(got, fmt.Sprintf("%d.%d %v-%v", x.Round, x.Try, x.SpeedBefore, x.SpeedAfter))
		}
	}
	if want := []string{"1.1 10-11", "1.2 11-12", "1.3 12-13", "1.4 13-14", "1.5 14-14", "2.1 14-14"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// One thing that goes wrong ends a row, and what was measured until then is kept.
func TestRoundFails(t *testing.T) {
	h := &host{cost: steady, speed: func(int) float64 { return 10 }}
	of := pretend(h)
	of.theirs = pretender{h, "wrk", 2, 0, 2000, 0}
	rounds, err := of.all(2, limits{})
	if err == nil || !strings.HasPrefix(err.Error(), "round 1: wrk: it claims 2000") || len(rounds) != 1 || len(rounds[0].runs) != 2 {
		t.Errorf("%v, %+v", err, rounds)
	}
	of.speed = func() (float64, error) { return 0, errors.New("no clock") }
	if _, err := of.all(1, limits{}); err == nil || !strings.Contains(err.Error(), "no clock") {
		t.Errorf("%v", err)
	}
}
