// Package load generates HTTP load and counts what became of every request.
//
// A worker process (Main) is configured with a Spec, which newJob checks and prepares. A loop, one goroutine on a thread of
// its own, then does these steps:
//
//  1. It opens the connections and verifies one request of each form (prepare.go, form.go); what it opened is booked in the
//     first second.
//  2. At the start it computes due times from the integral of the rate (pace.go); a closed loop's requests are due when a
//     connection is free (arrive.go). How it sleeps until then is the pacer's business (pacer.go).
//  3. It gives requests that are due to the pool (pool.go), which chooses a connection (conn.go) for each. The connection's
//     protocol (h1.go, h2.go) writes it and reads the answer; a wire (wire.go) moves the bytes, through TLS if that is
//     spoken (secure.go). Requests that find no connection wait, in order.
//  4. The ledger books outcomes in the second and the phase in which the request was due, and hands a second on when all of
//     its requests are over.
//  5. At the stop nothing becomes due any more; what is open gets one timeout to be answered, all together.
//
// An idempotent request whose reused connection ends before a byte of its answer is sent once more, on a new connection,
// and counted (Counts.ReuseRetried): the server may have closed an idle connection, which is its right. The address is
// resolved once.
package load

import (
	"time"

	"github.com/planrun/planrun/internal/hdr"
)

// A Spec says what one worker sends. Zero values mean the sensible thing as each field says. Durations are nanoseconds
// in JSON.
type Spec struct {
	Name    string `json:"name"`              // of the load, for messages
	Worker  int    `json:"worker"`            // this worker's index i: it sends the requests k = i modulo Workers
	Workers int    `json:"workers,omitempty"` // 0 means 1

	Phase string `json:"phase,omitempty"` // the phase at time zero, until a Control names another

	Protocol   string   `json:"protocol,omitempty"`    // "h1" (the zero value), "h2", "h2c"
	Scheme     string   `json:"scheme,omitempty"`      // "http" (the zero value) or "https"
	Address    string   `json:"address"`               // host:port that is dialled
	Host       string   `json:"host,omitempty"`        // Host header or :authority; the address if empty
	ServerName string   `json:"server_name,omitempty"` // TLS server name; Host without its port if empty
	Proxy      string   `json:"proxy,omitempty"`       // host:port of a forward proxy; Address is then what is asked of it
	Method     string   `json:"method,omitempty"`      // GET if empty
	Path       string   `json:"path,omitempty"`        // "/" if empty
	Headers    []Header `json:"headers,omitempty"`
	Body       []byte   `json:"body,omitempty"`

	// SpreadPath varies the path: a pattern with ranges such as "/item/{0..255}", expanded into a table once; request k uses
	// entry k modulo its length. It replaces Path.
	SpreadPath string `json:"spread_path,omitempty"`
	// By names a response header; answers are counted by its value (Counts.By).
	By string `json:"by,omitempty"`

	Resume    bool     `json:"resume,omitempty"`     // TLS: resume sessions
	TLSGroups []string `json:"tls_groups,omitempty"` // key exchange groups that are offered, of X25519, P-256, P-384, P-521, X25519MLKEM768; Go's default if empty. Their order is Go's own

	Connections int           `json:"connections"`            // all workers together; divided among them, the first ones get the rest
	Streams     int           `json:"streams,omitempty"`      // in flight on a connection; 0 means 1; h1 has 1; MaxStreams leaves it to the server
	InFlight    int           `json:"in_flight,omitempty"`    // bound on requests in flight, of all workers together; 0 is Connections times Streams, with which Pool "dial" opens further connections only where a server takes fewer streams
	Pool        string        `json:"pool,omitempty"`         // "fixed" (the zero value), "dial", "distinct"
	Reuse       bool          `json:"reuse"`                  // keep connections alive
	ConnectRate float64       `json:"connect_rate,omitempty"` // connections a second that are opened before the start, all workers together; 0 opens them at once
	Sources     []string      `json:"sources,omitempty"`      // local addresses or networks (127.0.1.0/24) that connections come from in turn
	ReadRate    int64         `json:"read_rate,omitempty"`    // bytes a second that are read of each connection; 0 is no bound
	Wire        string        `json:"wire,omitempty"`         // what moves the bytes: "io_uring", "epoll", "goroutines"; empty takes the best that works here
	Rate        []RateStep    `json:"rate,omitempty"`         // open loop: the rate of all workers together; empty is a closed loop
	MaxWaiting  int           `json:"max_waiting,omitempty"`  // bound on requests that are due and wait for a connection; beyond it they are dropped; 0 means 100,000
	Timeout     time.Duration `json:"timeout,omitempty"`      // of a request, from its sending; 0 means 10 s
	DialTimeout time.Duration `json:"dial_timeout,omitempty"` // 0 means 5 s
	Pacing      string        `json:"pacing,omitempty"`       // "precise", "economical", "busy"; precise if empty

	Expect Expect `json:"expect,omitzero"`
}

// MaxStreams is the largest Spec.Streams: more than any server allows, so that its own limit is the bound.
const MaxStreams = 65536

// A Header is one request header.
type Header struct{ Name, Value string }

// A RateStep is a stretch of an open loop's rate, in requests a second of all workers together: From at its beginning,
// changing linearly to To over its duration. A step with Over 0 lasts to the end at the rate To.
type RateStep struct {
	From float64       `json:"from"`
	To   float64       `json:"to"`
	Over time.Duration `json:"over,omitempty"`
}

// Expect says what a right answer is. A zero field is not checked; without a status every 2xx is right.
type Expect struct {
	Status int    `json:"status,omitempty"`
	Bytes  *int64 `json:"bytes,omitempty"`  // length of the body
	SHA256 string `json:"sha256,omitempty"` // of the body, hexadecimal
}

// Ready is the answer to configure: the connections are open and one request of each form was verified.
type Ready struct {
	Connections int    `json:"connections"`            // opened; without reuse those that will be opened and closed for each request
	Verified    int    `json:"verified"`               // requests of distinct form that were answered as expected
	Problem     string `json:"problem,omitempty"`      // why the verification failed; the load then runs all the same, and a guard says so
	Shortage    string `json:"shortage,omitempty"`     // what this machine lacked to open all connections that were asked for
	Refused     string `json:"refused,omitempty"`      // why the target did not take all of them: a result, requests to it fail
	Wire        string `json:"wire,omitempty"`         // what moves the bytes: "io_uring", "epoll", "goroutines"
	WireNote    string `json:"wire_note,omitempty"`    // why it is not the best one, where it is not
	StreamLimit int    `json:"stream_limit,omitempty"` // HTTP/2: the smallest bound on streams that the server set, if it set one
}

// Control changes a running load: from At (nanoseconds since start; in the past means now) requests that become due belong
// to Phase. It replaces earlier Controls whose time is after At.
type Control struct {
	Phase string        `json:"phase"`
	At    time.Duration `json:"at"`
}

// ControlReply answers a Control.
type ControlReply struct {
	// Due counts, by phase, the requests that became due so far: a phase is complete when its seconds add up to it.
	Due map[string]int64 `json:"due"`
}

// Classes of failure: failed = non_2xx + errors, and errors is the sum of these.
const (
	Connect  = "connect"
	TLS      = "tls"
	Reset    = "reset"
	Timeout  = "timeout"
	Protocol = "protocol"
	Mismatch = "mismatch"
	Dropped  = "dropped"
)

// Counts are the outcomes of requests. They always reconcile: Due = OK + sum(Non2xx) + sum(Errors) + Generator.
type Counts struct {
	Due       int64            `json:"due"`
	OK        int64            `json:"ok"`
	Non2xx    map[int]int64    `json:"non_2xx,omitempty"`   // by status code
	Errors    map[string]int64 `json:"errors,omitempty"`    // by class
	Generator int64            `json:"generator,omitempty"` // could not be sent for want of descriptors, ports, memory or CPU

	Sent         int64            `json:"sent"`                      // requests written, in the second in which they were
	SlowOver1s   int64            `json:"slow_over_1s,omitempty"`    // successes whose own round trip took longer than a second
	MaxElapsed   time.Duration    `json:"max_elapsed,omitempty"`     // of all requests, from the due time
	Opened       int64            `json:"opened,omitempty"`          // connections
	Handshakes   int64            `json:"handshakes,omitempty"`      // TLS
	Resumed      int64            `json:"resumed,omitempty"`         // of them
	FullIn       int64            `json:"full_in,omitempty"`         // bytes of TLS received in handshakes that resumed no session
	FullOut      int64            `json:"full_out,omitempty"`        // and sent
	ResumedIn    int64            `json:"resumed_in,omitempty"`      // likewise of those that did
	ResumedOut   int64            `json:"resumed_out,omitempty"`     //
	Goaways      int64            `json:"goaways,omitempty"`         // HTTP/2
	Retried      int64            `json:"goaway_retried,omitempty"`  // streams above a GOAWAY's last id
	Refused      int64            `json:"refused_retried,omitempty"` // streams that were sent again because the server refused them (REFUSED_STREAM)
	BytesIn      int64            `json:"bytes_in,omitempty"`        // of HTTP as it was sent, without what TLS adds
	BytesOut     int64            `json:"bytes_out,omitempty"`       // likewise; of HTTP/2 requests' HEADERS and bodies alone
	StalledLagNs int64            `json:"stalled_lag,omitempty"`     // the largest send lag of the second after both request and connection were there: what shows that the generator stalled
	By           map[string]int64 `json:"by,omitempty"`              // answers by the value of the header Spec.By: at most 256 values, further ones count as "(other)", none as "(none)"
	Sessions     map[string]int64 `json:"sessions,omitempty"`        // TLS handshakes by what they agreed on; see Session
	ReuseRetried int64            `json:"reuse_retried,omitempty"`   // requests sent again, once, on a new connection, because the server closed the old one before a byte of an answer
}

// A Second is what a worker reports of one second and one phase: the requests that were due in it, once all of them are
// over or their timeouts have passed, so a second may be reported late, and in parts (the engine adds them up).
type Second struct {
	Load    string         `json:"load"`
	Worker  int            `json:"worker"`
	Phase   string         `json:"phase"`
	Second  int            `json:"second"` // since start: requests due in [Second, Second+1) s
	Counts  Counts         `json:"counts"`
	Latency *hdr.Histogram `json:"latency,omitempty"` // of successes, from the due time
	Service *hdr.Histogram `json:"service,omitempty"` // of successes, from the actual send
	Lag     *hdr.Histogram `json:"lag,omitempty"`     // sent minus due, of all that were sent
	Connect *hdr.Histogram `json:"connect,omitempty"`
	TLS     *hdr.Histogram `json:"tls,omitempty"` // handshakes
}

// A Sample is the body of a worker's sample message.
type Sample struct {
	Seconds []Second `json:"seconds"`
	Health  Health   `json:"health"`
	Final   bool     `json:"final,omitempty"` // the last one: everything was reported
	// First errors, at most a few, as examples for the report: "connect: connection refused".
	Examples []string `json:"examples,omitempty"`
}

// Health is the state of the generator itself.
type Health struct {
	Second     float64 `json:"second"`      // since start
	CPUSeconds float64 `json:"cpu_s"`       // user and kernel, since the process began
	GCPauseNs  int64   `json:"gc_pause_ns"` // total
	// RunWaitNs is how long its threads were ready to run and had no CPU, added up since the process began: the second number
	// of /proc/self/task/TID/schedstat, of threads that ended too as far as they were seen. Nil if the kernel does not say.
	RunWaitNs       *int64 `json:"run_wait_ns,omitempty"`
	DescriptorLimit int    `json:"descriptor_limit,omitempty"` // RLIMIT_NOFILE
	Descriptors     int    `json:"descriptors"`
	Open            int    `json:"open"` // connections now
	InFlight        int    `json:"in_flight"`
	Waiting         int    `json:"waiting"` // due, without a connection
}
