package task

import (
	"context"
	"time"
)

// Backends changes how many replicas a backend has and which routes lead to backends, and lets the target know of it. What
// it changes stays until the end of the run. Where backends are processes, so are their replicas; a cluster has others
// that do the same, so that an action does not know which.
type Backends interface {
	// Scale returns when the target serves the change, or has not within the time that it has for that, which the record
	// says: a result and no error. Replicas that leave may still be about to end then.
	Scale(ctx context.Context, s Scale) error
	// Route as Scale.
	Route(ctx context.Context, r Routing) error
}

// A Scale says how many replicas a backend is to have, and how it gets there.
type Scale struct {
	Backend string
	To      int
	Over    time.Duration // one by one over this time; 0 is all at once
	Drain   string        // DrainNone or DrainAnnounceFirst
	Grace   time.Duration // of replicas that leave, between the signal that ends them and SIGKILL
	Within  time.Duration // how long the target has to serve the change
}

// How replicas leave.
const (
	DrainNone          = "none"           // they are told to end, and then the target is told that they are gone
	DrainAnnounceFirst = "announce-first" // the target is told first; they are told to end when it serves without them
)

// A Routing is a change of one route.
type Routing struct {
	Do         string // RouteAdd, RouteRemove or RouteToggle
	Host, Path string
	Backend    string        // that it leads to; "" where it is removed
	Within     time.Duration // how long the target has to serve the change
}

// What can be done to a route.
const (
	RouteAdd    = "add-route"
	RouteRemove = "remove-route"
	RouteToggle = "toggle-route" // remove it if it is there, else add it
)

// PropagationMetric is the metric of the run that the slowest change's time becomes, in milliseconds.
const PropagationMetric = "route_propagation_ms"
