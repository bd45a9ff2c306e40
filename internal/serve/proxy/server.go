package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/planrun/planrun/internal/serve/certificate"
	"github.com/planrun/planrun/internal/serve/listen"
	"github.com/planrun/planrun/internal/worker"
)

// A Server is a running proxy.
type Server struct {
	spec      Spec
	listeners map[string]*listener
	fresh     listen.Fresh
	table     atomic.Pointer[table]

	mu        sync.Mutex // of changes
	upstreams map[string]*upstream
	fallback  []string
	routes    []Route

	received, answered, inFlight, noRoute atomic.Int64
	unfinished                            atomic.Int64 // neither answered nor in flight
	broken                                atomic.Int64 // of them by the upstream
	status                                [600]atomic.Int64

	wg       sync.WaitGroup
	stopping sync.Once
}

type listener struct {
	open   *listen.Listener
	counts listen.Counts
	web    *http.Server
}

// Start listens and serves until Stop. The error is a *worker.Error of class "spec", or "generator" where the machine
// lacks a port or descriptors.
func Start(spec Spec) (*Server, error) {
	if spec.DialTimeout == 0 {
		spec.DialTimeout = 5 * time.Second
	}
	if spec.Idle == 0 {
		spec.Idle = 1024
	}
	s := &Server{spec: spec, listeners: map[string]*listener{}, upstreams: map[string]*upstream{}}
	if _, err := s.Control(Control{&spec.Upstreams, &spec.Routes}); err != nil {
		return nil, err
	}
	if len(spec.Listen) == 0 {
		return nil, &worker.Error{Class: "spec", Message: "a proxy needs a listener: http, https or h2c"}
	}
	for name := range spec.Listen {
		web, err := s.web(name)
		if err != nil {
			return nil, &worker.Error{Class: "spec", Message: err.Error()}
		}
		s.listeners[name] = &listener{web: web}
	}
	open, err := listen.Open(spec.Listen)
	if err != nil {
		return nil, err
	}
	if spec.Procs > 0 {
		runtime.GOMAXPROCS(spec.Procs)
	}
	for name, l := range s.listeners {
		l.open = open[name]
		s.wg.Go(func() {
			if tracked := l.counts.Tracked(l.open); l.web.TLSConfig != nil {
				l.web.ServeTLS(tracked, "", "")
			} else {
				l.web.Serve(tracked)
			}
		})
	}
	return s, nil
}

// web is the net/http server of a listener.
func (s *Server) web(name string) (*http.Server, error) {
	protocols := new(http.Protocols)
	web := &http.Server{Handler: s, Protocols: protocols, ConnState: s.fresh.Watch, ErrorLog: log.New(io.Discard, "", 0)}
	switch name {
	case "http":
		protocols.SetHTTP1(true)
	case "h2c":
		protocols.SetUnencryptedHTTP2(true)
	case "https":
		protocols.SetHTTP1(true)
		protocols.SetHTTP2(true)
		pair, err := certificate.Load(s.spec.Certificate)
		if err != nil {
			return nil, err
		}
		web.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}}
	default:
		return nil, fmt.Errorf("listener %q of a proxy: there are http, https and h2c", name)
	}
	return web, nil
}

// ServeHTTP passes a request on.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.received.Add(1)
	s.inFlight.Add(1)
	whole := false
	defer func() {
		if whole {
			s.answered.Add(1)
		} else {
			s.unfinished.Add(1)
		}
		s.inFlight.Add(-1) // last: what is not in flight any more is counted
	}()
	pool := s.table.Load().find(r.Host, r.URL.Path)
	if pool == nil {
		s.refuse(w, http.StatusNotFound)
		whole = true
		return
	}
	u := pool.pick()
	if u == nil {
		s.refuse(w, http.StatusServiceUnavailable)
		whole = true
		return
	}
	u.requests.Add(1)
	u.proxy.ServeHTTP(w, r)
	whole = true
}

func (s *Server) refuse(w http.ResponseWriter, code int) {
	s.noRoute.Add(1)
	s.answeredWith(code)
	http.Error(w, http.StatusText(code), code)
}

func (s *Server) answeredWith(code int) {
	if code < len(s.status) {
		s.status[code].Add(1)
	}
}

// Control changes where requests go; after an error nothing is changed.
func (s *Server) Control(c Control) (Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fallback, routes := s.fallback, s.routes
	if c.Upstreams != nil {
		fallback = *c.Upstreams
	}
	if c.Routes != nil {
		routes = *c.Routes
	}
	used := map[string]bool{}
	added := map[string]*upstream{}
	t, err := newTable(fallback, routes, func(address string) *upstream {
		used[address] = true
		if u := s.upstreams[address]; u != nil {
			return u
		}
		if added[address] == nil {
			added[address] = s.newUpstream(address)
		}
		return added[address]
	})
	if err != nil {
		return Reply{}, &worker.Error{Class: "spec", Message: err.Error()}
	}
	for address, u := range added {
		s.upstreams[address] = u
	}
	s.fallback, s.routes = fallback, routes
	s.table.Store(t)
	for address, u := range s.upstreams {
		if !used[address] {
			u.transport.CloseIdleConnections()
		}
	}
	return t.size, nil
}

// Addresses are where it listens, by listener.
func (s *Server) Addresses() map[string]string {
	addresses := map[string]string{}
	for name, l := range s.listeners {
		addresses[name] = l.open.Addr().String()
	}
	return addresses
}

// Sample reads the counters.
func (s *Server) Sample() Sample {
	sample := Sample{
		Listeners: map[string]Connections{}, Upstreams: map[string]Upstream{}, Status: map[int]int64{},
		Answered: s.answered.Load(), Received: s.received.Load(), InFlight: s.inFlight.Load(),
		NoRoute: s.noRoute.Load(),
	}
	broken := s.broken.Load() // counted before unfinished
	sample.Canceled = max(s.unfinished.Load()-broken, 0)
	for name, l := range s.listeners {
		sample.Listeners[name] = Connections{
			Opened: l.counts.Opened.Load(), Live: l.counts.Live.Load(), AcceptErrors: l.open.Errors(),
			BytesIn: l.counts.BytesIn.Load(), BytesOut: l.counts.BytesOut.Load(),
		}
	}
	for code := range s.status {
		if n := s.status[code].Load(); n > 0 {
			sample.Status[code] = n
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for address, u := range s.upstreams {
		sample.Upstreams[address] = u.sample()
		sample.Errors += u.errors.Load()
	}
	return sample
}

// Stop stops listening, waits for the requests that have begun, and closes everything; when ctx ends it does not wait any
// longer.
func (s *Server) Stop(ctx context.Context) error {
	s.stopping.Do(func() {
		s.fresh.Close()
		var ending sync.WaitGroup
		for _, l := range s.listeners {
			l.open.Close()
			ending.Go(func() {
				if l.web.Shutdown(ctx) != nil {
					l.web.Close()
				}
			})
		}
		ending.Wait()
		s.wg.Wait()
		for _, u := range s.upstreams {
			u.transport.CloseIdleConnections()
		}
	})
	return nil
}
