package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/toxiproxy"
	"github.com/planrun/planrun/engine/verdict"
	"github.com/planrun/planrun/internal/serve/certificate"
)

// ErrInterrupted is the cause of a context that an interrupt ended.
var ErrInterrupted = errors.New("interrupted")

// undoBudget is the time that each undo has, whatever ended the run.
const undoBudget = 30 * time.Second

// RunOptions say how a program runs. The zero value runs all of it into results/PLAN-TIME.
type RunOptions struct {
	Root, Out string // as in record.CreateOptions
	Gate      string // as in verdict.Options
	Allow     []string
	Command   []string        // how planrun was called, for the report
	Undos     []task.Undo     // of actions; those of processes are the engine's own
	Worker    []string        // the command of builtins; nil: this executable and "worker"
	Hurry     <-chan struct{} // closed by the second interrupt: in-flight requests are not waited for; may be nil
	Progress  Progress        // nil: none
	Beside    Beside
	// Boundary is called before and after every entry of the journal. Tests end the engine in it.
	Boundary func(after bool, e journal.Line)
}

// A session is one run of a plan.
type session struct {
	p        *Program
	ctx      context.Context // of the whole: it ends with an interrupt, whatever ends the context of a step
	opt      RunOptions
	set      *record.Set
	journal  *journal.Journal
	manager  *proc.Manager
	setup    *proc.Group
	undos    []task.Undo
	env      *task.UndoEnv
	progress Progress
	cert     []byte
	key      []byte

	found    map[string]any   // values that setup set or recorded
	results  *verdict.Data    // of the runs so far
	current  []*installation  // more than one where the stage is together
	failed   map[string]noRun // install key -> why it could not be installed
	programs map[string]record.Program
	versions map[string]string // of other load generators, by name

	mu        sync.Mutex
	notUndone []string
}

// Run runs the program into a new result set, judges it and writes the report. It refuses, with a diag.List, what this
// build cannot run. An interrupt is the end of ctx with the cause ErrInterrupted: the outcome then says so, and
// everything is undone.
func (p *Program) Run(ctx context.Context, opt RunOptions) (*Outcome, error) {
	if list := p.refusePublished(); list != nil {
		return nil, list
	}
	if p.Later.HasErrors() {
		return nil, p.Later
	}
	if opt.Progress == nil {
		opt.Progress = Quiet{}
	}
	s := &session{p: p, ctx: ctx, opt: opt, progress: opt.Progress, failed: map[string]noRun{}, programs: map[string]record.Program{}, versions: map[string]string{}, results: &verdict.Data{Cells: map[verdict.Coord]*verdict.Cell{}}}
	if list := s.stagesLeftOut(); list.HasErrors() {
		return nil, list
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	defer s.journal.Close()
	s.progress.Begin(s.set.Dir, p.estimate())
	err := s.setUp(ctx)
	if err == nil {
		err = s.stages(ctx)
	}
	s.leaveAll()
	s.failures(s.journal.Unwind(ctx, s.undos, s.env, undoBudget))
	s.closeGroup(s.setup)
	if len(s.notUndone) == 0 { // else the journal has to say what there is to undo
		err = errors.Join(err, s.p.scrub(s.set.Dir))
	}
	end := &record.End{Interrupted: errors.Is(context.Cause(ctx), ErrInterrupted), NotUndone: s.notUndone}
	if err != nil && !errors.Is(err, ErrInterrupted) {
		end.Failure = s.redact(err.Error())
	}
	if e := s.set.WriteEnd(end); e != nil {
		return nil, errors.Join(err, e)
	}
	out, e := Conclude(s.set, p, ConcludeOptions{Gate: opt.Gate, Beside: opt.Beside})
	if e != nil {
		return nil, errors.Join(err, e)
	}
	s.progress.End()
	return out, nil
}

// open makes the result set, the journal, and what every process needs.
func (s *session) open() (err error) {
	if s.cert, s.key, err = certificate.SelfSigned(strings.TrimPrefix(s.p.Host.TLS.Certificate, "self-signed-"), s.p.hosts()); err != nil {
		return err
	}
	if s.set, err = record.Create(record.CreateOptions{Plan: s.p.Plan.Name, Root: s.opt.Root, Out: s.opt.Out}); err != nil {
		return err
	}
	if s.set.Dir, err = filepath.Abs(s.set.Dir); err != nil {
		return fmt.Errorf("finding the result set: %w", err)
	}
	token := make([]byte, 16)
	rand.Read(token)
	s.env = &task.UndoEnv{Log: slog.Default(), Token: hex.EncodeToString(token), Dir: s.set.Dir}
	if s.journal, err = journal.Open(s.set.Dir, journal.Options{Token: s.env.Token, Boundary: s.opt.Boundary}); err != nil {
		return err
	}
	if s.manager, err = proc.New(proc.Options{Token: s.env.Token, Worker: s.opt.Worker, Log: slog.Default(), Redact: s.redact}); err != nil {
		return err
	}
	s.undos = slices.Concat(s.manager.Undos(), toxiproxy.Undos, s.opt.Undos)
	if s.setup, err = s.manager.Group(proc.GroupOptions{Dir: s.set.Path("installs", "setup"), Journal: s.journal}); err != nil {
		return err
	}
	if err := s.writePlan(); err != nil {
		return err
	}
	return s.writeEnvironment()
}

// hosts are the names that the certificate is for.
func (p *Program) hosts() []string {
	out := []string{"localhost", "127.0.0.1", "::1"}
	for _, r := range p.routes() {
		out = append(out, r.host)
	}
	for _, c := range p.Cells { // and those that come later
		for _, ph := range c.Scenario.Val.Phases {
			walkActions(ph.Val.Do, func(a *dsl.Part[dsl.Action]) {
				if r, ok := a.Val.Spec.(interface{ RoutedHost() string }); ok && r.RoutedHost() != "" {
					out = append(out, r.RoutedHost())
				}
			})
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// setUp does the plan's own setup actions.
func (s *session) setUp(ctx context.Context) error {
	if len(s.p.Plan.Setup) == 0 {
		return nil
	}
	in := &installation{session: s, id: "setup", dir: s.set.Path("installs", "setup"), group: s.setup, scope: s.journal.Scope(), known: s.p.planned.with(nil),
		cell: &Cell{}, eval: s.p.eval, wants: map[task.Process][]int{}, ports: map[string][]map[string]int{}, backends: map[string][]task.Process{}, moving: make(chan struct{}, 1)}
	in.known["dir"] = in.dir
	if err := in.host().sequence(ctx, s.p.Plan.Setup); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	s.found = in.found
	return nil
}
