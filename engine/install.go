package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/verdict"
	"github.com/planrun/planrun/internal/serve/faults"
)

// An installation is a target that is installed, with its backends and the relays in front of them.
type installation struct {
	*session
	id, dir  string
	key      string
	cell     *Cell // the first one that it serves
	round    int   // of its stage, in which it was made
	group    *proc.Group
	scope    *journal.Scope
	known    known
	eval     *evaluator
	tls      task.TLS
	ports    map[string][]map[string]int // process -> replica -> listen -> port
	order    []task.ProcessDecl          // of its start actions
	backends map[string][]task.Process
	faults   task.Process // holds the relays in the path; nil: none
	relays   []faults.Relay
	external map[string]*external // relays of servers that ran before, by name
	moving   chan struct{}        // holds one while backends or routes change
	leaving  sync.WaitGroup       // replicas that were told to end

	mu     sync.Mutex
	dead   string // why it cannot serve any more
	run    *run   // the run that goes on, for events of its processes
	runs   int    // runs so far
	wants  map[task.Process][]int
	living map[string]int // live processes by name when it was made
	found  map[string]any // what its actions recorded or set
	moved  moved
}

// install makes an installation for a cell. What it started is ended if it fails.
func (s *session) install(ctx context.Context, cell *Cell, b *begun) (*installation, error) {
	id, dir, err := s.set.NewInstall(cell.Coord.Target)
	if err != nil {
		return nil, err
	}
	in := &installation{session: s, id: id, dir: dir, key: cell.installKey(), cell: cell, round: b.record.Round, scope: s.journal.Scope(), ports: map[string][]map[string]int{},
		backends: map[string][]task.Process{}, wants: map[task.Process][]int{}, eval: cell.eval, moving: make(chan struct{}, 1)}
	if in.group, err = s.manager.Group(proc.GroupOptions{Dir: dir, Journal: in.scope, Parent: s.setup, OnOOM: in.oom, Adjustable: in.cell.Adjusts}); err != nil {
		return nil, err
	}
	s.progress.Install(cell.Coord.Target)
	if err = in.do(ctx, b.known); err == nil {
		err = in.died()
		in.living = in.alive()
	}
	if err != nil {
		in.end()
		return nil, err
	}
	return in, nil
}

func (in *installation) do(ctx context.Context, stage known) error {
	in.known = stage.with(in.cell.known)
	for n, v := range stage { // params of the stage win over what check knew
		in.known[n] = v
	}
	in.known["dir"] = in.dir
	for n, v := range in.session.found {
		in.setValue(n, v)
	}
	if err := in.certificate(); err != nil {
		return err
	}
	for _, b := range in.p.backends.Names() {
		if err := in.startBackend(ctx, b); err != nil {
			return fmt.Errorf("starting the backend %s: %w", b, err)
		}
	}
	if err := in.startRelays(ctx); err != nil {
		return fmt.Errorf("starting the relays: %w", err)
	}
	for _, b := range in.p.backends.Names() {
		in.readdress(b) // through its relays, from now on
	}
	target, _ := in.cell.Target.Bind(in.eval.fill(ctx, in.known, in.values())) // its problems come below
	if err := in.takePorts(target.Val.Install); err != nil {
		return err
	}
	// What needs a run is not known yet, and is no error until a run needs it.
	in.p.bindParams(ctx, verdict.AtRun, in.eval, in.known, in.values(), in.p.neededBy(in.p.stage(in.cell.Coord.Stage)), map[string]string{})
	v := in.values()
	v.Call = nil // which port of a name is meant depends on the action and its replica
	target, list := in.cell.Target.Bind(in.eval.fill(ctx, in.known, v))
	if err := placedAt(list); err != nil {
		return err
	}
	return in.host().sequence(ctx, target.Val.Install)
}

// died says which of its processes ended by itself.
func (in *installation) died() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.dead != "" {
		return errors.New(in.dead)
	}
	return nil
}

// alive counts its live processes by name.
func (in *installation) alive() map[string]int {
	out := map[string]int{}
	for _, p := range in.group.All() {
		out[p.Name()]++
	}
	return out
}

// end undoes the installation. What its processes were is kept in its directory.
func (in *installation) end() {
	defer in.killHurried(in.group)()
	in.undo(in.scope)
	in.closeGroup(in.group)
}

// certificate makes the files that targets refer to, once for each installation.
func (in *installation) certificate() error {
	cert, key := filepath.Join(in.dir, "tls.crt"), filepath.Join(in.dir, "tls.key")
	if err := os.WriteFile(cert, in.session.cert, 0o644); err != nil {
		return fmt.Errorf("writing the certificate: %w", err)
	}
	if err := os.WriteFile(key, in.session.key, 0o600); err != nil {
		return fmt.Errorf("writing the certificate's key: %w", err)
	}
	in.tls = task.TLS{Cert: cert, Key: key}
	in.known["tls.cert"], in.known["tls.key"] = cert, key
	return nil
}

func (in *installation) values() verdict.Values {
	return verdict.Values{At: verdictCoord(in.cell.Coord), Call: in.call, Data: in.results}
}

// host of the actions of install and routes-changed.
func (in *installation) host() host {
	h := host{}
	h.fill = func(ctx context.Context, a *dsl.Part[dsl.Action], replica int) dsl.Filler {
		v := in.values()
		v.Call = in.callOf(processOf(a), replica)
		return in.eval.fill(ctx, in.knownNow().with(known{"replica": float64(replica)}), v)
	}
	h.env = func(a *dsl.Part[dsl.Action]) *task.Env {
		env := in.env(a)
		env.Do = func(ctx context.Context, actions []dsl.Part[dsl.Action]) error { return h.sequence(ctx, actions) }
		return env
	}
	return h
}

// note keeps a process with the CPUs that it was to have.
func (in *installation) note(p task.Process, want []int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.wants[p] = want
}

// onExit tells what a process's end means: one that nobody asked for is an event, and the installation cannot go on.
func (in *installation) onExit(name string, replica int) func(string, bool) {
	return func(status string, expected bool) {
		in.mu.Lock()
		run := in.run
		if !expected {
			in.dead = fmt.Sprintf("%s/%d ended by itself (%s)", name, replica, status)
		}
		in.mu.Unlock()
		if run != nil && !expected {
			run.event("exit", fmt.Sprintf("%s/%d ended: %s", name, replica, status), map[string]any{"process": name, "replica": replica, "status": status})
		}
	}
}

// oom tells that the kernel killed for want of memory.
func (in *installation) oom(who string, kills int) {
	in.event("oom", fmt.Sprintf("the kernel killed in the cgroup of %s for want of memory (processes: %d)", who, kills), map[string]any{"process": who, "kills": kills})
}

func (in *installation) event(kind, message string, fields map[string]any) {
	in.mu.Lock()
	run := in.run
	in.mu.Unlock()
	if run != nil {
		run.event(kind, message, fields)
		return
	}
	in.progress.Note(in.cell.Coord.Target, kind+": "+in.redact(message))
}
