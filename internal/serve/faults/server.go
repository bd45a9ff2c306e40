package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/planrun/planrun/internal/serve/listen"
	"github.com/planrun/planrun/internal/worker"
)

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

// Control adds or removes a toxic. After an error none of its name is in force at the relays that were to get it.
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
	if c.Add == nil {
		return s.remove(names, c.Remove)
	}
	t := *c.Add
	place, made, err := checked(&t)
	if err != nil {
		return Reply{}, wrong("%v", err)
	}
	for i, name := range names {
		if err := s.relays[name].put(t, place, made); err != nil {
			_, undo := s.remove(names[:i], t.Name)
			return Reply{}, fmt.Errorf("toxic %s of relay %s: %w", t.Type, name, errors.Join(err, undo))
		}
	}
	return Reply{Relays: len(names)}, nil
}

func (s *Server) remove(names []string, toxic string) (Reply, error) {
	reply := Reply{Effects: map[string]Effect{}}
	var errs []error
	for _, name := range names {
		e, err := s.relays[name].remove(toxic)
		if err != nil {
			errs = append(errs, fmt.Errorf("relay %s: %w", name, err))
		}
		if e != nil {
			reply.Relays++
			reply.Effects[name] = *e
		}
	}
	return reply, errors.Join(errs...)
}

// checked fills in what a toxic leaves out.
func checked(t *Toxic) (place int, made toxic, err error) {
	t.Name, t.Stream = cmp.Or(t.Name, t.Type), cmp.Or(t.Stream, Downstream)
	place, made, err = parse(*t)
	switch {
	case err != nil:
	case t.Stream != Upstream && t.Stream != Downstream && t.Stream != Both:
		err = fmt.Errorf("toxic %s: stream %q: there are %s, %s and %s", t.Type, t.Stream, Downstream, Upstream, Both)
	case !(t.Share >= 0 && t.Share <= 1):
		err = fmt.Errorf("toxic %s: a share of %v: from 0, which is all, to 1", t.Type, t.Share)
	case t.TTL <= 0:
		err = fmt.Errorf("toxic %s: it needs a time to live", t.Type)
	}
	return place, made, err
}

// Sample reads the counters.
func (s *Server) Sample() Sample {
	sample := Sample{map[string]Counters{}}
	for name, r := range s.relays {
		sample.Relays[name] = r.sample()
	}
	return sample
}

// Stop stops listening, ends all faults, and closes each connection once it was quiet (listen.Quiet); when ctx ends it closes all.
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
	for len(r.faults) > 0 {
		r.end(r.faults[0])
	}
	for p := range r.pairs {
		p.seen = -1
	}
	r.mu.Unlock()
	listen.Drain(ctx, &r.wg, r.killQuiet)
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
