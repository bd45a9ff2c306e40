// Package faults is the relay in which faults happen: Toxiproxy's links (github.com/Shopify/toxiproxy/v2) between an
// accept loop and connections of our own.
//
// Toxiproxy's chain of toxics is never edited while connections live, which can end the process, block it for ever or
// leave goroutines behind. Each direction has one permanent toxic (pipe.go) instead, which reads what is to be done from
// an atomic pointer for each chunk, so that faults come and go on connections that live, at once. Half-closed
// connections and resets pass through.
//
// A fault ends by itself when its time to live is over, and with the process, which ends when its engine is gone.
//
// What a toxic did is counted by itself, and its effect measured where it happens, so that a fault which was asked for
// and had no effect is seen.
//
// A relay costs about 20 us for a round trip and reaches a third of the bandwidth of a direct connection: it belongs in
// the path of a scenario that needs a fault, not of a comparison.
package faults

import (
	"encoding/json"
	"math"
	"time"
)

// A Spec names the relays of a process.
type Spec struct {
	Relays []Relay `json:"relays"`
}

// A Relay leads from an address to another.
type Relay struct {
	Name     string `json:"name"`
	Listen   string `json:"listen"`   // host:port; port 0 for any
	Upstream string `json:"upstream"` // host:port
}

// Streams, named as by Toxiproxy.
const (
	Downstream = "downstream" // from the upstream to the client
	Upstream   = "upstream"   // from the client to the upstream
	Both       = "both"
)

// Control adds a toxic to relays, or removes one. Exactly one of Add and Remove is given.
type Control struct {
	Relays []string `json:"relays,omitempty"` // their names; all if empty
	Add    *Toxic   `json:"add,omitempty"`    // takes the place of one of its name, with a new time to live
	Remove string   `json:"remove,omitempty"` // its name; it is no error if there is none
}

// A Toxic is a fault.
type Toxic struct {
	Name       string          `json:"name,omitempty"`   // its type if empty
	Type       string          `json:"type"`             // of Types
	Stream     string          `json:"stream,omitempty"` // Downstream if empty; toxics of whole connections do not mind
	Share      float64         `json:"share,omitempty"`  // of the connections on which it acts, in (0, 1]; 0: all
	Seed       uint64          `json:"seed,omitempty"`   // of what is drawn: the same connections of a relay are hit in each run
	Attributes json.RawMessage `json:"attributes,omitempty"`
	TTL        time.Duration   `json:"ttl"` // nanoseconds after which it is removed in any case; must be positive
}

// Reply is the answer to a control message: the change is in force.
type Reply struct {
	Relays  int               `json:"relays"`            // that were changed; those that had no such toxic to remove are not among them
	Effects map[string]Effect `json:"effects,omitempty"` // of what was removed, by relay
}

// A Sample holds the counters since the start, by relay.
type Sample struct {
	Relays map[string]Counters `json:"relays"`
}

// Counters are those of a relay.
type Counters struct {
	Opened       int64 `json:"opened"` // connections of clients
	Live         int64 `json:"live"`
	AcceptErrors int64 `json:"accept_errors,omitempty"`
	DialErrors   int64 `json:"dial_errors,omitempty"` // the upstream could not be reached; the client was reset
	BytesUp      int64 `json:"bytes_up"`              // written to the upstream
	BytesDown    int64 `json:"bytes_down"`            // written to the client
	Chunks       int64 `json:"chunks"`                // pieces in which they were written
	Resets       int64 `json:"resets,omitempty"`      // connections that toxics reset
	Closed       int64 `json:"closed,omitempty"`      // that toxics ended in order
	Refused      int64 `json:"refused,omitempty"`     // that found nobody listening

	Acted  map[string]int64  `json:"acted,omitempty"`  // connections on which toxics acted, by type
	Toxics map[string]Effect `json:"toxics,omitempty"` // those in force, by name
}

// Effect is what became of what came to a toxic.
type Effect struct {
	Type        string `json:"type"`
	Over        bool   `json:"over,omitempty"` // its time to live ended before it was removed
	Connections int64  `json:"connections"`    // on which it acted
	Chunks      int64  `json:"chunks"`         // pieces of up to 32 KiB, as they came to it
	Bytes       int64  `json:"bytes"`
	Held        int64  `json:"held,omitempty"` // of these bytes, those that it let wait or swallowed
	Resets      int64  `json:"resets,omitempty"`
	Closed      int64  `json:"closed,omitempty"` // connections that it ended in order
	Refused     int64  `json:"refused,omitempty"`
	Inexact     bool   `json:"inexact,omitempty"` // of Refused: others may be among them, since only resets of the whole system can be counted

	// What the toxic measures of itself: a sum over so many; its kind says of what (see Measured).
	Sum int64 `json:"sum,omitempty"`
	Of  int64 `json:"of,omitempty"`
}

// Plus adds the effects of one toxic on two relays.
func (e Effect) Plus(o Effect) Effect {
	return Effect{Type: o.Type, Over: e.Over || o.Over, Connections: e.Connections + o.Connections, Chunks: e.Chunks + o.Chunks, Bytes: e.Bytes + o.Bytes,
		Held: e.Held + o.Held, Resets: e.Resets + o.Resets, Closed: e.Closed + o.Closed, Refused: e.Refused + o.Refused, Inexact: e.Inexact || o.Inexact, Sum: e.Sum + o.Sum, Of: e.Of + o.Of}
}

// Measured is the effect in the unit of its kind, and of how many it is the mean; 0 of them is nothing to measure it by.
func (e Effect) Measured() (value float64, of int64) {
	for _, k := range kinds {
		if k.name != e.Type || k.measured == nil || e.Of == 0 {
			continue
		}
		if v := k.measured(e); !math.IsInf(v, 0) {
			return v, e.Of
		}
	}
	return 0, 0
}
