package actions

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/certificate"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/proxy"
	"github.com/planrun/planrun/internal/serve/relay"
)

// A builtin is a server of planrun's own, as a start sees it.
type builtin struct {
	settings []string                  // of with
	listens  []string                  // names of ports, which say what is spoken there; nil: any
	forwards bool                      // it needs upstreams, or routes
	routes   bool                      // it knows routes
	config   func(*Start, serving) any // nil: it comes later
	follow   func(*Start, serving) any // the control message that tells it of changed backends and routes; nil: they are nothing to it
}

// serving is what the configuration of a builtin is made of, beside what the start says.
type serving struct {
	name        string
	listen      map[string]string // addresses by name of port
	upstreams   []string
	certificate certificate.Spec
	procs       int // 0: what the runtime chooses
	data        task.TemplateData
}

var webPorts = []string{"http", "https", "h2c"}

// builtins are the ones that a start may name.
var builtins = map[string]builtin{
	"origin": {
		settings: []string{"served-by", "idle-timeout"}, listens: webPorts,
		config: func(s *Start, v serving) any {
			return origin.Spec{Name: v.name, Listen: v.listen, ServedBy: s.With.ServedBy, Certificate: v.certificate, Procs: v.procs, IdleTimeout: s.With.IdleTimeout}
		},
	},
	"proxy": {
		settings: []string{"dial-timeout", "timeout", "idle"}, listens: webPorts, forwards: true, routes: true,
		config: func(s *Start, v serving) any {
			p := proxy.Spec{Listen: v.listen, Upstreams: v.upstreams, Certificate: v.certificate, Procs: v.procs, DialTimeout: s.With.DialTimeout, Timeout: s.With.Timeout, Idle: s.With.Idle}
			if s.Routes {
				p.Routes = proxyRoutes(v.data)
			}
			return p
		},
		follow: func(s *Start, v serving) any {
			routes := []proxy.Route{}
			if s.Routes {
				routes = append(routes, proxyRoutes(v.data)...)
			}
			return proxy.Control{Upstreams: &v.upstreams, Routes: &routes}
		},
	},
	"relay": {
		settings: []string{"dial-timeout"}, forwards: true,
		config: func(s *Start, v serving) any {
			return relay.Spec{Listen: v.listen, Upstreams: v.upstreams, DialTimeout: s.With.DialTimeout, Procs: v.procs}
		},
		follow: func(s *Start, v serving) any { return relay.Control{Upstreams: v.upstreams} },
	},
	"gateway":  {listens: webPorts, forwards: true},
	"balancer": {listens: webPorts, forwards: true},
}

func (s *Start) checkBuiltin(c *dsl.Check) {
	b := builtins[s.Builtin]
	if b.config == nil {
		c.Laterf("builtin", "the %s comes later", s.Builtin)
	}
	if len(s.Listen) == 0 && c.Known("listen") {
		c.Errorf("listen", "a builtin needs a port").Hint = "add listen: [http]"
	}
	for _, name := range s.Listen {
		if b.listens != nil && !slices.Contains(b.listens, name) {
			c.Errorf("listen", "the %s does not know what to speak on %q", s.Builtin, name).Hint = "use http, https, h2c"
		}
	}
	switch {
	case !b.forwards && (len(s.Upstreams) > 0 || s.Routes):
		c.Errorf("upstreams", "an %s answers by itself", s.Builtin).Hint = "leave it out, or write builtin: proxy"
	case s.Routes && !b.routes:
		c.Errorf("routes", "the %s knows no routes", s.Builtin).Hint = "name upstreams instead"
	case s.Routes && len(s.Upstreams) > 0:
		c.Errorf("routes", "upstreams says already where requests go").Hint = "leave out one of them"
	case b.forwards && !s.Routes && len(s.Upstreams) == 0 && c.Known("routes"):
		c.Errorf("", "nothing says where the %s forwards to", s.Builtin).Hint = "add upstreams: BACKEND"
	}
	for _, w := range []struct {
		key string
		set bool
	}{
		{"served-by", s.With.ServedBy}, {"idle-timeout", s.With.IdleTimeout != 0}, {"dial-timeout", s.With.DialTimeout != 0},
		{"timeout", s.With.Timeout != 0}, {"idle", s.With.Idle != 0},
	} {
		if w.set && !slices.Contains(b.settings, w.key) {
			c.Errorf("with", "the %s has no %s", s.Builtin, w.key).Hint = "leave it out"
		}
	}
}

// config is the body of the configure message of a builtin.
func (s *Start) config(env *task.Env, spec task.ProcessSpec) (any, error) {
	b := builtins[s.Builtin]
	if b.config == nil {
		return nil, fmt.Errorf("this build has no builtin %s", s.Builtin)
	}
	v := serving{name: fmt.Sprintf("%s-%d", spec.Name, spec.Replica), listen: map[string]string{}, procs: len(spec.CPUs), data: env.Template(spec.Replica)}
	for name, port := range spec.Ports {
		v.listen[name] = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	var err error
	if v.upstreams, err = s.upstreams(env); err != nil {
		return nil, err
	}
	if len(s.Upstreams) > 0 && len(v.upstreams) == 0 {
		return nil, fmt.Errorf("upstreams: %s has no address", strings.Join(s.Upstreams, ", "))
	}
	if _, ok := v.listen["https"]; ok {
		if v.certificate, err = readCertificate(v.data.TLS); err != nil {
			return nil, err
		}
	}
	return b.config(s, v), nil
}

// followChanges has a replica of a builtin told when backends or routes change.
func (s *Start) followChanges(env *task.Env, replica int) {
	b := builtins[s.Builtin]
	if b.follow == nil {
		return
	}
	env.Follow(func(ctx context.Context) error {
		procs, err := env.Processes.Find(s.name())
		if err != nil {
			return nil // it was stopped
		}
		v := serving{data: env.Template(replica)}
		if v.upstreams, err = s.upstreams(env); err != nil {
			return err
		}
		for _, p := range procs {
			if p.Replica() != replica {
				continue
			}
			if err := p.Control(ctx, b.follow(s, v), nil); err != nil {
				return fmt.Errorf("telling %s of its backends: %w", s.name(), err)
			}
		}
		return nil
	})
}

// FollowsChanges reports whether what it starts is told by planrun itself when backends or routes change.
func (s *Start) FollowsChanges() bool {
	return builtins[s.Builtin].follow != nil
}

func (s *Start) upstreams(env *task.Env) ([]string, error) {
	out := []string{}
	for _, name := range s.Upstreams {
		addresses, err := env.Address(name)
		if err != nil {
			return nil, fmt.Errorf("upstreams: %w", err)
		}
		out = append(out, addresses...)
	}
	return out, nil
}

// proxyRoutes are the plan's routes, as the proxy wants them.
func proxyRoutes(data task.TemplateData) []proxy.Route {
	var out []proxy.Route
	for _, r := range data.Routes {
		for _, p := range r.Paths {
			route := proxy.Route{Host: r.Host, Path: p.Path, Upstreams: []string{}}
			for _, a := range data.Backends[p.Backend] {
				route.Upstreams = append(route.Upstreams, a.Address)
			}
			out = append(out, route)
		}
	}
	return out
}

// readCertificate reads the plan's certificate; without one the builtin makes its own.
func readCertificate(tls task.TLS) (certificate.Spec, error) {
	if tls.Cert == "" {
		return certificate.Spec{}, nil
	}
	cert, err := os.ReadFile(tls.Cert)
	if err != nil {
		return certificate.Spec{}, fmt.Errorf("reading the certificate: %w", err)
	}
	key, err := os.ReadFile(tls.Key)
	if err != nil {
		return certificate.Spec{}, fmt.Errorf("reading the certificate's key: %w", err)
	}
	return certificate.Spec{Cert: string(cert), Key: string(key)}, nil
}
