package main

import (
	"fmt"
	"slices"
	"time"
)

// A rival is a client that does not say itself what its start took.
type rival interface {
	client
	start(r row) (run, error)
}

// A comparison is a row with those who take part in it.
type comparison struct {
	row      row
	mine     client
	theirs   rival                   // nil where the worker is measured alone
	speed    func() (float64, error) // of the clients' CPU at the moment
	duration time.Duration           // of a run
}

// A round is what the clients did in turn, and how fast their CPU was between.
type round struct {
	runs      []run     // in the order in which they were made
	start     run       // of the peer, of this round or of an earlier one
	speeds    []float64 // before the first of them, and after each and after the peer's start
	others    float64   // share of the clients' CPU that others had in the peer's start; 0 if it is of an earlier round
	discarded bool      // it was measured again
	disturbed bool      // by what the machine did, and not by what came out
}

// A turn is what is done between two looks at the host's speed.
type turn int

const (
	ownTurn   turn = iota
	theirTurn      // the peer's
	startTurn      // the peer's start
)

// turns are the order of a round, which is its own reverse: a machine that becomes slower or faster at a steady pace is no
// advantage for anyone. Every second round the other side begins. The peer's start is measured in the first one only: it takes
// a second, and little CPU time, so that what the start needs more or less in a later round is a small part of a run.
func (c comparison) turns(number int) []turn {
	switch {
	case c.theirs == nil:
		return []turn{ownTurn}
	case number == 1:
		return []turn{ownTurn, theirTurn, startTurn, theirTurn, ownTurn}
	case number%2 == 0:
		return []turn{theirTurn, ownTurn, ownTurn, theirTurn}
	}
	return []turn{ownTurn, theirTurn, theirTurn, ownTurn}
}

// round makes one round, of a number from 1 on; try is how often it was measured, with this time, and start the peer's as
// measured before.
func (c comparison) round(number, try int, start run) (out round, err error) {
	speed, err := c.speed()
	if err != nil {
		return out, fmt.Errorf("measuring the host's speed: %w", err)
	}
	out.speeds = append(out.speeds, speed)
	order := c.turns(number)
	out.start = start
	for _, t := range order {
		x, err := c.take(t)
		if err != nil {
			return out, err
		}
		before := speed
		if speed, err = c.speed(); err != nil {
			return out, fmt.Errorf("measuring the host's speed: %w", err)
		}
		out.speeds = append(out.speeds, speed)
		if t == startTurn {
			out.start, out.others = x, x.Foreign
			continue
		}
		x.Row, x.Round, x.Try, x.First = c.row.label(), number, try, t == order[0]
		x.SpeedBefore, x.SpeedAfter = before, speed
		out.runs = append(out.runs, x)
		if err := x.same(c.row, c.duration); err != nil {
			return out, fmt.Errorf("%s: %w", x.Who, err)
		}
	}
	for i := range out.runs {
		if x := &out.runs[i]; x.Theirs || c.row.mine != "" {
			x.StartCPU, x.StartRequests = out.start.CPU, out.start.Requests
		}
	}
	return out, nil
}

func (c comparison) take(t turn) (x run, err error) {
	switch t {
	case startTurn:
		return c.theirs.start(c.row)
	case theirTurn:
		x, err = c.theirs.run(c.row, c.row.path, c.duration)
		x.Who, x.Theirs = c.theirs.name(), true
	default:
		x, err = c.mine.run(c.row, c.row.path, c.duration)
		x.Who = c.mine.name()
	}
	return x, err
}

// side is all that one side did, as if it were one run.
func (r round) side(theirs bool) (sum run) {
	for _, x := range r.runs {
		if x.Theirs == theirs {
			sum.Requests, sum.StartRequests = sum.Requests+x.Requests, sum.StartRequests+x.StartRequests
			sum.CPU, sum.StartCPU, sum.Wall = sum.CPU+x.CPU, sum.StartCPU+x.StartCPU, sum.Wall+x.Wall
		}
	}
	return sum
}

// moved is by which factor the host's speed was apart within the round.
func (r round) moved() float64 { return slices.Max(r.speeds) / slices.Min(r.speeds) }

// foreign is the largest share of the clients' CPU that others had in a run, or in the peer's start.
func (r round) foreign() (most float64) {
	most = r.others
	for _, x := range r.runs {
		most = max(most, x.Foreign)
	}
	return most
}

// limits are what a machine may do in a round that is not measured again.
type limits struct {
	apart   float64 // part by which the host's highest speed may be above its lowest
	foreign float64 // share of the clients' CPU that others may have
	again   int     // rounds of a row, at most, that are measured again
}

// disturb says whether the machine disturbed a round. It must not look at what the clients' requests cost: rounds would be
// chosen by their result.
func (l limits) disturb(r round) bool { return r.moved() > 1+l.apart || r.foreign() > l.foreign }
