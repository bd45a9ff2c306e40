package engine

import (
	"math"
	"net"
	"net/netip"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/task"
)

// checkPrograms warns of programs that are not on this machine: their targets are a result, unsupported, but whoever
// mistyped the path of their own one wants to know before anything runs.
func (c *compilation) checkPrograms(cell *Cell) {
	walkActions(cell.Target.Val.Install, func(a *dsl.Part[dsl.Action]) {
		s, ok := a.Val.Spec.(task.Declarer)
		if !ok {
			return
		}
		for _, p := range s.Declares().Processes {
			for _, name := range p.Programs {
				if _, err := exec.LookPath(programPath(name, a)); err == nil || name == "" {
					continue
				}
				w := c.list.Addf(a.PosOf(a.Val.Kind, "command"), "there is no program %s on this machine, so the target %q will be unsupported", name, cell.Coord.Target)
				w.Hint, w.Warning = "install it, or correct its name", true
			}
		}
	})
}

// programPath is where a program is looked for: a relative path begins at the file that wrote the action.
func programPath(name string, a *dsl.Part[dsl.Action]) string {
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		return filepath.Join(here(a), name)
	}
	return name
}

// checkAddresses finds public addresses that the plan does not allow, where they are written as addresses.
func (c *compilation) checkAddresses(cell *Cell) {
	public := func(hostport string) (string, bool) {
		host, _, err := net.SplitHostPort(hostport)
		if err != nil {
			host = hostport
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		return host, err == nil && isPublic(ip.Unmap()) && !namedIn(c.Host.Allow, host, ip)
	}
	say := func(host string, at interface{ PosOf(...string) diag.Pos }, keys ...string) {
		c.list.Addf(at.PosOf(keys...), "%s is a public address", host).Hint = "to send load there name it in host: {allow: [" + host + "]} and on the command line: --allow " + host
	}
	for _, e := range cell.Target.Val.Endpoints {
		if host, ok := public(string(e.Val.Address)); ok {
			say(host, &cell.Target, "endpoints", e.Name)
		}
	}
	for _, p := range cell.Scenario.Val.Phases {
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) {
			s, ok := a.Val.Spec.(interface {
				Reaches() (field, address string)
			})
			if !ok {
				return
			}
			field, address := s.Reaches()
			if u, err := url.Parse(address); err == nil && u.Host != "" {
				address = u.Host
			}
			if host, ok := public(address); ok {
				say(host, a, a.Val.Kind, field)
			}
		})
	}
}

// ownDescriptors is what a process of planrun's has open beside its connections, generously.
const ownDescriptors = 32

// checkDescriptors finds loads that are to hold more connections than their workers may have open files, and warns where
// all loads of a phase together hold more than a server that planrun starts may have.
func (c *compilation) checkDescriptors(cell *Cell) {
	most := c.opt.Files
	if most == 0 {
		hard, err := machine.Files()
		if err != nil {
			return
		}
		most = int(min(hard, math.MaxInt32))
	}
	limit, whose := most, "a process may have here (ulimit -Hn)"
	if l, _ := cell.Limits.Get("load"); l.Files > 0 {
		limit, whose = l.Files, "limits leaves a process of the role load"
	}
	going := map[string]int{} // connections of earlier phases' loads, by the phase through which they go on
	for _, p := range cell.Scenario.Val.Phases {
		together, largest := 0, 0
		for _, n := range going {
			together += n
		}
		delete(going, p.Val.Name)
		at := diag.Pos{}
		for i := range p.Val.Do {
			a := &p.Val.Do[i]
			d, ok := a.Val.Spec.(task.Declarer)
			if !ok {
				continue
			}
			needs, processes := d.Declares().Needs, 1
			if s, ok := a.Val.Spec.(interface{ Processes() int }); ok {
				processes = s.Processes()
			}
			if processes == 0 || needs.Descriptors == 0 {
				continue // not known
			}
			here := a.PosOf(a.Val.Kind, "connections")
			if each := (needs.Descriptors + processes - 1) / processes; each > limit-ownDescriptors {
				c.list.Addf(here, "a worker of this load would hold %d connections, with at most %d open files, which is what %s", each, limit, whose).Hint =
					"raise the limit, ask for fewer connections, or share them among more workers"
				continue
			}
			together += needs.Connections
			if needs.Connections > largest {
				largest, at = needs.Connections, here
			}
			if a.Val.Through != "" {
				going[a.Val.Through] += needs.Connections
			}
		}
		if largest > 0 && together > most-ownDescriptors && len(cell.Target.Val.Install) > 0 {
			w := c.list.Addf(at, "the loads of phase %s hold %d connections together; a server that planrun starts may have %d open files (ulimit -Hn)", p.Val.Name, together, most)
			w.Hint, w.Warning = "raise the limit, or ask for fewer connections", true
		}
	}
}

func isPublic(ip netip.Addr) bool {
	return !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast()
}

// namedIn reports whether a list of hosts, addresses and networks holds one.
func namedIn(list []string, host string, ip netip.Addr) bool {
	for _, a := range list {
		if p, err := netip.ParsePrefix(a); err == nil && p.Contains(ip) || a == host || a == ip.String() {
			return true
		}
	}
	return false
}
