package actions

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/load"
)

// known is what the workers send, as they want it, but for where it goes: that is known only when it runs.
func (l *Load) known() load.Spec {
	s := load.Spec{Protocol: l.Protocol, Scheme: "http", Host: l.Host, ServerName: l.TLS.ServerName, Method: l.Method, Path: l.Path, SpreadPath: l.Spread.Path,
		Body: []byte(l.Body), Resume: l.TLS.Resume, TLSGroups: l.TLS.Groups, Connections: l.Connections, Streams: l.streams(), InFlight: l.InFlight, Pool: l.Pool,
		Reuse: l.Reuse != "none", ConnectRate: float64(l.ConnectRate), ReadRate: int64(l.ReadRate), Rate: l.Rate.steps(), MaxWaiting: l.MaxWaiting,
		Timeout: l.Timeout, Pacing: l.Pacing, Expect: load.Expect{Status: l.Expect.Status, SHA256: l.Expect.SHA256}}
	if l.Expect.Bytes != nil {
		n := int64(*l.Expect.Bytes)
		s.Expect.Bytes = &n
	}
	for _, h := range l.Headers {
		s.Headers = append(s.Headers, load.Header{Name: h.Name, Value: h.Val})
	}
	if m := byHeader.FindStringSubmatch(l.By); m != nil {
		s.By = m[1]
	}
	if l.tls() {
		s.Scheme = "https"
	}
	return s
}

// spec says what the workers send, as they want it.
func (l *Load) spec(ctx context.Context, env *task.Env) (load.Spec, error) {
	s := l.known()
	dialled, err := l.where(ctx, env, &s)
	if err != nil {
		return s, err
	}
	s.Sources, err = l.sources(dialled)
	return s, err
}

// where fills in what is dialled and what is asked for, and gives the address that is dialled.
func (l *Load) where(ctx context.Context, env *task.Env, s *load.Spec) (dialled string, err error) {
	if l.URL != "" {
		u, err := url.Parse(l.URL)
		if err != nil {
			return "", fmt.Errorf("reading the url: %w", err)
		}
		s.Address = u.Host
		if u.Port() == "" {
			s.Address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
		}
		if s.Host == "" {
			s.Host = u.Host
		}
		if l.Path == "/" && u.RequestURI() != "" {
			s.Path = u.RequestURI()
		}
	}
	if l.Proxy != "" {
		// What is behind the proxy it looks up itself; here it is only made sure that load may go there.
		if _, err := resolve(ctx, s.Address, env.Allowed); err != nil {
			return "", err
		}
		proxy, err := env.Endpoint(l.endpoint())
		if err != nil {
			return "", err
		}
		s.Proxy, err = resolve(ctx, proxy, env.Allowed)
		return s.Proxy, err
	}
	if l.URL == "" {
		if s.Address, err = env.Endpoint(l.endpoint()); err != nil {
			return "", err
		}
	}
	if l.Address != "" {
		s.Address = string(l.Address)
	}
	if s.Host == "" {
		s.Host = s.Address
	}
	s.Address, err = resolve(ctx, s.Address, env.Allowed)
	return s.Address, err
}

// resolve looks a host up once and refuses what may not be sent to.
func resolve(ctx context.Context, address string, allowed func(host string, ip netip.Addr) error) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("address %q: %w", address, err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", fmt.Errorf("looking up %s: %w", host, err)
	}
	for i := range ips {
		ips[i] = ips[i].Unmap()
		if err := allowed(host, ips[i]); err != nil {
			return "", err
		}
	}
	slices.SortFunc(ips, func(a, b netip.Addr) int { return b2i(a.Is6()) - b2i(b.Is6()) })
	return net.JoinHostPort(ips[0].String(), port), nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// steps gives the rate as the worker wants it; nil is a closed loop.
func (r LoadRate) steps() []load.RateStep {
	switch {
	case r.Constant > 0:
		return []load.RateStep{{From: float64(r.Constant), To: float64(r.Constant)}}
	case r.Over > 0:
		return []load.RateStep{{From: float64(r.From), To: float64(r.To), Over: r.Over}, {From: float64(r.To), To: float64(r.To)}}
	}
	var out []load.RateStep
	for _, s := range r.Steps {
		out = append(out, load.RateStep{From: float64(s.Rate), To: float64(s.Rate), Over: s.For})
	}
	return out
}

// requests gives how many requests are due within a time, 0 for a closed loop.
func (r LoadRate) requests(within time.Duration) float64 {
	total, left := 0.0, within
	steps := r.steps()
	for i, s := range steps {
		over := min(s.Over, left)
		if s.Over == 0 || i == len(steps)-1 {
			over = left
		}
		end := s.To
		if s.Over > 0 && over < s.Over {
			end = s.From + (s.To-s.From)*float64(over)/float64(s.Over)
		}
		total, left = total+(s.From+end)/2*over.Seconds(), left-over
	}
	return total
}
