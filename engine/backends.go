package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/origin"
)

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
