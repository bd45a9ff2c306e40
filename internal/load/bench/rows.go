package main

import (
	"time"

	"github.com/planrun/planrun/internal/load"
)

// A row is one comparison: a scenario, on which the worker and a peer take turns.
type row struct {
	name        string
	peer        string // program; empty where the worker is measured alone
	mine        string // a program to take the worker's part; empty is the worker
	at          string // server of nginx: see servers
	path        string
	bytes       int64 // of an answer's body
	connections int
	streams     int
	fresh       bool    // a new connection for each request
	resume      bool    // with a resumed session, all but the first ones
	rate        float64 // requests a second; 0 is a closed loop
	pacing      string
	must, moon  float64         // most that the ratio may be, and what it is to be one day; 0 if neither is set
	lagMust     []time.Duration // send lag at p50 and p90, where that is what is measured
	lagMoon     []time.Duration
	extra       bool // it runs only where -rows names it
}

const (
	small  = 13     // bytes of /small
	large  = 102400 // bytes of /100k
	micros = time.Microsecond
)

// rows are in the order in which they run. Their targets are the project's own.
var rows = []row{
	{name: "h1-small", peer: "wrk", at: "plain", path: "/small", bytes: small, connections: 64, must: 0.85, moon: 0.55},
	{name: "h1-100k", peer: "wrk", at: "plain", path: "/100k", bytes: large, connections: 64, must: 0.5, moon: 0.4},
	{name: "tls-h1", peer: "wrk", at: "tls", path: "/small", bytes: small, connections: 64, must: 0.95, moon: 0.7},
	{name: "tls-h2-64x1", peer: "h2load", at: "tls-h2", path: "/small", bytes: small, connections: 64, streams: 1, must: 0.8, moon: 0.6},
	{name: "tls-h2-4x16", peer: "h2load", at: "tls-h2", path: "/small", bytes: small, connections: 4, streams: 16, must: 1.1, moon: 0.8},
	{name: "h2c-4x16", peer: "h2load", at: "h2c", path: "/small", bytes: small, connections: 4, streams: 16, must: 1.05, moon: 0.8},
	{name: "tls-newconn", peer: "wrk", at: "tls-once", path: "/small", bytes: small, connections: 64, fresh: true, must: 0.85, moon: 0.6},
	{name: "open-64-lag", at: "plain", path: "/small", bytes: small, connections: 64, rate: 10000, pacing: "precise",
		lagMust: []time.Duration{60 * micros, 150 * micros}, lagMoon: []time.Duration{2 * micros, 50 * micros}},
	{name: "open-256-lag", at: "plain", path: "/small", bytes: small, connections: 256, rate: 10000, pacing: "precise",
		lagMust: []time.Duration{60 * micros, 150 * micros}, lagMoon: []time.Duration{2 * micros, 50 * micros}},
	{name: "open-64-cpu", peer: "fortio", at: "plain", path: "/small", bytes: small, connections: 64, rate: 10000, pacing: "economical", must: 1, moon: 0.7},
	{name: "open-256-cpu", peer: "fortio", at: "plain", path: "/small", bytes: small, connections: 256, rate: 10000, pacing: "economical", must: 1, moon: 0.7},

	{name: "h1-small", peer: "h2load", at: "plain", path: "/small", bytes: small, connections: 64, extra: true},
	{name: "h1-small", peer: "fortio", at: "plain", path: "/small", bytes: small, connections: 64, extra: true},
	{name: "h1-100k", peer: "fortio", at: "plain", path: "/100k", bytes: large, connections: 64, extra: true},
	{name: "tls-h1", peer: "h2load", at: "tls", path: "/small", bytes: small, connections: 64, extra: true},
	{name: "tls-resumed", peer: "wrk", at: "tls", path: "/small", bytes: small, connections: 64, fresh: true, resume: true, extra: true},
	{name: "h1-newconn", peer: "wrk", at: "plain", path: "/small", bytes: small, connections: 64, fresh: true, extra: true},
	// What it shows is how far apart two of the same are.
	{name: "same", mine: "wrk", peer: "wrk", at: "plain", path: "/small", bytes: small, connections: 64, extra: true},
}

// label is what -rows is matched against.
func (r row) label() string {
	if r.peer == "" {
		return r.name
	}
	return r.name + "/" + r.peer
}

// inFlight is how many requests the row has open at a time.
func (r row) inFlight() int64 { return int64(r.connections * max(1, r.streams)) }

// spec is what the worker is told to do.
func (r row) spec(address, path, wire string) load.Spec {
	s := load.Spec{
		Name: r.name, Phase: "bench", Address: address, Path: path, Connections: r.connections, Streams: r.streams,
		Reuse: !r.fresh, Resume: r.resume, Pacing: r.pacing, Wire: wire, Expect: load.Expect{Status: 200, Bytes: &r.bytes},
	}
	on := servers[r.at]
	if on.tls {
		s.Scheme = "https"
		// nginx takes this group only; a key share of another one would be work that the peers do not do.
		s.TLSGroups = []string{"X25519"}
	}
	switch {
	case on.h2 && on.tls:
		s.Protocol = "h2"
	case on.h2:
		s.Protocol = "h2c"
	}
	if r.rate > 0 {
		s.Rate = []load.RateStep{{From: r.rate, To: r.rate}}
	}
	return s
}
