// Package worker is the line protocol between the engine and its load and serve processes: JSON messages, one a line, over
// the process's standard input (engine to worker) and output (worker to engine); logs go to standard error. The same
// protocol serves on this machine and in a pod, so no message holds an absolute time: times are nanoseconds since the
// start message was received.
//
// The order of a session:
//
//	worker: hello      what it is and which version of the protocol it speaks
//	engine: configure  its specification (a load.Spec, an origin.Spec, ...)
//	worker: ready      after listening, or after connecting and verifying; or error
//	engine: start      time zero; answered by reply or error
//	engine: control    any number: phases of a load, upstreams of a proxy, faults of a relay; each answered by reply or error
//	worker: sample     once a second, without being asked, and at once when asked by a sample message
//	engine: stop       end gracefully (drain); a second stop does not wait
//	worker: done       the last samples were sent; the process exits with status 0
//
// A worker ends by itself when its standard input ends or when no message (a ping will do) arrived for a Lease, so that
// nothing is left behind by an engine that died. Unknown message types are an error; unknown fields are ignored.
package worker

import (
	"encoding/json"
	"time"
)

// Version of the protocol. A worker of another version is refused when it says hello.
const Version = 1

// Lease is how long a worker lives without a message from its engine; engines send a ping every Lease/3.
const Lease = 15 * time.Second

// Types of messages.
const (
	TypeHello     = "hello"
	TypeConfigure = "configure"
	TypeReady     = "ready"
	TypeStart     = "start"
	TypeControl   = "control"
	TypeReply     = "reply"
	TypeSample    = "sample"
	TypePing      = "ping"
	TypeStop      = "stop"
	TypeDone      = "done"
	TypeError     = "error"
)

// A Message is one line.
type Message struct {
	Type string          `json:"type"`
	ID   uint64          `json:"id,omitempty"` // of a request; its reply or error carries the same
	Body json.RawMessage `json:"body,omitempty"`
}

// Hello is the first message of a worker.
type Hello struct {
	Protocol int    `json:"protocol"`
	Kind     string `json:"kind"` // load, origin, proxy, relay, faults
	PID      int    `json:"pid"`
}

// Error tells why a worker cannot do what it was asked. Class "generator" means that this machine lacks something
// (descriptors, ports, memory), "target" that the other side did not answer as expected, "spec" that the request is wrong.
type Error struct {
	Class   string `json:"class,omitempty"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }
