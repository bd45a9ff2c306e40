package actions

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var startKind = kind("start", `Start a process, and wait until it is ready. It runs until its installation ends (in a phase: until the run ends), and is ended then with everything that it started.
It is a command, or one of planrun's own servers: origin, proxy, relay. Its ports are chosen by planrun: port("http") in expressions, .Port.http in templates. Its output is kept as its log.`, func() *Start { return &Start{} })

// Start is the spec of start.
type Start struct {
	Name       dsl.Ident       `yaml:"name" hole:"no" doc:"its name, by which other actions, probes and expressions know it; left out: its role"`
	As         dsl.Ident       `yaml:"as" hole:"no" default:"sut" doc:"its role: its CPU and memory are metrics with this prefix (sut_cpu_cores), and host.cpus and limits are by role"`
	Command    []string        `yaml:"command" kind:"true" doc:"the program and its arguments; no shell reads them. The program is looked for in PATH; a path is relative to the plan's file. A missing program makes the target unsupported"`
	Builtin    string          `yaml:"builtin" kind:"true" enum:"origin|proxy|relay|gateway|balancer" doc:"a server of planrun's own: origin answers (/small, /bytes/N, ...), proxy is an HTTP reverse proxy, relay passes TCP on"`
	Replicas   int             `yaml:"replicas" default:"1" min:"1" max:"10000" doc:"how many; replica is 0, 1, ... in the expressions of this action"`
	Listen     dsl.Strings     `yaml:"listen" hole:"no" doc:"names of the ports that it listens on, each replica on its own; planrun chooses them. For a builtin http, https (HTTP/1.1 and HTTP/2 over TLS) and h2c mean the protocol. Ports of the target's processes are its endpoints"`
	Ports      dsl.Map[int]    `yaml:"ports" doc:"port numbers for names of listen that cannot be chosen freely"`
	Upstreams  dsl.Strings     `yaml:"upstreams" hole:"no" doc:"of a builtin: what it forwards to, names of backends or processes; requests take turns"`
	Routes     bool            `yaml:"routes" doc:"of the builtin proxy: forward by the routes of the plan's backends (host and path) instead of to upstreams"`
	Pick       string          `yaml:"pick" enum:"hash|random|round-robin" later:"the balancer comes later" doc:"of the builtin balancer: how it picks the upstream of a connection"`
	With       StartWith       `yaml:"with" doc:"settings of the builtin"`
	Dir        string          `yaml:"dir" doc:"working directory, below the installation's; left out: the installation's, or NAME-REPLICA below it if there are several replicas"`
	Env        dsl.Map[string] `yaml:"env" doc:"environment variables, beside planrun's own"`
	CPUs       dsl.CPUs        `yaml:"cpus" doc:"CPUs that it is pinned to; left out: those of its role in host.cpus, else it is not pinned"`
	Nice       *int            `yaml:"nice" min:"-20" max:"19" doc:"niceness; left out: that of host.nice"`
	Limits     dsl.Limits      `yaml:"limits" doc:"limits of each replica, by cgroups; where the right to make these is missing the start is refused"`
	Ready      dsl.Ready       `yaml:"ready" doc:"when it counts as started; left out: when each of its ports accepts connections. Its end before that is an error at once, with the last lines of its log"`
	Grace      dsl.Duration    `yaml:"grace" default:"10s" min:"0s" doc:"how long it has between its stop signal and SIGKILL"`
	StopSignal string          `yaml:"stop-signal" enum:"TERM|INT|QUIT|HUP|USR1|USR2|WINCH|KILL" default:"TERM" doc:"the signal that asks it to end"`
}

// StartWith are settings of builtins.
type StartWith struct {
	ServedBy    bool         `yaml:"served-by" doc:"of the origin: answers carry an x-served-by header with its name"`
	IdleTimeout dsl.Duration `yaml:"idle-timeout" min:"0s" doc:"of the origin: how long it keeps an idle connection; left out: for ever"`
	DialTimeout dsl.Duration `yaml:"dial-timeout" min:"1ms" doc:"of the proxy and the relay: how long connecting to an upstream may take; left out: 5s"`
	Timeout     dsl.Duration `yaml:"timeout" min:"1ms" doc:"of the proxy: how long the head of an upstream's answer may take, after which it answers 504; left out: no limit"`
	Idle        int          `yaml:"idle" min:"1" doc:"of the proxy: connections that it keeps to each upstream, at most; left out: 1024"`
}

// Check finds what the types do not.
func (s *Start) Check(c *dsl.Check) {
	if !c.Has("command") && !c.Has("builtin") {
		c.Errorf("", "nothing says what is started").Hint = "write command: [PROGRAM, ARGUMENT, ...] or builtin: proxy"
	}
	if c.Has("command") {
		if c.Known("command") && (len(s.Command) == 0 || s.Command[0] == "") {
			c.Errorf("command", "an empty command").Hint = "write [PROGRAM, ARGUMENT, ...]"
		}
		for _, key := range []string{"upstreams", "routes", "pick", "with"} {
			if c.Has(key) {
				c.Errorf(key, "this is for builtins").Hint = "put it into the command, or into a file that write makes"
			}
		}
	}
	for _, e := range s.Ports {
		if !slices.Contains(s.Listen, e.Name) {
			c.Errorf("ports", "%q is not in listen", e.Name).Hint = dsl.Suggest(e.Name, s.Listen, "names of listen")
		}
		if e.Val < 1 || e.Val > 65535 {
			c.Errorf("ports", "%d is no port", e.Val).Hint = "write from 1 to 65535"
		} else if s.Replicas > 1 {
			c.Errorf("ports", "%d replicas cannot all listen on port %d", s.Replicas, e.Val).Hint = "leave ports out, so that each replica gets its own"
		}
	}
	for i, name := range s.Listen {
		if name == "" || strings.ContainsAny(name, "/: ") {
			c.Errorf("listen", "%q is no name of a port", name)
		} else if slices.Contains(s.Listen[:i], name) {
			c.Errorf("listen", "the name %q stands twice", name)
		}
	}
	s.checkReady(c)
	if s.Builtin != "" {
		s.checkBuiltin(c)
	}
}

func (s *Start) checkReady(c *dsl.Check) {
	name := s.Ready.TCP
	if s.Ready.HTTP != "" {
		if name, _, _ = strings.Cut(s.Ready.HTTP, "/"); name == "" && len(s.Listen) == 0 {
			c.Errorf("ready", "it listens on no port that could answer").Hint = "add listen: [http]"
		}
	}
	if name != "" && !slices.Contains(s.Listen, name) {
		c.Errorf("ready", "it does not listen on %q", name).Hint = dsl.Suggest(name, s.Listen, "names of listen")
	}
}

// Declares the process, and what it forwards to.
func (s *Start) Declares() task.Declaration {
	p := task.ProcessDecl{Name: s.name(), Role: string(s.role()), Replicas: s.Replicas, Listen: s.Listen, Builtin: s.Builtin}
	for _, e := range s.Ports {
		if p.Ports == nil {
			p.Ports = map[string]int{}
		}
		p.Ports[e.Name] = e.Val
	}
	if len(s.Command) > 0 && s.Command[0] != "" {
		p.Programs = s.Command[:1]
	}
	d := task.Declaration{Processes: []task.ProcessDecl{p}, Requires: task.LimitsRequire(int64(s.Limits.Memory), s.Limits.CPU, s.Limits.Processes)}
	for _, u := range s.Upstreams {
		d.Uses = append(d.Uses, task.Use{Kind: "address", Name: u, Field: "upstreams"})
	}
	return d
}

func (s *Start) role() dsl.Ident { return cmp.Or(s.As, "sut") }
func (s *Start) name() string    { return string(cmp.Or(s.Name, s.role())) }

// DefaultName is its name in the timeline.
func (s *Start) DefaultName() string { return "start " + s.name() }

// Run starts the replicas one after another, each when the one before it is ready.
func (s *Start) Run(ctx context.Context, env *task.Env) error {
	for i := range max(1, s.Replicas) {
		bound, err := env.Rebind(i)
		if err != nil {
			return err
		}
		r, ok := bound.(*Start)
		if !ok {
			return fmt.Errorf("replica %d: its spec is a %T", i, bound)
		}
		spec, err := r.process(env, i)
		if err != nil {
			return err
		}
		p, err := env.Processes.Start(ctx, spec)
		if err != nil {
			return err
		}
		env.Started(p, spec.CPUs)
		r.followChanges(env, i)
	}
	return nil
}

// process is what is started for one replica.
func (s *Start) process(env *task.Env, replica int) (task.ProcessSpec, error) {
	ports, err := s.ports(env, replica)
	if err != nil {
		return task.ProcessSpec{}, err
	}
	spec := task.ProcessSpec{
		Name: s.name(), Role: string(s.role()), Replica: replica, Command: command(env, s.Command), Builtin: s.Builtin, Env: map[string]string{},
		Dir: s.dir(env, replica), CPUs: s.CPUs, Nice: env.Nice, Ports: ports, Ready: s.ready(), Grace: s.Grace, Stop: s.StopSignal,
		OnExit: env.OnExit(s.name(), replica),
	}
	if spec.CPUs == nil {
		spec.CPUs = env.CPUs(spec.Role)
	}
	if s.Nice != nil {
		spec.Nice = *s.Nice
	}
	for _, e := range s.Env {
		spec.Env[e.Name] = e.Val
	}
	if spec.Limits, err = s.limits(env); err != nil {
		return spec, err
	}
	if s.Builtin != "" {
		spec.Config, err = s.config(env, spec)
	}
	return spec, err
}

func (s *Start) dir(env *task.Env, replica int) string {
	switch {
	case filepath.IsAbs(s.Dir):
		return s.Dir
	case s.Dir == "" && s.Replicas > 1:
		return filepath.Join(env.Dir, s.name()+"-"+strconv.Itoa(replica))
	}
	return filepath.Join(env.Dir, s.Dir)
}

// ports are those that the installation took for it, else new ones.
func (s *Start) ports(env *task.Env, replica int) (map[string]int, error) {
	out := map[string]int{}
	taken := env.Ports(s.name(), replica)
	for _, name := range s.Listen {
		if port, ok := s.Ports.Get(name); ok {
			out[name] = port
		} else if port, ok := taken[name]; ok {
			out[name] = port
		} else {
			ports, err := env.Processes.Ports(1)
			if err != nil {
				return nil, err
			}
			out[name] = ports[0]
		}
	}
	return out, nil
}

func (s *Start) ready() task.Ready {
	r := task.Ready{HTTP: s.Ready.HTTP, Log: s.Ready.Log, Within: s.Ready.Timeout}
	if s.Ready.TCP != "" {
		r.TCP = []string{s.Ready.TCP}
	}
	if strings.HasPrefix(r.HTTP, "/") {
		name := s.Listen[0]
		if slices.Contains(s.Listen, "http") {
			name = "http"
		}
		r.HTTP = name + r.HTTP
	}
	return r
}

// limits are its own, or its role's, which the role's processes share. Both together would be one within the other.
func (s *Start) limits(env *task.Env) (task.Limits, error) {
	role := env.Limits(string(s.role()))
	own := task.Limits{
		Memory: int64(s.Limits.Memory), CPU: s.Limits.CPU, Processes: s.Limits.Processes, Files: s.Limits.Files,
		IgnoreSocketBuffers: s.Limits.Memory > 0 && !s.Limits.CountSocketBuffers,
	}
	if own.Memory == 0 && own.CPU == 0 && own.Processes == 0 {
		role.Files = cmp.Or(own.Files, role.Files)
		return role, nil
	}
	if role.Memory != 0 || role.CPU != 0 || role.Processes != 0 {
		return own, fmt.Errorf("limits: the role %s has limits already, which its processes share; set them in one of the two places", s.role())
	}
	own.Files = cmp.Or(own.Files, role.Files)
	return own, nil
}
