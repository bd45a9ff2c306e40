package engine

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/toxiproxy"
)

// checkServers finds servers of relays that are none, that may not be used, or that cannot reach what they are to lead to.
func (c *compilation) checkServers() {
	for i := range c.relays {
		r := &c.relays[i]
		server := r.Val.Server
		if server == builtinRelays || server == "" {
			continue
		}
		host, port, err := net.SplitHostPort(server)
		if n, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || n == 0 || host == "" {
			c.list.Addf(r.PosOf("server"), "%q is no server of relays", server).Hint = "write builtin, or host:port of the API of a Toxiproxy server that runs, such as 127.0.0.1:8474"
			continue
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil {
			continue // a name is looked up when it is used
		}
		if isPublic(ip.Unmap()) && !namedIn(c.Host.Allow, host, ip) {
			c.list.Addf(r.PosOf("server"), "%s is a public address", host).Hint = "to use a server there name it in host: {allow: [" + host + "]} and on the command line: --allow " + host
		}
		if b := c.backends.Get(r.Val.Of); b != nil && len(b.Val.Address) == 0 && !machine.Owns(ip) {
			c.list.Addf(r.PosOf("server"), "a Toxiproxy server on another machine cannot reach the backend %s, which listens on this machine's loopback", r.Val.Of).Hint = "use a server of this machine, or give the backend an address"
		}
	}
}

// checkToxics finds toxics that the server of their relay cannot do, where they stand.
func (c *compilation) checkToxics(cell *Cell) {
	for _, p := range cell.Scenario.Val.Phases {
		walkActions(p.Val.Do, func(a *dsl.Part[dsl.Action]) {
			s, ok := a.Val.Spec.(interface {
				Asks() (relay, key string, asked task.Toxic, known bool)
			})
			if !ok {
				return
			}
			relay, field, t, known := s.Asks()
			r := c.relays.Get(relay)
			if r == nil || r.Val.Server == builtinRelays || !known {
				return
			}
			if _, no := toxiproxy.Of(t); no != nil {
				if no.Field != "" {
					field = no.Field
				}
				c.list.Addf(a.PosOf(a.Val.Kind, field), "%s on %s: %s", t.Says, relay, no.Why).Hint = "ask for something else, or leave the relay's server out: planrun's own can do it"
			}
		})
	}
}
