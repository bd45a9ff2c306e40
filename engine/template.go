package engine

import (
	"net"
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
		d.Backends[b] = []task.Address{} // there, also without a replica
		for _, a := range in.addresses(b) {
			host, port, _ := net.SplitHostPort(a)
			n, _ := strconv.Atoi(port)
			d.Backends[b] = append(d.Backends[b], task.Address{Address: a, Host: host, Port: n})
		}
	}
	d.Routes = byHost(in.routes())
	known := in.knownNow()
	for _, k := range in.cell.With {
		if w, ok := known["with."+k.Name].(dsl.Value); ok && w.Written != "" {
			d.With[k.Name] = w.Written
		} else if v, ok := known.value("with." + k.Name); ok {
			d.With[k.Name] = v
		}
	}
	for _, e := range in.p.Host.CPUs {
		d.Cpus[e.Name] = e.Val
	}
	return d
}
