package relay

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/planrun/planrun/internal/serve/listen"
	"github.com/planrun/planrun/internal/worker"
)

// A Server is a running relay.
type Server struct {
	spec      Spec
	listeners map[string]*listener
	dialing   context.Context
	stopDials context.CancelFunc
	table     atomic.Pointer[[]*upstream]
	next      atomic.Uint32
	wg        sync.WaitGroup
	stopping  sync.Once

	mu        sync.Mutex
	upstreams map[string]*upstream
	pairs     map[*pair]struct{}
	stopped   bool
}

type listener struct {
	open         *listen.Listener
	opened, live atomic.Int64
	moved        [2]int64 // by pairs that have ended; Server.mu
}

type upstream struct {
	address              string
	opened, live, errors atomic.Int64
}

// A pair is a client's connection and the one that goes on from it.
type pair struct {
	client, server *net.TCPConn
	l              *listener
	moved          [2]atomic.Int64 // bytes up and down
	seen           int64           // of them at a stop's last look
}

// Start listens and relays until Stop. The error is a *worker.Error of class "spec", or "generator" where the machine
// lacks a port or descriptors.
func Start(spec Spec) (*Server, error) {
	if spec.DialTimeout == 0 {
		spec.DialTimeout = 5 * time.Second
	}
	if len(spec.Listen) == 0 {
		return nil, &worker.Error{Class: "spec", Message: "a relay needs a listener"}
	}
	s := &Server{spec: spec, listeners: map[string]*listener{}, upstreams: map[string]*upstream{}, pairs: map[*pair]struct{}{}}
	if _, err := s.Control(Control{spec.Upstreams}); err != nil {
		return nil, err
	}
	open, err := listen.Open(spec.Listen)
	if err != nil {
		return nil, err
	}
	if spec.Procs > 0 {
		runtime.GOMAXPROCS(spec.Procs)
	}
	s.dialing, s.stopDials = context.WithCancel(context.Background())
	for name, o := range open {
		l := &listener{open: o}
		s.listeners[name] = l
		s.wg.Go(func() {
			for {
				c, err := o.Accept()
				if err != nil {
					return
				}
				s.wg.Go(func() { s.relay(c.(*net.TCPConn), l) })
			}
		})
	}
	return s, nil
}

// relay owns a client's connection until it ends.
func (s *Server) relay(client *net.TCPConn, l *listener) {
	l.opened.Add(1)
	l.live.Add(1)
	defer l.live.Add(-1)
	u := s.pick()
	dialer := net.Dialer{Timeout: s.spec.DialTimeout}
	c, err := dialer.DialContext(s.dialing, "tcp", u.address)
	if err != nil {
		if s.dialing.Err() == nil {
			u.errors.Add(1)
		}
		client.SetLinger(0)
		client.Close()
		return
	}
	u.opened.Add(1)
	u.live.Add(1)
	defer u.live.Add(-1)
	p := &pair{client: client, server: c.(*net.TCPConn), l: l}
	defer p.close()
	if !s.add(p) {
		return
	}
	defer s.remove(p)
	up := make(chan struct{})
	go func() {
		defer close(up)
		p.half(p.server, p.client, &p.moved[0])
	}()
	p.half(p.client, p.server, &p.moved[1])
	<-up
}

// half passes one direction on to its end, and then the end itself.
func (p *pair) half(dst, src *net.TCPConn, moved *atomic.Int64) {
	if err := pass(dst, src, moved); err == nil {
		dst.CloseWrite()
		return
	}
	dst.SetLinger(0)
	src.SetLinger(0)
	p.close()
}

func (p *pair) close() {
	p.client.Close()
	p.server.Close()
}

func (s *Server) pick() *upstream {
	list := *s.table.Load()
	return list[(s.next.Add(1)-1)%uint32(len(list))]
}

// add registers a pair; it is false if the server has stopped.
func (s *Server) add(p *pair) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.pairs[p] = struct{}{}
	}
	return !s.stopped
}

func (s *Server) remove(p *pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pairs, p)
	for i := range p.moved {
		p.l.moved[i] += p.moved[i].Load()
	}
}

// Control changes where new connections go.
func (s *Server) Control(c Control) (struct{}, error) {
	done := struct{}{}
	if len(c.Upstreams) == 0 {
		return done, &worker.Error{Class: "spec", Message: "a relay needs an upstream"}
	}
	for _, address := range c.Upstreams {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return done, &worker.Error{Class: "spec", Message: fmt.Sprintf("upstream %q: %v", address, err)}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*upstream
	for _, address := range c.Upstreams {
		u := s.upstreams[address]
		if u == nil {
			u = &upstream{address: address}
			s.upstreams[address] = u
		}
		list = append(list, u)
	}
	s.table.Store(&list)
	return done, nil
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
	sample := Sample{Listeners: map[string]Listener{}, Upstreams: map[string]Upstream{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	moved := map[*listener][2]int64{}
	for p := range s.pairs {
		m := moved[p.l]
		for i := range m {
			m[i] += p.moved[i].Load()
		}
		moved[p.l] = m
	}
	for name, l := range s.listeners {
		sample.Listeners[name] = Listener{
			Opened: l.opened.Load(), Live: l.live.Load(), AcceptErrors: l.open.Errors(),
			BytesUp: l.moved[0] + moved[l][0], BytesDown: l.moved[1] + moved[l][1],
		}
	}
	for address, u := range s.upstreams {
		sample.Upstreams[address] = Upstream{Opened: u.opened.Load(), Live: u.live.Load(), Errors: u.errors.Load()}
	}
	return sample
}

// Stop stops listening and closes each connection once it was quiet (listen.Quiet), and when ctx ends all of them.
func (s *Server) Stop(ctx context.Context) error {
	s.stopping.Do(func() {
		for _, l := range s.listeners {
			l.open.Close()
		}
		s.stopDials()
		s.mu.Lock()
		s.stopped = true
		for p := range s.pairs {
			p.seen = -1
		}
		s.mu.Unlock()
		listen.Drain(ctx, &s.wg, s.closeQuiet)
	})
	return nil
}

// closeQuiet closes the pairs that have moved nothing since its last call, or all.
func (s *Server) closeQuiet(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.pairs {
		moved := p.moved[0].Load() + p.moved[1].Load()
		if all || moved == p.seen {
			p.close()
		}
		p.seen = moved
	}
}
