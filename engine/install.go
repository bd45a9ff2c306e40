package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/verdict"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/serve/faults"
	"github.com/planrun/planrun/internal/serve/origin"
)

// An installation is a target that is installed, with its backends and the relays in front of them.
type installation struct {
	*session
	id, dir  string
	key      string
	cell     *Cell // the first one that it serves
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

	mu    sync.Mutex
	dead  string // why it cannot serve any more
	run   *run   // the run that goes on, for events of its processes
	runs  int    // runs so far
	wants map[task.Process][]int
}

// install makes an installation for a cell. What it started is ended if it fails.
func (s *session) install(ctx context.Context, cell *Cell, stage known) (*installation, error) {
	id, dir, err := s.set.NewInstall(cell.Coord.Target)
	if err != nil {
		return nil, err
	}
	in := &installation{session: s, id: id, dir: dir, key: cell.installKey(), cell: cell, scope: s.journal.Scope(), ports: map[string][]map[string]int{},
		backends: map[string][]task.Process{}, wants: map[task.Process][]int{}, eval: cell.eval}
	if in.group, err = s.manager.Group(proc.GroupOptions{Dir: dir, Journal: in.scope, Parent: s.setup}); err != nil {
		return nil, err
	}
	s.progress.Install(cell.Coord.Target)
	if err = in.do(ctx, stage); err != nil {
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
	if err := in.certificate(); err != nil {
		return err
	}
	for _, b := range in.p.Plan.Backends.Names() {
		if err := in.startBackend(ctx, b); err != nil {
			return fmt.Errorf("starting the backend %s: %w", b, err)
		}
	}
	if err := in.startRelays(ctx); err != nil {
		return fmt.Errorf("starting the relays: %w", err)
	}
	for _, b := range in.p.Plan.Backends.Names() {
		if a := in.addresses(b); len(a) > 0 {
			in.known["backends."+b+".address"], in.known["backends."+b+".addresses"] = a[0], a
		}
	}
	if err := in.takePorts(); err != nil {
		return err
	}
	target, list := in.cell.Target.Bind(in.eval.fill(ctx, in.known, in.values()))
	if err := placedAt(list); err != nil {
		return err
	}
	return in.host().sequence(ctx, target.Val.Install)
}

// end undoes the installation. What its processes were is kept in its directory.
func (in *installation) end() {
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

// startBackend starts the replicas of a backend.
func (in *installation) startBackend(ctx context.Context, name string) error {
	part, list := in.p.Plan.Backends.Get(name).Bind(in.eval.fill(ctx, in.known, in.values()))
	if err := placedAt(list); err != nil {
		return err
	}
	b := part.Val
	if len(b.Address) > 0 {
		return nil
	}
	listen := b.Listen
	if len(listen) == 0 {
		listen = []string{"http"}
	}
	cpus := []int(b.CPUs)
	if cpus == nil {
		cpus = in.cpus("backends")
	}
	for i := range b.Replicas {
		ports, err := in.portsFor(in.group, listen)
		if err != nil {
			return err
		}
		spec := task.ProcessSpec{Name: name, Role: "backends", Replica: i, CPUs: cpus, Nice: in.p.Host.Nice, Ports: ports, Dir: filepath.Join(in.dir, fmt.Sprintf("%s-%d", name, i)),
			Limits: limits(b.Limits, ""), OnExit: in.onExit(name, i), Env: map[string]string{}}
		for _, e := range b.Env {
			spec.Env[e.Name] = e.Val
		}
		if len(b.Command) > 0 {
			spec.Command = b.Command
			spec.Ready = task.Ready{HTTP: b.Ready.HTTP, Log: b.Ready.Log, Within: b.Ready.Timeout}
			if b.Ready.TCP != "" {
				spec.Ready.TCP = []string{b.Ready.TCP}
			}
			for n, p := range ports {
				spec.Env["PORT_"+n] = strconv.Itoa(p)
			}
		} else {
			spec.Builtin = b.Builtin
			config := origin.Spec{Name: fmt.Sprintf("%s-%d", name, i), Listen: map[string]string{}, Procs: max(1, len(cpus))}
			for n, p := range ports {
				config.Listen[n] = loopback(p)
			}
			spec.Config = config
		}
		p, err := in.group.Start(ctx, spec)
		if err != nil {
			return err
		}
		in.note(p, cpus)
		in.backends[name] = append(in.backends[name], p)
	}
	return nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// portsFor takes a port for each name.
func (in *installation) portsFor(g *proc.Group, names []string) (map[string]int, error) {
	ports, err := g.Ports(len(names))
	if err != nil {
		return nil, fmt.Errorf("taking ports: %w", err)
	}
	out := map[string]int{}
	for i, n := range names {
		out[n] = ports[i]
	}
	return out, nil
}

// takePorts takes the ports of all start actions before the first action, because files that are written first name them.
func (in *installation) takePorts() error {
	d := &declared{}
	d.declares(in.cell.Target.Val.Install)
	for _, p := range d.processes {
		for range max(1, p.Replicas) {
			ports, err := in.portsFor(in.group, p.Listen)
			if err != nil {
				return err
			}
			in.ports[p.Name] = append(in.ports[p.Name], ports)
		}
		in.order = append(in.order, p)
	}
	return nil
}

// port finds a port by its name: of the process, if it is one of them, else of the last one that listens so. A balancer
// in front of a fleet comes after it.
func (in *installation) port(process, name string, replica int) (int, error) {
	var known []string
	found := 0
	for _, p := range in.order {
		all := in.ports[p.Name]
		if replica >= len(all) {
			replica = 0
		}
		for n, port := range all[replica] {
			known = append(known, n)
			if n == name {
				if found = port; p.Name == process {
					return port, nil
				}
			}
		}
	}
	if found == 0 {
		return 0, fmt.Errorf("no process of the target listens on %q; %s", name, didYouMean(name, known))
	}
	return found, nil
}

// endpoint is host:port of an endpoint of the target.
func (in *installation) endpoint(name string) (string, error) {
	if e, ok := in.cell.Target.Val.Endpoints.Get(name); ok && e.Address != "" {
		return string(e.Address), nil
	}
	port, err := in.port("", name, 0)
	if err != nil {
		return "", fmt.Errorf("target %q has no endpoint %q: %w", in.cell.Coord.Target, name, err)
	}
	return loopback(port), nil
}

// addresses are where a backend can be reached: through the relays in front of it, if there are any.
func (in *installation) addresses(backend string) (out []string) {
	if a := in.relayed(backend); a != nil {
		return a
	}
	return in.origins(backend)
}

// origins are where the replicas of a backend listen.
func (in *installation) origins(backend string) (out []string) {
	b := in.p.Plan.Backends.Get(backend)
	for _, a := range b.Val.Address {
		out = append(out, string(a))
	}
	first := "http"
	if len(b.Val.Listen) > 0 {
		first = b.Val.Listen[0]
	}
	for _, p := range in.backends[backend] {
		out = append(out, loopback(p.Ports()[first]))
	}
	return out
}

// address finds addresses by the name of a backend or of a process.
func (in *installation) address(name string) ([]string, error) {
	if in.p.Plan.Backends.Get(name) != nil {
		return in.addresses(name), nil
	}
	procs, err := in.group.Find(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range procs {
		names := slices.Sorted(maps.Keys(p.Ports()))
		if len(names) > 0 {
			out = append(out, loopback(p.Ports()[names[0]]))
		}
	}
	return out, nil
}

// call answers port("http") and endpoint("http").
func (in *installation) call(name string, args []any) (any, error) {
	return in.callOf("", 0)(name, args)
}

func (in *installation) callOf(process string, replica int) func(string, []any) (any, error) {
	return func(name string, args []any) (any, error) {
		arg, _ := args[0].(string)
		if name == "endpoint" {
			return in.endpoint(arg)
		}
		p, err := in.port(process, arg, replica)
		return float64(p), err
	}
}

func (in *installation) values() verdict.Values {
	return verdict.Values{At: verdictCoord(in.cell.Coord), Call: in.call, Data: in.results}
}

// host of the actions of install and routes-changed.
func (in *installation) host() host {
	h := host{}
	h.fill = func(ctx context.Context, more known) dsl.Filler {
		return in.eval.fill(ctx, in.known.with(more), in.values())
	}
	h.env = func(a *dsl.Part[dsl.Action]) *task.Env {
		env := in.env(a)
		env.Do = func(ctx context.Context, actions []dsl.Part[dsl.Action]) error { return h.sequence(ctx, actions) }
		return env
	}
	return h
}

var errNoRun = errors.New("it needs a run: it can stand in a scenario's phases only")

// env is what actions get while a target is installed; a run adds to it.
func (in *installation) env(a *dsl.Part[dsl.Action]) *task.Env {
	return &task.Env{
		Log: slog.Default(), Dir: in.dir, Journal: in.scope, Processes: in.group, Loads: noLoads{}, Relays: noRelays{}, Name: actionName(a),
		Event: in.event, Value: in.setValue, Nice: in.p.Host.Nice,
		Eval:     func(context.Context, dsl.Expr) (any, error) { return nil, errNoRun },
		Snapshot: func(string) (map[string]float64, error) { return nil, errNoRun },
		Template: in.template, Endpoint: in.endpoint, Address: in.address, CPUs: in.cpus, Limits: in.limits, Redact: in.redact, Allowed: in.allowed,
		Ports: func(process string, replica int) map[string]int {
			if all := in.ports[process]; replica < len(all) {
				return all[replica]
			}
			return nil
		},
		Started: in.note, OnExit: in.onExit, ReadFile: in.p.readFile,
	}
}

type noLoads struct{}

func (noLoads) Prepare(context.Context, load.Spec, task.LoadOptions) (task.PreparedLoad, error) {
	return nil, errNoRun
}

// template is the dot of the target's files.
func (in *installation) template(replica int) task.TemplateData {
	d := task.TemplateData{Port: map[string]int{}, Dir: in.dir, Backends: map[string][]task.Address{}, With: map[string]any{}, TLS: in.tls, Cpus: map[string][]int{}, Replica: replica, Target: in.cell.Coord.Target}
	for _, p := range in.order {
		if all := in.ports[p.Name]; replica < len(all) {
			for n, port := range all[replica] {
				d.Port[n] = port
			}
		}
	}
	for _, b := range in.p.Plan.Backends.Names() {
		for _, a := range in.addresses(b) {
			host, port, _ := net.SplitHostPort(a)
			n, _ := strconv.Atoi(port)
			d.Backends[b] = append(d.Backends[b], task.Address{Address: a, Host: host, Port: n})
		}
	}
	d.Routes = in.p.routes()
	for _, k := range in.cell.With {
		if w, ok := in.known["with."+k.Name].(dsl.Value); ok && w.Written != "" {
			d.With[k.Name] = w.Written
		} else if v, ok := in.known.value("with." + k.Name); ok {
			d.With[k.Name] = v
		}
	}
	for _, e := range in.p.Host.CPUs {
		d.Cpus[e.Name] = e.Val
	}
	return d
}

// routes puts the routes of all backends by host, in the order of the plan.
func (p *Program) routes() (out []task.Route) {
	for _, b := range p.Plan.Backends {
		for _, r := range b.Val.Routes {
			i := slices.IndexFunc(out, func(x task.Route) bool { return x.Host == r.Name })
			if i < 0 {
				out = append(out, task.Route{Host: r.Name})
				i = len(out) - 1
			}
			for _, path := range r.Val {
				out[i].Paths = append(out[i].Paths, task.RoutePath{Path: path, Backend: b.Name})
			}
		}
	}
	return out
}

func (in *installation) cpus(role string) []int {
	c, _ := in.p.Host.CPUs.Get(role)
	return c
}

// limits of a role: its processes share them.
func (in *installation) limits(role string) task.Limits {
	l, _ := in.cell.Limits.Get(role)
	return limits(l, role)
}

func limits(l dsl.Limits, group string) task.Limits {
	if l == (dsl.Limits{}) || l == (dsl.Limits{CountSocketBuffers: true}) {
		return task.Limits{}
	}
	return task.Limits{Memory: int64(l.Memory), CPU: l.CPU, Files: l.Files, Processes: l.Processes, IgnoreSocketBuffers: !l.CountSocketBuffers, Group: group}
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

func (in *installation) setValue(name string, v any) { in.known["values."+name] = v }

// allowed refuses load to public addresses.
func (s *session) allowed(host string, ip netip.Addr) error {
	if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() {
		return nil
	}
	named := func(list []string) bool {
		for _, a := range list {
			if p, err := netip.ParsePrefix(a); err == nil && p.Contains(ip) || a == host || a == ip.String() {
				return true
			}
		}
		return false
	}
	switch {
	case !named(s.p.Host.Allow):
		return fmt.Errorf("%s (%s) is a public address; to send load there the plan must name it in host.allow, and the command line in --allow", host, ip)
	case !named(s.opt.Allow):
		return fmt.Errorf("%s (%s) is a public address; the plan allows it, but the command line must too: --allow %s", host, ip, host)
	}
	return nil
}
