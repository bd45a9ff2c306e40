// Package origin is planrun's own backend: a server whose answers a plan can ask for by path, that says what it saw, and
// that needs less CPU for a request than any proxy in front of it.
//
//	/small            13 bytes
//	/100k             102400 bytes
//	/bytes/N          N bytes with a Content-Length
//	/chunked/N        N bytes without, in chunks of 16 KiB
//	/delay/DURATION   /small after a while: /delay/250ms, at most an hour
//	/stall            never answers; ends when the client leaves or the server stops
//	/reset/N          N bytes of an answer that promised more, then a TCP reset (of the stream in HTTP/2)
//	/status/CODE      200 to 599, with a short body where the code allows one
//	/upload           reads the body and answers how many bytes it had
//
// Any method will do; HEAD is answered without a body; a request's body is always read to its end first. Other paths are
// answered by 404. Bodies are the lines of [Body].
//
// The listeners "http" and "h2c" speak HTTP/1.1 and HTTP/2 with prior knowledge, told apart by the connection preface;
// "https" speaks both over TLS, by ALPN. HTTP/1.1 without TLS is the package's own code (parse.go, conn.go); the rest is net/http.
package origin

import (
	"time"

	"github.com/planrun/planrun/internal/serve/certificate"
)

// A Spec says where an origin listens.
type Spec struct {
	Name        string            `json:"name,omitempty"`      // what x-served-by says
	Listen      map[string]string `json:"listen"`              // "http", "https", "h2c" to host:port; port 0 for any
	ServedBy    bool              `json:"served_by,omitempty"` // answers carry x-served-by: Name
	Certificate certificate.Spec  `json:"certificate,omitzero"`
	Procs       int               `json:"procs,omitempty"`        // GOMAXPROCS; 0 leaves what the runtime chose
	IdleTimeout time.Duration     `json:"idle_timeout,omitempty"` // of a kept connection, nanoseconds; 0 means for ever
}

// Control changes a running origin; a field that is left out changes nothing.
type Control struct {
	ServedBy *bool `json:"served_by,omitempty"`
}

// A Sample holds the counters since the start. After a graceful stop they are exact.
type Sample struct {
	Listeners map[string]Traffic `json:"listeners"`
}

// Traffic is what one listener saw.
type Traffic struct {
	Opened       int64 `json:"opened"` // connections
	Live         int64 `json:"live"`
	AcceptErrors int64 `json:"accept_errors,omitempty"` // descriptors or memory were short
	BytesIn      int64 `json:"bytes_in"`                // as they went over the connections, with TLS and framing
	BytesOut     int64 `json:"bytes_out"`

	// Received counts requests that were read to their end, Answered those of them whose answer was written to its end:
	// over plain HTTP/1.1 the kernel has taken it, otherwise net/http. Refused requests (malformed, too large) are in
	// Status and in Classes as "refused" only, not in these sums.
	Received int64            `json:"received"`
	Answered int64            `json:"answered"`
	Classes  map[string]Class `json:"classes,omitempty"`
	Status   map[int]int64    `json:"status,omitempty"` // answers by code
}

// Class are the requests of one kind of path: "small", "100k", "bytes", "chunked", "delay", "stall", "reset", "status",
// "upload", "other", "refused".
type Class struct {
	Received int64 `json:"received"`
	Answered int64 `json:"answered"`
}

// Total adds up all listeners.
func (s Sample) Total() (received, answered int64) {
	for _, l := range s.Listeners {
		received += l.Received
		answered += l.Answered
	}
	return received, answered
}
