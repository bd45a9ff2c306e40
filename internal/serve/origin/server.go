package origin

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/planrun/planrun/internal/serve/certificate"
	"github.com/planrun/planrun/internal/serve/listen"
	"github.com/planrun/planrun/internal/worker"
)

// A Server is a running origin.
type Server struct {
	spec      Spec
	listeners map[string]*listener
	forms     atomic.Pointer[forms]
	servedBy  atomic.Bool
	fresh     listen.Fresh

	draining atomic.Bool
	drain    chan struct{} // closed when a stop begins
	hard     chan struct{} // closed when it does not wait any longer
	stopping sync.Once

	mu    sync.Mutex
	conns map[*conn]struct{} // HTTP/1.1 without TLS
	gone  chan struct{}      // while stopping: closed once conns is empty
	wg    sync.WaitGroup     // everything that runs
}

type listener struct {
	name     string
	open     *listen.Listener
	counters counters
	http2    *handoff     // of "http" and "h2c": connections that began with the preface
	web      *http.Server // serves http2, or TLS
}

// Start listens and serves until Stop. The error is a *worker.Error of class "spec", or "generator" where the machine
// lacks a port or descriptors.
func Start(spec Spec) (*Server, error) {
	if len(spec.Listen) == 0 {
		return nil, &worker.Error{Class: "spec", Message: "an origin needs a listener: http, https or h2c"}
	}
	var secure *tls.Config
	for name := range spec.Listen {
		switch name {
		case "http", "h2c":
		case "https":
			pair, err := certificate.Load(spec.Certificate)
			if err != nil {
				return nil, &worker.Error{Class: "spec", Message: err.Error()}
			}
			secure = &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
		default:
			return nil, &worker.Error{Class: "spec", Message: fmt.Sprintf("listener %q of an origin: there are http, https and h2c", name)}
		}
	}
	open, err := listen.Open(spec.Listen)
	if err != nil {
		return nil, err
	}
	if spec.Procs > 0 {
		runtime.GOMAXPROCS(spec.Procs)
	}
	s := &Server{
		spec: spec, listeners: map[string]*listener{}, conns: map[*conn]struct{}{},
		drain: make(chan struct{}), hard: make(chan struct{}),
	}
	s.servedBy.Store(spec.ServedBy)
	s.prepare()
	for name, o := range open {
		l := &listener{name: name, open: o}
		s.listeners[name] = l
		l.web = s.web(l, secure)
	}
	for _, l := range s.listeners {
		s.run(l)
	}
	s.wg.Go(s.tick)
	return s, nil
}

// run serves one listener.
func (s *Server) run(l *listener) {
	if l.name == "https" {
		s.wg.Go(func() { l.web.ServeTLS(&counting{l.open, l}, "", "") })
		return
	}
	l.http2 = newHandoff(l.open.Addr())
	s.wg.Go(func() { l.web.Serve(l.http2) })
	s.wg.Go(func() {
		for {
			c, err := l.open.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.serve(c.(*net.TCPConn), l) })
		}
	})
}

// tick keeps the Date of the answers.
func (s *Server) tick() {
	for {
		select {
		case <-s.hard:
			return
		case <-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second))):
			s.prepare()
		}
	}
}

func (s *Server) prepare() {
	name := ""
	if s.servedBy.Load() {
		name = s.spec.Name
	}
	s.forms.Store(newForms(time.Now(), name))
}

// Addresses are where it listens, by listener.
func (s *Server) Addresses() map[string]string {
	addresses := map[string]string{}
	for name, l := range s.listeners {
		addresses[name] = l.open.Addr().String()
	}
	return addresses
}

// Control changes it.
func (s *Server) Control(c Control) (struct{}, error) {
	if c.ServedBy != nil {
		s.servedBy.Store(*c.ServedBy)
		s.prepare()
	}
	return struct{}{}, nil
}

// Sample reads the counters.
func (s *Server) Sample() Sample {
	sample := Sample{Listeners: map[string]Traffic{}}
	for name, l := range s.listeners {
		t := l.counters.traffic()
		t.AcceptErrors = l.open.Errors()
		sample.Listeners[name] = t
	}
	return sample
}

// Stop stops listening, closes what is between requests and waits for the requests that have begun; when ctx ends it
// closes them too. Requests to /stall are never waited for.
func (s *Server) Stop(ctx context.Context) error {
	s.stopping.Do(func() { s.stop(ctx) })
	return nil
}

func (s *Server) stop(ctx context.Context) {
	s.draining.Store(true)
	close(s.drain)
	s.fresh.Close()
	var requests sync.WaitGroup
	for _, l := range s.listeners {
		l.open.Close()
		requests.Go(func() { l.web.Shutdown(ctx) })
	}
	s.each((*conn).poke)
	requests.Go(func() {
		select {
		case <-s.empty():
		case <-ctx.Done():
		}
	})
	requests.Wait()
	close(s.hard)
	s.each(func(c *conn) { c.tcp.Close() })
	for _, l := range s.listeners {
		l.web.Close()
	}
	s.wg.Wait()
}

// empty is closed once no connection is left that serve owns.
func (s *Server) empty() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = make(chan struct{})
	if len(s.conns) == 0 {
		close(s.gone)
	}
	return s.gone
}

// add registers a connection; it is false if the server is stopping.
func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.gone != nil && len(s.conns) == 0 {
		close(s.gone)
	}
}

func (s *Server) each(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}

// sleep waits for d; it is false if the server did not wait so long.
func (s *Server) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.hard:
		return false
	}
}
