package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/toxiproxy"
	"github.com/planrun/planrun/internal/serve/faults"
)

// builtinRelays is what the plan calls planrun's own process of relays.
const builtinRelays = "builtin"

// An external relay is one of a Toxiproxy server that ran before. Planrun's own relay stands in front of each of its
// proxies, without any fault: it counts the connections and bytes that the server does not.
type external struct {
	server  *toxiproxy.Server
	says    string   // what it is, in words
	proxies []string // one for each replica
}

// throughServer makes a proxy on a relay's server for each upstream, and gives the addresses at which they listen. They go
// with the installation.
func (in *installation) throughServer(ctx context.Context, relay, address string, upstreams []string) (listen []string, err error) {
	if err := in.mayUse(ctx, address, upstreams); err != nil {
		return nil, err
	}
	x := &external{server: toxiproxy.At(address)}
	version, err := x.server.Version(ctx)
	if err != nil {
		return nil, err
	}
	x.says = fmt.Sprintf("the Toxiproxy server at %s (%s)", address, version)
	for i := range upstreams {
		x.proxies = append(x.proxies, fmt.Sprintf("%s%s-%d-%s", toxiproxy.Prefix(in.session.env.Token), plainName(relay), i, strings.ToLower(rand.Text()[:8])))
	}
	if _, err := in.scope.Add(toxiproxy.UndoKind, toxiproxy.Made{Server: address, Proxies: x.proxies}); err != nil {
		return nil, err
	}
	for i, upstream := range upstreams {
		at, err := x.server.Make(ctx, x.proxies[i], upstream)
		if err != nil {
			return nil, err
		}
		listen = append(listen, at)
	}
	if in.external == nil {
		in.external = map[string]*external{}
	}
	in.external[relay] = x
	return listen, nil
}

// mayUse says why a server may not be used, or cannot reach what it is to lead to.
func (in *installation) mayUse(ctx context.Context, address string, upstreams []string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("looking up the Toxiproxy server: %w", err)
	}
	for _, ip := range ips {
		if err := in.allowed(host, ip.Unmap()); err != nil {
			return fmt.Errorf("the Toxiproxy server at %s: %w", address, err)
		}
	}
	if slices.ContainsFunc(ips, machine.Owns) {
		return nil
	}
	for _, u := range upstreams {
		if to, err := netip.ParseAddrPort(u); err == nil && to.Addr().IsLoopback() {
			return fmt.Errorf("the Toxiproxy server at %s is another machine's, and cannot reach %s; use one of this machine, or backends that have an address", address, u)
		}
	}
	return nil
}

// plainName is a name that can stand in a URL's path as it is.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s)
}

// onServer puts a toxic in force on all proxies of an external relay.
func (x relays) onServer(ctx context.Context, relay string, at *external, t task.Toxic) (func(context.Context) error, error) {
	toxics, no := toxiproxy.Of(t)
	if no != nil {
		return nil, no
	}
	before, err := x.passed(ctx, relay)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	for i := range toxics {
		toxics[i].Name = fmt.Sprintf("%s-%s-%d", t.Kind, toxics[i].Stream, start.UnixNano())
	}
	remove := func(ctx context.Context) (gone int, err error) {
		for _, p := range at.proxies {
			for _, toxic := range toxics {
				had, e := at.server.Remove(ctx, p, toxic.Name)
				if err = errors.Join(err, e); e == nil && !had {
					gone++
				}
			}
		}
		return gone, err
	}
	for _, p := range at.proxies {
		for _, toxic := range toxics {
			if err := at.server.Add(ctx, p, toxic); err != nil {
				_, also := remove(context.WithoutCancel(ctx))
				return nil, errors.Join(err, also)
			}
		}
	}
	f := x.begun(relay, t, start)
	f.Server = at.says
	return func(ctx context.Context) error {
		after, err := x.passed(ctx, relay)
		gone, e := remove(ctx)
		f.End = x.r.since(time.Now())
		f.Connections = max(0, before.Live+after.Opened-before.Opened)
		f.Chunks, f.Bytes = after.Chunks-before.Chunks, after.between(before, t.Direction)
		if err = errors.Join(err, e); err != nil {
			f.Gone = err.Error()
		} else if gone > 0 {
			f.Gone = fmt.Sprintf("of %d toxics the server had %d no longer", len(at.proxies)*len(toxics), gone)
		}
		return x.over(f, nil, err)
	}, nil
}

// passedSum is what passed planrun's own relays in front of those of a server.
type passedSum struct{ faults.Counters }

func (x relays) passed(ctx context.Context, relay string) (sum passedSum, err error) {
	var s faults.Sample
	if err := x.in.faults.Sample(ctx, &s); err != nil {
		return sum, fmt.Errorf("reading the relays' counters: %w", err)
	}
	for _, name := range x.replicas(relay) {
		c := s.Relays[name]
		sum.Live, sum.Opened, sum.Chunks = sum.Live+c.Live, sum.Opened+c.Opened, sum.Chunks+c.Chunks
		sum.BytesUp, sum.BytesDown = sum.BytesUp+c.BytesUp, sum.BytesDown+c.BytesDown
	}
	return sum, nil
}

// between are the bytes that passed since, in a toxic's direction.
func (s passedSum) between(before passedSum, direction string) int64 {
	up, down := s.BytesUp-before.BytesUp, s.BytesDown-before.BytesDown
	switch direction {
	case "up":
		return up
	case "both":
		return up + down
	}
	return down
}
