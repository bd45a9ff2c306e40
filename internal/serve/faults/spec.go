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
// A relay costs about 20 us for a round trip and reaches a third of the bandwidth of a direct connection: it belongs in
// the path of a scenario that needs a fault, not of a comparison.
package faults

import (
	"encoding/json"
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
)

// Control adds a toxic to relays, or removes one. Exactly one of Add and Remove is given.
type Control struct {
	Relays []string `json:"relays,omitempty"` // their names; all if empty
	Add    *Toxic   `json:"add,omitempty"`    // takes the place of one of its name, with a new time to live
	Remove string   `json:"remove,omitempty"` // its name; it is no error if it has gone already
}

// A Toxic is a fault.
type Toxic struct {
	Name       string          `json:"name,omitempty"`   // its type if empty
	Type       string          `json:"type"`             // "latency"
	Stream     string          `json:"stream,omitempty"` // Downstream if empty
	Attributes json.RawMessage `json:"attributes,omitempty"`
	TTL        time.Duration   `json:"ttl"` // nanoseconds after which it is removed in any case; must be positive
}

// Reply is the answer to a control message: the change is in force.
type Reply struct {
	Relays int `json:"relays"` // that were changed; those that had no such toxic to remove are not among them
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

	Up   Effect `json:"up"`   // of faults on the stream Upstream
	Down Effect `json:"down"` // of those on Downstream
}

// Effect is what passed through a fault.
type Effect struct {
	Toxics []string      `json:"toxics,omitempty"` // the names of those in force now
	Chunks int64         `json:"chunks"`           // pieces of up to 32 KiB, as they were read and passed on
	Bytes  int64         `json:"bytes"`
	Delay  time.Duration `json:"delay"` // nanoseconds between reading and passing on, all chunks together
}

// MeanDelay is how long a chunk was held, on average; 0 if there was none.
func (e Effect) MeanDelay() time.Duration {
	if e.Chunks == 0 {
		return 0
	}
	return e.Delay / time.Duration(e.Chunks)
}

// Since is what passed after an earlier reading.
func (e Effect) Since(before Effect) Effect {
	e.Chunks -= before.Chunks
	e.Bytes -= before.Bytes
	e.Delay -= before.Delay
	return e
}
