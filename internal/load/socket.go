package load

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// A route is an address to dial and where from.
type route struct {
	to   netip.AddrPort
	from netip.Addr // not valid: the kernel chooses
}

// route is the way that a connection takes.
func (p *pool) route(c *conn) route { return p.routes[c.source%len(p.routes)] }

// resolve looks the address up, once for the life of a load, and takes the first answer; with sources there is a route from
// each.
func resolve(ctx context.Context, address string, sources []netip.Addr) ([]route, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port of %s: %w", address, err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", address, err)
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("resolving %s: no address", address)
	}
	ip := ips[0].Unmap()
	to := netip.AddrPortFrom(ip, uint16(n))
	if len(sources) == 0 {
		return []route{{to: to}}, nil
	}
	var routes []route
	for _, s := range sources {
		if s.Is4() != ip.Is4() {
			continue
		}
		routes = append(routes, route{to, s})
	}
	if routes == nil {
		return nil, wrong("no source address is of the family of %s", ip)
	}
	return routes, nil
}

// maxSources bounds the addresses that networks stand for.
const maxSources = 4096

// sources expands addresses and networks into addresses. A network's own and broadcast address are left out.
func sources(texts []string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, a.Unmap())
			continue
		}
		n, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, wrong("source %q: neither an address nor a network such as 127.0.1.0/24", text)
		}
		n = n.Masked()
		first := len(out)
		for a := n.Addr(); n.Contains(a) && len(out) <= maxSources+2; a = a.Next() {
			out = append(out, a)
		}
		if len(out) > maxSources+2 {
			break
		}
		if hosts := out[first:]; len(hosts) > 2 {
			hosts = hosts[1:]
			if n.Addr().Is4() && !n.Contains(hosts[len(hosts)-1].Next()) {
				hosts = hosts[:len(hosts)-1]
			}
			out = append(out[:first], hosts...)
		}
	}
	if len(out) > maxSources {
		return nil, wrong("more than %d source addresses", maxSources)
	}
	return out, nil
}
