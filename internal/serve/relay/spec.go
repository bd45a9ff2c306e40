// Package relay is planrun's own TCP relay: it passes bytes on, without looking at them. As a target it is what the least
// possible work in front of a backend costs.
//
// Each connection goes to the next upstream in turn. Ends and resets are passed on too: a side that stops sending stops
// for the other, which may go on, and a reset of one side resets the other.
package relay

import "time"

// A Spec says where a relay listens and to what it leads.
type Spec struct {
	Listen      map[string]string `json:"listen"`                 // any names, to host:port; port 0 for any
	Upstreams   []string          `json:"upstreams"`              // host:port
	DialTimeout time.Duration     `json:"dial_timeout,omitempty"` // nanoseconds; 0 means 5 s
	Procs       int               `json:"procs,omitempty"`        // GOMAXPROCS; 0 leaves what the runtime chose
}

// Control changes where new connections go; what is given replaces all that was. Those that are open stay.
type Control struct {
	Upstreams []string `json:"upstreams"`
}

// A Sample holds the counters since the start.
type Sample struct {
	Listeners map[string]Listener `json:"listeners"`
	Upstreams map[string]Upstream `json:"upstreams"` // also those that are none any more
}

// Listener is what one listener accepted.
type Listener struct {
	Opened       int64 `json:"opened"` // connections
	Live         int64 `json:"live"`
	AcceptErrors int64 `json:"accept_errors,omitempty"`
	BytesUp      int64 `json:"bytes_up"` // from clients to upstreams; large transfers move it by up to 1 MiB
	BytesDown    int64 `json:"bytes_down"`
}

// Upstream is what went to one address.
type Upstream struct {
	Opened int64 `json:"opened"` // connections
	Live   int64 `json:"live"`
	Errors int64 `json:"errors,omitempty"` // it could not be reached; the client was reset
}
