package task

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// A ProcessSpec says how to run a process. Exactly one of Command and Builtin is set.
type ProcessSpec struct {
	Name     string
	Role     string // default sut
	Replica  int
	Command  []string
	Builtin  string                             // origin, proxy, relay, faults, load: a worker of this same binary
	Config   any                                // of a builtin: the body of its configure message
	Hold     bool                               // of a builtin: do not send start yet; Process.Begin does (a load is configured before its time zero)
	OnSample func(json.RawMessage)              // of a builtin: called with the body of every sample, in order; may be nil
	OnExit   func(status string, expected bool) // called once when the process is over; may be nil
	Env      map[string]string
	Dir      string         // working directory; made if missing
	CPUs     []int          // pinned to; nil is not pinned
	Nice     int            //
	Limits   Limits         //
	Ports    map[string]int // name -> port, taken from Processes.Ports
	Ready    Ready
	Grace    time.Duration // between SIGTERM and SIGKILL; 0 means 10 s
	Stop     string        // signal that ends it; TERM if empty
	Once     bool          // a command that runs to its end: Start does not wait for readiness, and its end is expected
	Output   string        // file that its standard output goes to, instead of its log; not for builtins
}

// A Logged process tells where its output is kept: the path of its log, and from which byte on this start's output is.
type Logged interface {
	Log() (path string, from int64)
}

// Limits are made with cgroups where the right to do so exists; else starting is refused with the reason.
type Limits struct {
	Memory int64   // bytes; 0 is none
	CPU    float64 // cores; 0 is none
	Files  int     // RLIMIT_NOFILE; 0 leaves it

	Processes           int    // processes and threads together; 0 is none
	IgnoreSocketBuffers bool   // memory of socket buffers does not count
	Group               string // processes of an installation with the same group share the limits (a role's); empty: the process alone
}

// Ready says when a process is ready: all that is set must hold. Zero means: it is still alive after it was started,
// and each of its ports accepts connections.
type Ready struct {
	TCP    []string      // names of ports that must accept connections
	HTTP   string        // "http/healthz": port name and path that must answer 2xx
	Log    string        // a regular expression that a line of its output must match
	Within time.Duration // deadline; 0 means 30 s
}

// ErrNotReady says that a builtin cannot be asked yet.
var ErrNotReady = errors.New("it is not ready yet")

// A Process is a running (or ended) process.
type Process interface {
	Name() string
	Role() string
	Replica() int
	PID() int
	Ports() map[string]int
	CPUs() []int // as verified from the kernel; nil if not pinned
	Exited() <-chan struct{}
	Exit() (status string, expected bool)               // "exit status 1", "signal: killed"; valid when Exited is closed
	Control(ctx context.Context, body, reply any) error // builtin: a control message
	Sample(ctx context.Context, body any) error         // builtin: its newest sample, decoded into body; of one that was told to end, its last
	ReadyBody() json.RawMessage                         // builtin: the body of its ready message
	Begin(ctx context.Context) error                    // builtin with Hold: send start, its time zero
}

// Processes runs processes of an installation or a run.
type Processes interface {
	// Ports gives out n ports of the loopback interface that nobody else uses and no outgoing connection can take.
	Ports(n int) ([]int, error)
	// Start starts one and returns when it is ready. Its undo is journalled before.
	Start(ctx context.Context, spec ProcessSpec) (Process, error)
	// Find gives the live processes of that name, by replica; none is an error that names those that run.
	Find(name string) ([]Process, error)
	// All gives the live processes.
	All() []Process
	// Stop ends one with its whole tree: its stop signal, the grace, then SIGKILL.
	Stop(ctx context.Context, p Process) error
	// Restart stops it and starts it again from the same spec, on the same ports.
	Restart(ctx context.Context, p Process) (Process, error)
	// Signal sends a signal ("HUP", "STOP", "CONT", "USR2") to the process, or to its whole tree.
	Signal(p Process, signal string, tree bool) error
}
