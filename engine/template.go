package engine

import (
	"net"
	"slices"
	"strconv"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

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
	for _, b := range in.p.backends.Names() {
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
	for _, b := range p.backends {
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
