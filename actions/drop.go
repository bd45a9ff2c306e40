package actions

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	packets "github.com/planrun/planrun/internal/serve/drop"
)

var dropKind = kind("drop", `Drop TCP packets to a port until the phase ends, by rules of nftables, where the right to make them exists (planrun env says so; elsewhere the scenario is unsupported). The kernel drops them, so that connections stay open and retransmit.
Only packets on the loopback interface are dropped; there one is a segment of up to 64 KiB. The rules are in a table of planrun's own, which goes with the process that holds it.`, func() *drop { return &drop{} })

type drop struct {
	Endpoint  string      `yaml:"endpoint" kind:"true" doc:"an endpoint of the target"`
	Backends  string      `yaml:"backends" kind:"true" ref:"backends" doc:"all replicas that a backend has when it begins, where they listen themselves: behind relays"`
	Port      int         `yaml:"port" kind:"true" min:"1" max:"65535" doc:"a port of the loopback interface, whoever listens on it"`
	Share     dsl.Percent `yaml:"share" default:"100%" min:"0%" max:"100%" doc:"share of the packets, each by chance, drawn in millionths (0.0001%); 0% drops none and counts them"`
	Direction string      `yaml:"direction" enum:"in|out|both" default:"in" doc:"in: packets to the port; out: those from it"`
}

// Lasting: it is in force until its phase ends.
func (d *drop) Lasting() bool { return true }

// Check finds what the types do not.
func (d *drop) Check(c *dsl.Check) {
	if !c.Has("endpoint") && !c.Has("backends") && !c.Has("port") {
		c.Errorf("", "nothing says which packets").Hint = "write one of endpoint, backends, port"
	}
	if nearest, ok := packets.Nearest(float64(d.Share)); !ok && c.Known("share") {
		c.Errorf("share", "the kernel draws shares in millionths (0.0001%%), which are too coarse for this one").Hint = fmt.Sprintf("the nearest is %s%%", strconv.FormatFloat(100*nearest, 'f', 4, 64))
	}
}

// DefaultName says what it does.
func (d *drop) DefaultName() string { return "drop of " + d.what() }

func (d *drop) what() string {
	where := fmt.Sprintf("port %d", d.Port)
	switch {
	case d.Backends != "":
		where = d.Backends
	case d.Endpoint != "":
		where = "endpoint " + d.Endpoint
	}
	return share(float64(d.Share)) + "packets " + map[string]string{"in": "to ", "out": "from ", "both": "to and from "}[d.Direction] + where
}

// share is empty for all.
func share(of float64) string {
	if of == 1 {
		return ""
	}
	return strconv.FormatFloat(of*100, 'g', 4, 64) + " % of the "
}

// Declares what it refers to, what it counts, and what it needs of the machine.
func (d *drop) Declares() task.Declaration {
	return task.Declaration{
		Uses:     []task.Use{{Kind: "endpoint", Name: d.Endpoint, Field: "endpoint"}, {Kind: "backend", Name: d.Backends, Field: "backends"}},
		Metrics:  []series.Desc{{Name: task.DroppedMetric, Better: series.Neither, Across: series.Median, Class: series.Count, Doc: "packets that the drops of the run dropped, as the kernel counted them"}},
		Requires: []string{task.Nftables},
	}
}

// Prepare starts the process that holds the table, so that the rules come into force without delay.
func (d *drop) Prepare(ctx context.Context, env *task.Env) (any, error) {
	table := "planrun-" + env.Token + "-" + strings.ToLower(rand.Text()[:8])
	p, err := env.Processes.Start(ctx, task.ProcessSpec{Name: env.Name, Role: "drop", Builtin: "drop", Config: packets.Spec{Table: table}})
	if err != nil {
		return nil, fmt.Errorf("making a table of rules: %w", err)
	}
	return p, nil
}

func (d *drop) Run(ctx context.Context, env *task.Env) (err error) {
	p, ok := env.Prepared.(task.Process)
	if !ok {
		return fmt.Errorf("it was prepared as a %T", env.Prepared)
	}
	defer func() {
		err = errors.Join(err, env.Processes.Stop(context.WithoutCancel(ctx), p))
	}()
	ports, err := d.ports(ctx, env)
	if err != nil {
		return err
	}
	var rules []packets.Rule
	for _, port := range ports {
		if d.Direction != "out" {
			rules = append(rules, packets.Rule{Port: port, Share: float64(d.Share)})
		}
		if d.Direction != "in" {
			rules = append(rules, packets.Rule{Port: port, Share: float64(d.Share), From: true})
		}
	}
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if err := makeRules(ctx, p, rules); err != nil {
		return err
	}
	over := env.Fault(task.Fault{What: d.DefaultName()})
	select {
	case <-p.Exited():
		status, _ := p.Exit()
		over(task.Effect{Share: float64(d.Share), Unfelt: "the process that held the rules ended: " + status})
		return fmt.Errorf("the process that held the rules ended (%s), and the rules with it", status)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var reply packets.Reply
	err = p.Control(end, packets.Control{}, &reply)
	e := task.Effect{Share: float64(d.Share)}
	e.Packets, e.Dropped = reply.Before.Total()
	if err != nil {
		e.Unfelt = "the counters of its rules could not be read: " + err.Error()
	}
	over(e)
	if err != nil {
		return fmt.Errorf("taking the rules away: %w", err)
	}
	return ended(ctx)
}

// makeFor is how long the process that holds the table may take to make rules.
const makeFor = 10 * time.Second

// makeRules puts rules in force. Should the phase end before the answer comes, the answer is awaited: packets are dropped
// then, and how many until the rules are taken away again must be known.
func makeRules(ctx context.Context, p task.Process, rules []packets.Rule) error {
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeFor)
	defer cancel()
	if err := p.Control(making, packets.Control{Rules: rules}, nil); err != nil {
		return fmt.Errorf("making the rules: %w", err)
	}
	return nil
}

// ports are those that are meant. They must be on this machine: only what goes over the loopback interface is dropped.
func (d *drop) ports(ctx context.Context, env *task.Env) (out []int, err error) {
	var at []string
	switch {
	case d.Port != 0:
		return []int{d.Port}, nil
	case d.Endpoint != "":
		a, err := env.Endpoint(d.Endpoint)
		if err != nil {
			return nil, err
		}
		at = []string{a}
	default:
		if at, err = env.Origins(d.Backends); err != nil {
			return nil, err
		}
	}
	for _, a := range at {
		port, err := localPort(ctx, a)
		if err != nil {
			return nil, err
		}
		out = append(out, port)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// localPort is the port of an address of this machine.
func localPort(ctx context.Context, hostport string) (int, error) {
	host, service, err := net.SplitHostPort(hostport)
	if err != nil {
		return 0, fmt.Errorf("%s is no HOST:PORT", hostport)
	}
	port, err := strconv.Atoi(service)
	if err != nil {
		return 0, fmt.Errorf("%s: %s is no port", hostport, service)
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return 0, fmt.Errorf("finding the address of %s: %w", host, err)
	}
	for _, ip := range found {
		if !machine.Owns(ip) {
			return 0, fmt.Errorf("%s is not on this machine (%s); packets are dropped on the loopback interface only", hostport, ip)
		}
	}
	return port, nil
}
