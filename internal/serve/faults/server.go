package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/planrun/planrun/internal/serve/listen"
	"github.com/planrun/planrun/internal/worker"
)

// Quiet is for how long nothing must have moved over a connection for a graceful stop to close it.
const Quiet = time.Second

// A Server is the relays of a process.
type Server struct {
	relays map[string]*relay
	names  []string // in the order of the specification
}

// Start listens and relays until Stop. The error is a *worker.Error of class "spec", or "generator" where the machine
// lacks a port or descriptors.
func Start(spec Spec) (*Server, error) {
	addresses := map[string]string{}
	for _, r := range spec.Relays {
		if _, twice := addresses[r.Name]; twice || r.Name == "" {
			return nil, wrong("relay %q: each needs a name of its own", r.Name)
		}
		if r.Upstream == "" {
			return nil, wrong("relay %s: it needs an upstream", r.Name)
		}
		addresses[r.Name] = r.Listen
	}
	if len(addresses) == 0 {
		return nil, wrong("no relay is given")
	}
	open, err := listen.Open(addresses)
	if err != nil {
		return nil, err
	}
	s := &Server{relays: map[string]*relay{}}
	for _, spec := range spec.Relays {
		r, err := newRelay(spec, open[spec.Name])
		if err != nil {
			listen.Close(open)
			return nil, err
		}
		s.relays[spec.Name] = r
		s.names = append(s.names, spec.Name)
	}
	for _, r := range s.relays {
		r.run()
	}
	return s, nil
}

func wrong(format string, args ...any) error {
	return &worker.Error{Class: "spec", Message: fmt.Sprintf(format, args...)}
}

// Addresses are where the relays listen, by name.
func (s *Server) Addresses() map[string]string {
	addresses := map[string]string{}
	for name, r := range s.relays {
		addresses[name] = r.open.Addr().String()
	}
	return addresses
}

// Control adds or removes a toxic. After an error nothing is changed.
func (s *Server) Control(c Control) (Reply, error) {
	names := c.Relays
	if len(names) == 0 {
		names = s.names
	}
	for _, name := range names {
		if s.relays[name] == nil {
			return Reply{}, wrong("relay %q: there is %s", name, strings.Join(slices.Sorted(slices.Values(s.names)), ", "))
		}
	}
	if (c.Add == nil) == (c.Remove == "") {
		return Reply{}, wrong("exactly one of add and remove is needed")
	}
	reply := Reply{}
	if c.Add == nil {
		for _, name := range names {
			if s.relays[name].remove(c.Remove) {
				reply.Relays++
			}
		}
		return reply, nil
	}
	f, err := newFault(*c.Add)
	if err != nil {
		return Reply{}, wrong("%v", err)
	}
	for _, name := range names {
		s.relays[name].put(f, c.Add.TTL)
		reply.Relays++
	}
	return reply, nil
}

func newFault(t Toxic) (fault, error) {
	if t.Name == "" {
		t.Name = t.Type
	}
	if t.Stream == "" {
		t.Stream = Downstream
	}
	place, made, err := parse(t)
	switch {
	case err != nil:
		return fault{}, err
	case t.Stream != Upstream && t.Stream != Downstream:
		return fault{}, fmt.Errorf("toxic %s: stream %q: there are %s and %s", t.Type, t.Stream, Downstream, Upstream)
	case t.TTL <= 0:
		return fault{}, fmt.Errorf("toxic %s: it needs a time to live", t.Type)
	}
	return fault{name: t.Name, stream: t.Stream, place: place, toxic: made}, nil
}

// Sample reads the counters.
func (s *Server) Sample() Sample {
	sample := Sample{map[string]Counters{}}
	for name, r := range s.relays {
		sample.Relays[name] = r.sample()
	}
	return sample
}

// Stop stops listening, ends all faults, and closes each connection once it was Quiet; when ctx ends it closes all.
func (s *Server) Stop(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, r := range s.relays {
		wg.Go(func() { r.stop(ctx) })
	}
	wg.Wait()
	return nil
}

func (r *relay) stop(ctx context.Context) {
	r.open.Close()
	r.stopDials()
	r.mu.Lock()
	r.stopped = true
	for _, f := range r.faults {
		f.expiry.Stop()
	}
	r.faults = nil
	r.apply()
	for p := range r.pairs {
		p.seen = -1
	}
	r.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(ended)
	}()
	again := time.NewTimer(Quiet)
	defer again.Stop()
	for {
		r.killQuiet(false)
		select {
		case <-again.C: // a ticker would come early after it came late
			again.Reset(Quiet)
		case <-ended:
			return
		case <-ctx.Done():
			r.killQuiet(true)
			<-ended
			return
		}
	}
}

// killQuiet closes the pairs that have moved nothing since its last call, or all.
func (r *relay) killQuiet(all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.pairs {
		moved := p.moved.Load()
		if all || moved == p.seen {
			p.kill()
		}
		p.seen = moved
	}
}
