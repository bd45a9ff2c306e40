// Package task is the contract of actions and probes: what the engine asks of them and what it gives them. It knows no
// kind; actions and probes know no engine.
package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// An Action does one thing to what is around the system under test. Run returns when the action is over. A lasting
// action (a load, a fault, a pause) goes on until ctx is done; context.Cause(ctx) is then ErrPhaseOver for its ordinary
// end, which is no error of the action. What it changes it journals through env.Journal before it makes the change.
type Action interface {
	Run(ctx context.Context, env *Env) error
}

// ErrPhaseOver ends a lasting action because its phase is over.
var ErrPhaseOver = errors.New("the phase is over")

// Refused marks an error as the answer of whoever was asked: a command that ended otherwise than it should, or in no time, a
// request that was answered otherwise or not at all, a wait for what never came. Of routes-changed that is the target's
// doing, and a result.
type Refused struct{ Err error }

func (r *Refused) Error() string { return r.Err.Error() }
func (r *Refused) Unwrap() error { return r.Err }

// A Lasting action goes on until its phase ends (or For, or Through says otherwise); others end by themselves.
type Lasting interface{ Lasting() bool }

// A Declarer says before anything runs what an action makes known: names that others may refer to.
type Declarer interface{ Declares() Declaration }

// A Declaration lists what an action brings.
type Declaration struct {
	Processes []ProcessDecl
	Metrics   []series.Desc // numbers of the run
	Values    []string      // text or numbers that `exec` sets
	Uses      []Use         // names that must exist
	Programs  []string      // that must be on PATH, beside those of its processes
	Needs     Needs         // for `planrun show`
	Requires  []string      // features that the machine must offer, else the cell is unsupported: Nftables, ...
}

// A ProcessDecl is a process that will run.
type ProcessDecl struct {
	Name, Role string
	Replicas   int            // 0 if it is not known yet
	Listen     []string       // names of ports
	Ports      map[string]int // numbers of those that cannot be chosen freely
	Programs   []string       // that must be on PATH: the first word of its command
	Builtin    string         // the kind of planrun's own servers that it is; "" if it is another program
}

// A Use is a reference by name: Kind is process, relay, backend, endpoint, load, probe; Field is where it stands.
type Use struct{ Kind, Name, Field string }

// Needs is what an action takes of the machine; zero is nothing or not known.
type Needs struct {
	Requests    float64 // to be sent in all; 0 for a closed loop
	Connections int     // held at the same time
	Descriptors int
	Ports       int // source ports
}

// A Probe samples something. Sample is called at each interval and must return within it.
type Probe interface {
	Produces() []series.SeriesDesc
	Sample(ctx context.Context, env *ProbeEnv) error
}

// Fresh is a probe of which a new one can be had that knows of no sample before.
type Fresh interface{ Fresh() Probe }

// An Undo undoes one kind of change from what the journal says of it. It must be harmless when the change was never
// made or is undone already, because the entry is written before the change; it may not use anything but data.
type Undo struct {
	Kind string
	Run  func(ctx context.Context, env *UndoEnv, data json.RawMessage) error
	// Says is what an entry is about, for a line that begins with its kind: "/etc/hosts" of a file. It is empty of an entry
	// that is not worth a line. Nil: the kind says it all.
	Says func(data json.RawMessage) string
}

// UndoOf makes an Undo of a kind whose entries hold an E.
func UndoOf[E any](kind string, run func(ctx context.Context, env *UndoEnv, e E) error, says func(e E) string) Undo {
	return Undo{
		Kind: kind,
		Run: func(ctx context.Context, env *UndoEnv, data json.RawMessage) error {
			var e E
			if err := json.Unmarshal(data, &e); err != nil {
				return fmt.Errorf("reading the entry: %w", err)
			}
			return run(ctx, env, e)
		},
		Says: func(data json.RawMessage) string {
			var e E
			if err := json.Unmarshal(data, &e); err != nil {
				return "whose entry cannot be read"
			}
			return says(e)
		},
	}
}

// An UndoEnv is what an undo may know: another process than the one that made the change may run it.
type UndoEnv struct {
	Log   *slog.Logger
	Token string // of the result set; only processes that carry it may be ended
	Dir   string // the result set
}

// A Journal takes what would undo a change, before the change is made.
type Journal interface {
	// Add writes an entry and syncs it. Done marks it as undone (the change was taken back in the ordinary course).
	Add(kind string, data any) (Entry, error)
}

// An Entry is a journalled change.
type Entry interface{ Done() error }

// An Env is what the engine gives a running action. Function fields are never nil.
type Env struct {
	Log       *slog.Logger
	Dir       string // working directory of the installation (of the plan's setup, for setup actions)
	Here      string // directory of the plan's file that wrote the action: relative paths of programs begin there
	RunDir    string // this run's directory in the result set: snapshots go there; "" while a target is installed
	Journal   Journal
	Processes Processes
	Loads     Loads
	Relays    Relays
	Backends  Backends
	Name      string                                                          // of the action, in the timeline
	Token     string                                                          // of the result set; names what must be told from other engines' things
	Phase     string                                                          // in which it began; "" while a target is installed
	Prepared  any                                                             // what Prepare returned
	Undo      []Bound                                                         // of the action: its undo list, bound
	Do        func(ctx context.Context, actions []dsl.Part[dsl.Action]) error // runs nested actions one after another

	Event    func(kind, message string, fields map[string]any)                    // into events.jsonl: exit, oom, change, fault, ...
	Fault    func(f Fault) (over func(Effect))                                    // notes that a fault is in force from now on; over notes that it no longer is, and what it did
	Value    func(name string, v any)                                             // a number becomes a metric of the run (or the installation); text can be read by later expressions
	Eval     func(ctx context.Context, e dsl.Expr) (any, error)                   // a live condition, as of now
	Rebind   func(replica int) (any, error)                                       // this action's spec again, its expressions bound for one replica
	Template func(replica int) TemplateData                                       // what a target's files may use
	Endpoint func(name string) (string, error)                                    // host:port of an endpoint of the target
	Address  func(name string) ([]string, error)                                  // addresses of a backend, a relay or a process, by name
	Origins  func(backend string) ([]string, error)                               // where the replicas of a backend listen themselves, behind relays
	Snapshot func(probe string) (map[string]float64, error)                       // one reading of a probe of the plan
	Ports    func(process string, replica int) map[string]int                     // those of its listen, which an installation has taken before its first action; nil for a process that it does not know
	CPUs     func(role string) []int                                              // host.cpus of a role; nil is not pinned
	Limits   func(role string) Limits                                             // the target's and the scenario's limits of a role
	Nice     int                                                                  // host.nice
	Started  func(p Process, want []int)                                          // notes a process of the installation, with the CPUs that it was to have
	OnExit   func(process string, replica int) func(status string, expected bool) // for ProcessSpec.OnExit
	Follow   func(update func(ctx context.Context) error)                         // has update called when backends or routes changed, before the target's routes-changed
	ReadFile func(path string) ([]byte, error)                                    // of a file that the plan names, which may be embedded; nil: os.ReadFile
	Redact   func(s string) string                                                // secrets out of what is kept
	Allowed  func(host string, ip netip.Addr) error                               // whether load may be sent there
}

// Bound is an action whose expressions have their values.
type Bound struct {
	Kind string
	Spec any
}

// An Undoable action takes an undo list: it journals what the list says before it changes anything. Other actions may not
// have one.
type Undoable interface {
	Action
	TakesUndo()
}

// An UndoStep is an action that may stand in an undo list. UndoData is what it will do then, as an entry of the journal
// whose kind is one of the undos.
type UndoStep interface {
	UndoData(ctx context.Context, env *Env) (kind string, data any, err error)
}

// TemplateData is the dot of a target's files (Go text/template).
type TemplateData struct {
	Port     map[string]int
	Dir      string
	Backends map[string][]Address
	Routes   []Route
	With     map[string]any // as written in the plan: 64k stays 64k
	TLS      TLS
	Cpus     map[string][]int
	Replica  int
	Target   string
}

// An Address is where a replica of a backend listens; Address is Host:Port.
type Address struct {
	Address, Host string
	Port          int
}

// A Route is a host with its paths.
type Route struct {
	Host  string
	Paths []RoutePath
}

// A RoutePath leads to a backend.
type RoutePath struct{ Path, Backend string }

// TLS holds paths of the certificate and key that the plan's host section asks for.
type TLS struct{ Cert, Key string }

// Loads runs load workers as part of the current phase.
type Loads interface {
	// Prepare starts workers for spec, which connect and verify one request. Its time zero is when Run is called.
	Prepare(ctx context.Context, spec load.Spec, opts LoadOptions) (PreparedLoad, error)
}

// A PreparedLoad has its connections open.
type PreparedLoad interface {
	// Run takes part in the phases until ctx ends, then drains. A context that ended by itself (no ErrPhaseOver) cuts the
	// drain short.
	Run(ctx context.Context) error
}

// A Preparer is an action with something to do that would make its beginning late. Prepare runs before the phase begins
// if the action is due at its beginning, else when it is due; what it returns is Env.Prepared of Run.
type Preparer interface {
	Prepare(ctx context.Context, env *Env) (any, error)
}

// Nested is an action that holds others.
type Nested interface {
	Actions() []dsl.Part[dsl.Action]
}

// LoadOptions are what the engine needs beside the workers' own specification.
type LoadOptions struct {
	Name     string // what load("...") calls it
	Workers  int
	Headline bool
	CPUs     []int // nil: the plan's host.cpus.load
	// CrossCheck names the other load generators that do the same after the phases of the run.
	CrossCheck []string
}

// A ProbeEnv is what the engine gives a probe for one sample.
type ProbeEnv struct {
	Log       *slog.Logger
	Now       float64 // seconds since the run began: the T of the points
	Processes Processes
	Emit      func(series.Point)
	Engine    int          // process id of the engine itself: role control
	Busy      func() []int // process ids of everything the plan started: to tell foreign CPU
	Address   func(name string) ([]string, error)
	Ended     func() []Process // replicas of backends that a change of this run ended, in order
}
