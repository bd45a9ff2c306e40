package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/certificate"
	"github.com/planrun/planrun/internal/serve/origin"
)

// startBackend starts the replicas of a backend.
func (in *installation) startBackend(ctx context.Context, name string) error {
	for i, replicas := 0, 1; i < replicas; i++ {
		b, ports, err := in.bindReplica(ctx, name, i)
		if err != nil {
			return err
		}
		if len(b.Address) > 0 {
			return nil
		}
		replicas = b.Replicas
		p, err := in.startReplica(ctx, name, i, b, ports)
		if err != nil {
			return err
		}
		in.setReplicas(name, append(in.replicas(name), p))
	}
	return nil
}

// bindReplica gives a backend as its replica i has it, with ports of its own. Its command knows port("http") and replica as
// those of install do.
func (in *installation) bindReplica(ctx context.Context, name string, i int) (dsl.Backend, map[string]int, error) {
	part := in.p.backends.Get(name)
	ports, err := in.backendPorts(part.Val)
	if err != nil {
		return dsl.Backend{}, nil, err
	}
	v := in.values()
	v.Call = func(f string, args []any) (any, error) {
		if p, ok := ports[fmt.Sprint(args[0])]; ok && f == "port" {
			return float64(p), nil
		}
		return nil, fmt.Errorf("the backend %s does not listen on %q; %s", name, args[0], didYouMean(fmt.Sprint(args[0]), slices.Collect(maps.Keys(ports))))
	}
	b, list := part.Bind(in.eval.fill(ctx, in.knownNow().with(known{"replica": float64(i)}), v))
	return b.Val, ports, placedAt(append(list, unknown(b.Holes())...))
}

// backendPorts takes a port for each name that a backend listens on; none if it already runs somewhere.
func (in *installation) backendPorts(b dsl.Backend) (map[string]int, error) {
	if len(b.Address) > 0 {
		return nil, nil
	}
	return in.portsFor(in.group, backendListen(b))
}

// backendListen are the names of a backend's ports; the first is what targets forward to.
func backendListen(b dsl.Backend) []string {
	if len(b.Listen) == 0 {
		return []string{"http"}
	}
	return b.Listen
}

func (in *installation) startReplica(ctx context.Context, name string, i int, b dsl.Backend, ports map[string]int) (p task.Process, err error) {
	cpus := []int(b.CPUs)
	if cpus == nil {
		cpus = in.cpus("backends")
	}
	spec := task.ProcessSpec{Name: name, Role: "backends", Replica: i, CPUs: cpus, Nice: in.p.Host.Nice, Ports: ports, Dir: filepath.Join(in.dir, fmt.Sprintf("%s-%d", name, i)),
		Limits: limits(b.Limits, ""), OnExit: in.onExit(name, i), Env: map[string]string{}, Ready: backendReady(b)}
	if spec.Limits == (task.Limits{}) {
		spec.Limits = in.limits("backends")
	}
	for _, e := range b.Env {
		spec.Env[e.Name] = e.Val
	}
	if len(b.Command) > 0 {
		spec.Command = b.Command
		for n, p := range ports {
			spec.Env["PORT_"+n] = strconv.Itoa(p)
		}
	} else {
		spec.Builtin = b.Builtin
		if spec.Config, err = in.originConfig(name, i, b, ports, len(cpus)); err != nil {
			return nil, err
		}
	}
	if p, err = in.group.Start(ctx, spec); err == nil {
		in.note(p, cpus)
	}
	return p, err
}

// backendReady says when a backend counts as started; a path alone is asked for on its first port.
func backendReady(b dsl.Backend) task.Ready {
	r := task.Ready{HTTP: b.Ready.HTTP, Log: b.Ready.Log, Within: b.Ready.Timeout}
	if b.Ready.TCP != "" {
		r.TCP = []string{b.Ready.TCP}
	}
	if strings.HasPrefix(r.HTTP, "/") {
		r.HTTP = backendListen(b)[0] + r.HTTP
	}
	return r
}

// originConfig is what an origin is told. With host.tls it has the plan's certificate.
func (in *installation) originConfig(name string, i int, b dsl.Backend, ports map[string]int, procs int) (*origin.Spec, error) {
	config := &origin.Spec{Name: fmt.Sprintf("%s-%d", name, i), Listen: map[string]string{}, Procs: max(1, procs)}
	for n, p := range ports {
		config.Listen[n] = loopback(p)
		if n == "https" {
			config.Certificate = certificate.Spec{Cert: string(in.session.cert), Key: string(in.session.key)}
		}
	}
	return config, originSettings(b.With, config)
}

// originSettings reads the settings of an origin into config, which may be nil. Its error names what is wrong.
func originSettings(with dsl.Map[dsl.Value], config *origin.Spec) error {
	if config == nil {
		config = &origin.Spec{}
	}
	for _, s := range with {
		if !s.Val.Known() {
			continue
		}
		ok := false
		switch s.Name {
		case "served-by":
			config.ServedBy, ok = s.Val.V.(bool)
		case "idle-timeout":
			if d, err := time.ParseDuration(s.Val.Written); err == nil && d >= 0 {
				config.IdleTimeout, ok = d, true
			}
		default:
			return fmt.Errorf("the origin has no %s; %s", s.Name, didYouMean(s.Name, []string{"served-by", "idle-timeout"}))
		}
		if !ok {
			return fmt.Errorf("%s is no value of %s; served-by is true or false, idle-timeout a duration such as 5s", cmp.Or(s.Val.Written, fmt.Sprint(s.Val.V)), s.Name)
		}
	}
	return nil
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
	b := in.p.backends.Get(backend)
	for _, a := range b.Val.Address {
		out = append(out, string(a))
	}
	first := backendListen(b.Val)[0]
	for _, p := range in.replicas(backend) {
		out = append(out, loopback(p.Ports()[first]))
	}
	return out
}
