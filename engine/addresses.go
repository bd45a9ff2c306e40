package engine

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/task"
)

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

// takePorts takes the ports of the start actions of install before the first one, because files that are written first name
// them.
func (in *installation) takePorts(install []dsl.Part[dsl.Action]) error {
	d := &declared{}
	d.declares(install, &d.programs)
	for _, p := range d.processes {
		for range max(1, p.Replicas) {
			ports, err := in.portsFor(in.group, slices.DeleteFunc(slices.Clone(p.Listen), func(n string) bool { return p.Ports[n] != 0 }))
			if err != nil {
				return err
			}
			maps.Copy(ports, p.Ports)
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

// address finds addresses by the name of a backend or of a process.
func (in *installation) address(name string) ([]string, error) {
	if in.p.backends.Get(name) != nil {
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

// processOf is the name of the process that an action starts; "" if it starts none.
func processOf(a *dsl.Part[dsl.Action]) string {
	if s, ok := a.Val.Spec.(task.Declarer); ok {
		for _, p := range s.Declares().Processes {
			return p.Name
		}
	}
	return ""
}

// pids are the ids of all processes of a name or a role, with what they have started, joined by commas.
func (in *installation) pids(name string) (string, error) {
	var out []string
	known := map[string]bool{}
	for _, p := range in.group.All() {
		known[p.Name()], known[p.Role()] = true, true
		t, ok := p.(interface{ Tree() ([]int, error) })
		if !ok || p.Name() != name && p.Role() != name {
			continue
		}
		tree, err := t.Tree()
		if err != nil {
			return "", fmt.Errorf("finding the processes of %s: %w", p.Name(), err)
		}
		for _, pid := range tree {
			out = append(out, itoa(pid))
		}
	}
	if len(out) == 0 {
		return "", fmt.Errorf("no process %q runs; %s", name, didYouMean(name, slices.Sorted(maps.Keys(known))))
	}
	return strings.Join(out, ","), nil
}

// call answers port("http"), endpoint("http") and pids("sut").
func (in *installation) call(name string, args []any) (any, error) {
	return in.callOf("", 0)(name, args)
}

func (in *installation) callOf(process string, replica int) func(string, []any) (any, error) {
	return func(name string, args []any) (any, error) {
		arg, _ := args[0].(string)
		switch name {
		case "endpoint":
			return in.endpoint(arg)
		case "pids":
			return in.pids(arg)
		}
		p, err := in.port(process, arg, replica)
		return float64(p), err
	}
}
