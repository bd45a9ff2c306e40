package engine

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"

	"github.com/planrun/planrun/engine/proc"
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
