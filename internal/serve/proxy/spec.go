// Package proxy is planrun's own reverse proxy: net/http/httputil with a transport that keeps its connections. It is a
// target for plans that need nothing installed, and something to compare others with.
//
// The listeners "http" (HTTP/1.1), "https" (HTTP/1.1 and HTTP/2, by ALPN) and "h2c" (HTTP/2 with prior knowledge) lead
// to the same routes; upstreams are spoken to in HTTP/1.1. A request goes to the upstreams of the route with its host
// and the longest path that is a prefix of its own, whole segments compared; where none fits, to the Upstreams of the
// specification; where there are none of these either the answer is 404, and 503 from a route without upstreams. They
// take turns. A request is sent to one of them: that one refusing it is the answer 502, running out of time 504.
//
// Requests pass as they came: Host, X-Forwarded-*, Forwarded, Accept-Encoding, User-Agent are neither added nor changed
// nor removed; only the fields of RFC 9110, 7.6.1 (Connection and what it names, TE, Upgrade and so on) are per
// connection. As net/http does it, a request without a body that went out on a kept connection which turned out to be
// closed is sent once more.
package proxy

import (
	"time"

	"github.com/planrun/planrun/internal/serve/certificate"
)

// A Spec says where a proxy listens and to what it leads.
type Spec struct {
	Listen      map[string]string `json:"listen"`              // "http", "https", "h2c" to host:port; port 0 for any
	Upstreams   []string          `json:"upstreams,omitempty"` // host:port; for requests that no route fits
	Routes      []Route           `json:"routes,omitempty"`
	Certificate certificate.Spec  `json:"certificate,omitzero"`
	Procs       int               `json:"procs,omitempty"`        // GOMAXPROCS; 0 leaves what the runtime chose
	DialTimeout time.Duration     `json:"dial_timeout,omitempty"` // nanoseconds; 0 means 5 s
	Timeout     time.Duration     `json:"timeout,omitempty"`      // for the head of an upstream's answer; 0 means none
	Idle        int               `json:"idle,omitempty"`         // kept connections to each upstream, at most; 0 means 1024
}

// A Route leads requests to upstreams.
type Route struct {
	Host      string   `json:"host,omitempty"` // without port, in any case; empty is every host
	Path      string   `json:"path,omitempty"` // a prefix of whole segments; empty is every path
	Upstreams []string `json:"upstreams"`
}

// Control changes where requests go; what is given replaces all that was. Requests that were sent on stay where they are.
type Control struct {
	Upstreams *[]string `json:"upstreams,omitempty"`
	Routes    *[]Route  `json:"routes,omitempty"`
}

// Reply is the answer to it: the change is in force.
type Reply struct {
	Upstreams int `json:"upstreams"` // distinct addresses that requests may go to now
	Routes    int `json:"routes"`
}

// A Sample holds the counters since the start.
type Sample struct {
	Listeners map[string]Connections `json:"listeners"`
	Upstreams map[string]Upstream    `json:"upstreams"` // also those that are none any more

	Received int64         `json:"received"` // requests: their heads were read
	Answered int64         `json:"answered"` // of them, to the end
	InFlight int64         `json:"in_flight"`
	Canceled int64         `json:"canceled"` // the client left first
	Errors   int64         `json:"errors"`   // of upstreams: 502 and 504, and answers that broke off
	NoRoute  int64         `json:"no_route"` // 404 and 503
	Status   map[int]int64 `json:"status,omitempty"`
}

// Connections are those of a listener.
type Connections struct {
	Opened       int64 `json:"opened"`
	Live         int64 `json:"live"`
	AcceptErrors int64 `json:"accept_errors,omitempty"`
	BytesIn      int64 `json:"bytes_in"`
	BytesOut     int64 `json:"bytes_out"`
}

// Upstream is what went to one address.
type Upstream struct {
	Requests int64 `json:"requests"`
	Errors   int64 `json:"errors"`
	Opened   int64 `json:"opened"` // connections
	Live     int64 `json:"live"`
	BytesIn  int64 `json:"bytes_in"`
	BytesOut int64 `json:"bytes_out"`
}
