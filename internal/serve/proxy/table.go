package proxy

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
)

// A table says where requests go. It is not changed; another one takes its place.
type table struct {
	hosts    map[string][]*pool // by host, "" for every host; longest path first
	fallback *pool              // nil if there is none
	size     Reply
}

// A pool is the upstreams of a route, in turn.
type pool struct {
	path      string
	upstreams []*upstream
	next      atomic.Uint32
}

// newTable checks the routes and builds their table; find gives the upstream of an address.
func newTable(upstreams []string, routes []Route, find func(string) *upstream) (*table, error) {
	distinct := map[string]bool{}
	build := func(path string, addresses []string) (*pool, error) {
		p := &pool{path: strings.TrimSuffix(path, "/")}
		for _, address := range addresses {
			if _, _, err := net.SplitHostPort(address); err != nil {
				return nil, fmt.Errorf("upstream %q: %w", address, err)
			}
			distinct[address] = true
			p.upstreams = append(p.upstreams, find(address))
		}
		return p, nil
	}
	t := &table{hosts: map[string][]*pool{}}
	var err error
	if len(upstreams) > 0 {
		if t.fallback, err = build("", upstreams); err != nil {
			return nil, err
		}
	}
	for _, route := range routes {
		if route.Path != "" && route.Path[0] != '/' {
			return nil, fmt.Errorf("route %q %q: a path begins with /", route.Host, route.Path)
		}
		p, err := build(route.Path, route.Upstreams)
		if err != nil {
			return nil, err
		}
		host := strings.ToLower(route.Host)
		if slices.ContainsFunc(t.hosts[host], func(other *pool) bool { return other.path == p.path }) {
			return nil, fmt.Errorf("route %q %q: there are two of them", route.Host, route.Path)
		}
		t.hosts[host] = append(t.hosts[host], p)
	}
	for _, pools := range t.hosts {
		slices.SortFunc(pools, func(a, b *pool) int { return cmp.Compare(len(b.path), len(a.path)) })
	}
	t.size = Reply{len(distinct), len(routes)}
	return t, nil
}

// find gives the pool for a request, or nil.
func (t *table) find(host, path string) *pool {
	if len(t.hosts) > 0 {
		for _, name := range []string{hostName(host), ""} {
			for _, p := range t.hosts[name] {
				if strings.HasPrefix(path, p.path) && (len(path) == len(p.path) || path[len(p.path)] == '/') {
					return p
				}
			}
		}
	}
	return t.fallback
}

// pick takes the next upstream, or nil.
func (p *pool) pick() *upstream {
	if len(p.upstreams) == 0 {
		return nil
	}
	return p.upstreams[(p.next.Add(1)-1)%uint32(len(p.upstreams))]
}

// hostName is a Host header field without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
