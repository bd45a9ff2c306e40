package actions

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/certificate"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/proxy"
	"github.com/planrun/planrun/internal/serve/relay"
)

// builtinSettings says which settings each builtin has.
var builtinSettings = map[string][]string{
	"origin":   {"served-by", "idle-timeout"},
	"proxy":    {"dial-timeout", "timeout", "idle"},
	"relay":    {"dial-timeout"},
	"gateway":  nil,
	"balancer": nil,
}

func (s *Start) checkBuiltin(c *dsl.Check) {
	if s.Builtin == "gateway" || s.Builtin == "balancer" {
		c.Laterf("builtin", "the %s comes later", s.Builtin)
	}
	if len(s.Listen) == 0 && c.Known("listen") {
		c.Errorf("listen", "a builtin needs a port").Hint = "add listen: [http]"
	}
	if s.Builtin != "relay" {
		for _, name := range s.Listen {
			if !slices.Contains([]string{"http", "https", "h2c"}, name) {
				c.Errorf("listen", "the %s does not know what to speak on %q", s.Builtin, name).Hint = "use http, https, h2c"
			}
		}
	}
	switch {
	case s.Builtin == "origin" && (len(s.Upstreams) > 0 || s.Routes):
		c.Errorf("upstreams", "an origin answers by itself").Hint = "leave it out, or write builtin: proxy"
	case s.Routes && s.Builtin != "proxy":
		c.Errorf("routes", "the %s knows no routes", s.Builtin).Hint = "name upstreams instead"
	case s.Routes && len(s.Upstreams) > 0:
		c.Errorf("routes", "upstreams says already where requests go").Hint = "leave out one of them"
	case s.Builtin != "origin" && !s.Routes && len(s.Upstreams) == 0 && c.Known("routes"):
		c.Errorf("", "nothing says where the %s forwards to", s.Builtin).Hint = "add upstreams: BACKEND"
	}
	for _, w := range []struct {
		key string
		set bool
	}{
		{"served-by", s.With.ServedBy}, {"idle-timeout", s.With.IdleTimeout != 0}, {"dial-timeout", s.With.DialTimeout != 0},
		{"timeout", s.With.Timeout != 0}, {"idle", s.With.Idle != 0},
	} {
		if w.set && !slices.Contains(builtinSettings[s.Builtin], w.key) {
			c.Errorf("with", "the %s has no %s", s.Builtin, w.key).Hint = "leave it out"
		}
	}
}

// config is the body of the configure message of a builtin.
func (s *Start) config(env *task.Env, spec task.ProcessSpec) (any, error) {
	listen := map[string]string{}
	for name, port := range spec.Ports {
		listen[name] = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	upstreams, err := s.upstreams(env)
	if err != nil {
		return nil, err
	}
	data := env.Template(spec.Replica)
	var cert certificate.Spec
	if _, ok := listen["https"]; ok {
		if cert, err = readCertificate(data.TLS); err != nil {
			return nil, err
		}
	}
	procs := len(spec.CPUs) // 0: what the runtime chooses
	switch s.Builtin {
	case "origin":
		return origin.Spec{Name: fmt.Sprintf("%s-%d", spec.Name, spec.Replica), Listen: listen, ServedBy: s.With.ServedBy, Certificate: cert, Procs: procs, IdleTimeout: s.With.IdleTimeout}, nil
	case "proxy":
		p := proxy.Spec{Listen: listen, Upstreams: upstreams, Certificate: cert, Procs: procs, DialTimeout: s.With.DialTimeout, Timeout: s.With.Timeout, Idle: s.With.Idle}
		if s.Routes {
			p.Routes = proxyRoutes(data)
		}
		return p, nil
	case "relay":
		return relay.Spec{Listen: listen, Upstreams: upstreams, DialTimeout: s.With.DialTimeout, Procs: procs}, nil
	}
	return nil, fmt.Errorf("this build has no builtin %s", s.Builtin)
}

func (s *Start) upstreams(env *task.Env) ([]string, error) {
	var out []string
	for _, name := range s.Upstreams {
		addresses, err := env.Address(name)
		if err != nil {
			return nil, fmt.Errorf("upstreams: %w", err)
		}
		if len(addresses) == 0 {
			return nil, fmt.Errorf("upstreams: %s has no address", name)
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
