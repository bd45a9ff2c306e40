package task

import (
	"context"
	"time"
)

// A Fault is what an action does to what is tested, for some time or at one moment.
type Fault struct {
	What   string // in words, after which " begins" and " ends" can stand: "pause of web/0"
	Moment bool   // it has no length, and the action itself tells of it: there is no event of its beginning and end
}

// An Effect is what a fault did, as the action saw it.
type Effect struct {
	Unfelt string // why it was not in force all the time; "" if it was, as far as the action sees

	Share            float64       // of drop: which share of the packets was to be dropped, from 0 to 1
	Packets, Dropped int64         // of drop: those that it was about, and those of them that were dropped
	Stopped          time.Duration // of pause: how long everything was seen to be stopped, from the first look to the last
	Unreached        bool          // of limit: what it limits was never used up
	Seen             string        // in words, what else shows that it was in force; may be empty
}

// DroppedMetric is the metric of the run that counts the packets that its drops dropped.
const DroppedMetric = "dropped_packets"

// Relays changes the fault relays of the installation.
type Relays interface {
	// Fault puts a toxic in force on the relay until the returned function takes it away. The relay forgets it by itself
	// after ttl, should the engine die.
	Fault(ctx context.Context, relay string, t Toxic, ttl time.Duration) (remove func(context.Context) error, err error)
}

// A Toxic is what a relay is asked to do to what passes it.
type Toxic struct {
	Kind       string  // as plans and relays name it: latency, bandwidth, reset-after, ...
	Says       string  // what it does, in words: latency of 20ms
	Direction  string  // down: what the backend answers; up: what it is sent; both
	Share      float64 // of the connections; 0: all
	Seed       uint64  // of whatever is drawn
	Attributes any     // of its kind, a type of package faults (faults.Latency, ...); it becomes JSON

	// What is asked for, in the unit in which the effect is measured: ms of delay, B/s, B of a piece or before the end. Unit
	// is empty where there is nothing to compare. Spread is the standard deviation that was asked for with it.
	Asked, Spread float64
	Unit          string
}
