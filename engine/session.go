package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
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
	// Boundary is called before and after every entry of the journal. Tests end the engine in it.
	Boundary func(after bool, e journal.Line)
}

// A session is one run of a plan.
type session struct {
	p        *Program
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

	results  *verdict.Data     // of the runs so far
	current  []*installation   // more than one where the stage is together
	failed   map[string]string // install key -> why it could not be installed
	programs map[string]record.Program

	mu        sync.Mutex
	notUndone []string
}

// Run runs the program into a new result set, judges it and writes the report. It refuses, with a diag.List, what this
// build cannot run. An interrupt is the end of ctx with the cause ErrInterrupted: the outcome then says so, and
// everything is undone.
func (p *Program) Run(ctx context.Context, opt RunOptions) (*Outcome, error) {
	if p.Later.HasErrors() {
		return nil, p.Later
	}
	if opt.Progress == nil {
		opt.Progress = Quiet{}
	}
	s := &session{p: p, opt: opt, progress: opt.Progress, failed: map[string]string{}, programs: map[string]record.Program{}, results: &verdict.Data{Cells: map[verdict.Coord]*verdict.Cell{}}}
	if list := s.stagesLeftOut(ctx); list.HasErrors() {
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
	out, e := Conclude(s.set, p, ConcludeOptions{Gate: opt.Gate, NotUndone: s.notUndone, Interrupted: errors.Is(context.Cause(ctx), ErrInterrupted), Failure: err, Command: opt.Command})
	if e != nil {
		return nil, errors.Join(err, e)
	}
	s.progress.End()
	return out, nil
}

// open makes the result set, the journal, and what every process needs.
func (s *session) open() (err error) {
	if s.cert, s.key, err = certificate.SelfSigned(certificateKind(s.p.Host.TLS.Certificate), s.p.hosts()); err != nil {
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
	s.undos = slices.Concat(s.manager.Undos(), s.opt.Undos)
	if s.setup, err = s.manager.Group(proc.GroupOptions{Dir: s.set.Path("installs", "setup"), Journal: s.journal}); err != nil {
		return err
	}
	if err := s.writePlan(); err != nil {
		return err
	}
	return s.writeEnvironment()
}

func certificateKind(c string) string {
	if strings.Contains(c, "rsa") {
		return certificate.RSA
	}
	return certificate.ECDSA
}

// hosts are the names that the certificate is for.
func (p *Program) hosts() []string {
	out := []string{"localhost", "127.0.0.1", "::1"}
	for _, r := range p.routes() {
		out = append(out, r.Host)
	}
	return out
}

// writePlan keeps the plan as it is resolved, and what it was made of.
func (s *session) writePlan() error {
	names := sourceNames(s.p.Plan.Files)
	for file, b := range s.p.Plan.Sources {
		if n, ok := names[file]; ok {
			if err := s.set.WriteFile(filepath.Join("sources", n), []byte(s.redact(string(b)))); err != nil {
				return err
			}
		}
	}
	var errs []error
	resolved := dsl.Resolved(s.p.Plan, func(path string) string {
		kept, err := s.keepFile(path)
		errs = append(errs, err)
		return kept
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("keeping a file of the plan: %w", err)
	}
	return s.set.WriteFile("plan.yaml", []byte(s.redact(string(resolved))))
}

// keepFile copies a file that the plan refers to (a template), and gives its path in the result set.
func (s *session) keepFile(path string) (string, error) {
	b, err := s.p.readFile(path)
	if err != nil {
		return "", err
	}
	name := filepath.Join("sources", strings.ReplaceAll(strings.Trim(filepath.ToSlash(path), "/"), "/", "_"))
	return name, s.set.WriteFile(name, b)
}

func (s *session) writeEnvironment() error {
	e := machine.Environment()
	e.Token, e.Plan, e.Start, e.Command, e.Layout, e.Programs = s.env.Token, s.p.Plan.File, time.Now().UTC(), s.opt.Command, map[string][]int{}, s.programs
	for _, c := range s.p.Host.CPUs {
		e.Layout[c.Name] = c.Val
	}
	e.LeftOut = map[string]string{}
	for _, c := range s.p.Cells {
		if c.LeftOut != "" {
			e.LeftOut[coordText(c.Coord)] = c.LeftOut
		}
	}
	return s.set.WriteEnvironment(e)
}

// setUp does the plan's own setup actions.
func (s *session) setUp(ctx context.Context) error {
	if len(s.p.Plan.Setup) == 0 {
		return nil
	}
	in := &installation{session: s, id: "setup", dir: s.set.Path("installs", "setup"), group: s.setup, scope: s.journal.Scope(), known: s.p.planned.with(nil),
		cell: &Cell{}, eval: s.p.eval, wants: map[task.Process][]int{}, ports: map[string][]map[string]int{}, backends: map[string][]task.Process{}}
	in.known["dir"] = in.dir
	if err := in.host().sequence(ctx, s.p.Plan.Setup); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	return nil
}

// stages runs the schedule. An error ends it: an interrupt, or the result set cannot be written. What goes wrong with a
// target or a run is a result, and the next one is run.
func (s *session) stages(ctx context.Context) error {
	for _, st := range s.p.Stages {
		if !slices.ContainsFunc(st.Cells, func(c *Cell) bool { return c.LeftOut == "" }) {
			continue
		}
		rounds, done := st.Rounds, 0
		for round := 1; done < max(1, rounds); round++ {
			begun, err := s.begin(ctx, st, round)
			if err != nil {
				return err
			}
			rounds = begun.rounds
			if err := s.round(ctx, st, begun); err != nil {
				return err
			}
			done++
		}
		s.leaveAll()
	}
	return nil
}

// A begun stage has its expressions evaluated.
type begun struct {
	round, rounds int
	record        record.Stage
	known         known
	together      bool
}

// begin evaluates what is known when a stage begins, and records it.
func (s *session) begin(ctx context.Context, st *Stage, round int) (*begun, error) {
	k := s.p.planned.with(known{"stage": st.Name})
	v := verdict.Values{Data: s.results}
	list := s.p.bindParams(ctx, verdict.AtStage, s.p.eval, k, v, s.p.neededBy(st))
	part, l := st.Part.Bind(s.p.eval.fill(ctx, k, v))
	if list = append(list, l...); list.HasErrors() {
		return nil, fmt.Errorf("stage %s: %w", st.Name, placedAt(list))
	}
	b := &begun{round: round, rounds: max(1, part.Val.Rounds), known: k, together: part.Val.Together,
		record: record.Stage{Name: st.Name, Round: round, Start: time.Now().UTC(), Order: cmp.Or(part.Val.Order, "blocked"), Seed: uint64(part.Val.Seed), Params: map[string]any{}}}
	if b.record.Order == "random" && b.record.Seed == 0 {
		b.record.Seed = uint64(time.Now().UnixNano())
	}
	for _, p := range s.p.order {
		if v, ok := k.value("params." + p.name); ok && p.time == verdict.AtStage {
			b.record.Params[p.name] = v
		}
	}
	return b, s.set.WriteStage(&b.record)
}

// round does all runs of one round of a stage, in its order.
func (s *session) round(ctx context.Context, st *Stage, b *begun) error {
	var cells []*Cell
	repeats := map[*Cell]int{}
	for _, c := range st.Cells {
		if c.LeftOut != "" {
			s.cell(c).State = verdict.LeftOut
			continue
		}
		n := c.Repeats
		if n == 0 { // it was known only now
			part, list := c.Scenario.Bind(c.eval.fill(ctx, b.known.with(c.known), verdict.Values{At: verdictCoord(c.Coord), Data: s.results}))
			if err := placedAt(list); err != nil {
				return err
			}
			n = part.Val.Repeats
		}
		repeats[c] = n
		cells = append(cells, c)
		s.cell(c).Planned += n
	}
	if b.together {
		for _, c := range cells {
			if _, err := s.ensure(ctx, c, b, false); err != nil {
				return err
			}
		}
	}
	for _, slot := range order(b.record.Order, cells, func(c *Cell) int { return repeats[c] }, b.record.Seed+uint64(b.round)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.one(ctx, slot, b); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) cell(c *Cell) *verdict.Cell {
	k := verdictCoord(c.Coord)
	if s.results.Cells[k] == nil {
		s.results.Cells[k] = &verdict.Cell{}
	}
	return s.results.Cells[k]
}

// one does one run, or records why there is none.
func (s *session) one(ctx context.Context, slot slot, b *begun) error {
	c := slot.cell
	coord := c.Coord
	coord.Round, coord.Repeat = b.round, slot.repeat
	none := func(status record.Status, why string) error {
		cell := s.cell(c)
		cell.State, cell.Reason = verdict.Skipped, why
		if status == record.Failed {
			cell.State = verdict.Failed
		}
		if slot.repeat > 1 {
			return nil // said once
		}
		s.progress.None(coord, string(status), why)
		return s.set.WriteRun(&record.Run{Coord: coord, Status: status, Reason: why, Start: time.Now().UTC()})
	}
	if c.Unsupported != "" {
		return none(record.Unsupported, c.Unsupported)
	}
	if why, ok := s.failed[c.installKey()]; ok {
		return none(record.Failed, why)
	}
	if missing := c.declared.missing(); len(missing) > 0 {
		why := "not installed on this machine: " + strings.Join(missing, ", ")
		s.missing(c.Coord.Target, why)
		return none(record.Unsupported, why)
	}
	in, err := s.ensure(ctx, c, b, true)
	if err != nil {
		return err
	}
	if in == nil {
		why := s.failed[c.installKey()]
		if status, ok := strings.CutPrefix(why, missingProgram); ok {
			delete(s.failed, c.installKey())
			return none(record.Unsupported, status)
		}
		return none(record.Failed, why)
	}
	return s.do(ctx, c, coord, in, b)
}

const missingProgram = "\x00missing: "

func (s *session) missing(target, why string) { s.programs[target] = record.Program{Missing: why} }

// ensure gives the installation that a cell runs on: one that is there, or a new one. It is nil if the target cannot be
// installed; an error means that nothing more can be run.
func (s *session) ensure(ctx context.Context, c *Cell, b *begun, leave bool) (*installation, error) {
	for _, in := range s.current {
		if in.key == c.installKey() && in.usable(c) {
			return in, nil
		}
	}
	for _, in := range slices.Clone(s.current) {
		// Without together only one is there; a target's older installation ends in any case.
		if !b.together || in.cell.Coord.Target == c.Coord.Target {
			s.leave(in)
		}
	}
	in, err := s.install(ctx, c, b.known)
	switch {
	case err == nil:
		s.current = append(s.current, in)
		s.version(ctx, in)
		return in, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	why := s.redact(err.Error())
	var missing *proc.MissingProgram
	if errors.As(err, &missing) {
		why = missingProgram + missing.Error()
		s.missing(c.Coord.Target, missing.Error())
	}
	s.failed[c.installKey()] = why
	return nil, nil
}

// usable reports whether an installation may serve another run of a cell.
func (in *installation) usable(c *Cell) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.dead != "":
		return false
	case c.Fresh == "run":
		return in.runs == 0
	case c.Fresh == "scenario":
		return in.cell.Coord.Stage == c.Coord.Stage && in.cell.Coord.Scenario == c.Coord.Scenario
	}
	return true
}

func (s *session) leave(in *installation) {
	s.current = slices.DeleteFunc(s.current, func(x *installation) bool { return x == in })
	in.end()
}

func (s *session) leaveAll() {
	for len(s.current) > 0 {
		s.leave(s.current[len(s.current)-1])
	}
}

// version records what a target runs, once.
func (s *session) version(ctx context.Context, in *installation) {
	name := in.cell.Coord.Target
	if _, ok := s.programs[name]; ok {
		return
	}
	target, _ := in.cell.Target.Bind(in.eval.fill(ctx, in.known, in.values()))
	program := ""
	for _, p := range in.order {
		if len(p.Programs) > 0 {
			program = p.Programs[0]
			break
		}
	}
	s.programs[name] = machine.Program(ctx, program, target.Val.Version)
	if err := s.writeEnvironmentPrograms(); err != nil {
		slog.Error(err.Error())
	}
}

func (s *session) writeEnvironmentPrograms() error {
	e, err := s.set.Environment()
	if err != nil {
		return err
	}
	e.Programs = maps.Clone(s.programs)
	return s.set.WriteEnvironment(e)
}

// do does one run on an installation.
func (s *session) do(ctx context.Context, c *Cell, coord record.Coord, in *installation, b *begun) (err error) {
	r := &run{session: s, cell: c, inst: in, round: coord.Round, repeat: coord.Repeat, start: time.Now(), scope: s.journal.Scope(), broken: make(chan error, 1), eval: c.eval}
	r.rec = &record.Run{Coord: coord, Start: r.start.UTC(), Install: in.id, SetHistory: in.runs > 0, Params: map[string]any{}, With: map[string]any{}, ValueDescs: slices.Concat(c.declared.metrics, s.p.customDescs)}
	r.known = in.known.with(c.known).with(b.known).with(known{"round": float64(coord.Round), "repeat": float64(coord.Repeat)})
	for _, n := range r.known.names() {
		v, ok := r.known.value(n)
		if name, is := strings.CutPrefix(n, "params."); is && ok && !s.p.params[name].part.Val.Secret {
			r.rec.Params[name] = v
		} else if name, is := strings.CutPrefix(n, "with."); is && ok {
			r.rec.With[name] = v
		}
	}
	measured := slices.ContainsFunc(c.Scenario.Val.Phases, func(p dsl.Part[dsl.Phase]) bool { return p.Val.Kind == "measure" })
	for _, p := range c.Scenario.Val.Phases {
		recorded := p.Val.Kind != "install" && p.Val.Kind != "warm-up"
		r.rec.Phases = append(r.rec.Phases, record.Phase{Name: p.Val.Name, Kind: p.Val.Kind, Recorded: recorded, Headline: recorded && (!measured || p.Val.Kind == "measure")})
	}
	in.begin(r)
	if r.out, err = s.set.StartRun(r.rec, record.WriterOptions{Report: r.harness}); err != nil {
		return err
	}
	if r.procs, err = s.manager.Group(proc.GroupOptions{Dir: r.out.Dir, Journal: r.scope, Parent: in.group}); err != nil {
		return err
	}
	r.data.Run = r.rec
	s.progress.Run(coord, c.estimate())
	clock := newClock()
	servers := in.readServers(ctx)
	r.probes = s.p.probes(c)
	stop := r.sampling(ctx)
	r.do(ctx)
	stop()
	r.rec.Facts.Servers = in.readServers(ctx).since(servers)
	r.rec.Facts.ClockStep = clock.step()
	s.closeGroup(r.procs)
	in.over(r)
	r.rec.Facts.Lost = r.out.Lost()
	return r.finish(ctx)
}

// finish derives the metrics and judges the measurement itself.
func (r *run) finish(ctx context.Context) error {
	if err := r.out.Checkpoint(r.rec); err != nil {
		r.harness(err)
	}
	r.out.Flush()
	r.data.Run = r.rec
	if r.rec.Status != record.Failed {
		r.p.derive(ctx, &r.data)
	} else {
		measure.Derive(&r.data)
	}
	if err := r.out.Finish(r.rec); err != nil {
		slog.Error(err.Error())
	}
	cell := r.session.cell(r.cell)
	cell.Runs = append(cell.Runs, verdictRun(&r.data, true))
	r.progress.Done(r.rec)
	if r.rec.Status == record.Interrupted {
		return ErrInterrupted
	}
	return nil
}

// redact takes secrets out of what is kept.
func (s *session) redact(text string) string { return s.p.redact(text) }

// stagesLeftOut finds params that need results of cells that --only or --skip left out, before anything is done.
func (s *session) stagesLeftOut(ctx context.Context) diag.List {
	var list diag.List
	ran := map[string]bool{}
	for _, st := range s.p.Stages {
		included := slices.ContainsFunc(st.Cells, func(c *Cell) bool { return c.LeftOut == "" })
		if included {
			for _, p := range s.p.order {
				if p.time != verdict.AtStage || !s.p.neededBy(st)[p.name] {
					continue
				}
				for _, h := range p.part.Holes() {
					for _, m := range stageRef.FindAllStringSubmatch(h.Text, -1) {
						if other := s.p.stage(m[1]); other != nil && !ran[m[1]] {
							list.Addf(h.Pos(1, 0), "stage %q needs params.%s, which needs the results of stage %q, which is left out", st.Name, p.name, m[1]).Hint = fmt.Sprintf("run that stage too, or use --set %s=VALUE", p.name)
						}
					}
				}
			}
		}
		ran[st.Name] = included
	}
	return list
}

var _ = os.Args
