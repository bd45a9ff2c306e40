package drop

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

// A Server holds a table.
type Server struct {
	mu    sync.Mutex
	conn  *nftables.Conn // its socket owns the table
	table *nftables.Table
	chain *nftables.Chain
	rules []Rule // that are in force
	last  Sample // what they were seen to have counted
}

// Start makes the table, without a rule. The error says in words why there can be none.
func Start(spec Spec) (*Server, error) {
	conn, table, err := open(spec.Table)
	if err != nil {
		return nil, err
	}
	return &Server{conn: conn, table: table}, nil
}

// Addresses are none: it listens on nothing.
func (s *Server) Addresses() map[string]string { return nil }

// Control puts rules in force, all at the same moment.
func (s *Server) Control(c Control) (Reply, error) {
	for _, r := range c.Rules {
		if r.Port < 1 || r.Port > 65535 || !(r.Share >= 0 && r.Share <= 1) {
			return Reply{}, fmt.Errorf("a rule for port %d and a share of %v: ports are 1 to 65535, shares 0 to 1", r.Port, r.Share)
		}
		if _, ok := Nearest(r.Share); !ok {
			return Reply{}, fmt.Errorf("a share of %v: shares are drawn in millionths", r.Share)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.count()
	if err != nil {
		return Reply{}, err
	}
	if s.chain != nil {
		s.conn.DelChain(s.chain) // and its rules
	}
	var chain *nftables.Chain
	if len(c.Rules) > 0 {
		chain = s.conn.AddChain(hooked(s.table))
		for _, e := range matches(c.Rules) {
			s.conn.AddRule(&nftables.Rule{Table: s.table, Chain: chain, Exprs: e})
		}
	}
	if err := s.conn.Flush(); err != nil {
		return Reply{}, fmt.Errorf("changing the rules: %w", because(err))
	}
	s.chain, s.rules, s.last = chain, c.Rules, Sample{}
	return Reply{before}, nil
}

// Sample tells what was counted; what it was the last time, if the kernel does not say.
func (s *Server) Sample() Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := s.count()
	if err != nil {
		slog.Error("the counters of the rules cannot be read", "error", err)
		return s.last
	}
	s.last = now
	return now
}

// count reads the counters.
func (s *Server) count() (Sample, error) {
	if len(s.rules) == 0 {
		return Sample{}, nil
	}
	held, err := s.conn.GetRules(s.table, s.chain)
	if err != nil {
		return Sample{}, fmt.Errorf("reading the rules: %w", because(err))
	}
	if held = held[min(len(preamble()), len(held)):]; len(held) != len(s.rules) {
		return Sample{}, fmt.Errorf("the kernel has %d rules instead of %d", len(held), len(s.rules))
	}
	var out Sample
	for i, r := range s.rules {
		c := Counted{Rule: r}
		seen := 0
		for _, e := range held[i].Exprs {
			if counter, ok := e.(*expr.Counter); ok {
				if seen++; seen == 1 {
					c.Packets = int64(counter.Packets)
				} else {
					c.Dropped = int64(counter.Packets)
				}
			}
		}
		out.Rules = append(out.Rules, c)
	}
	return out, nil
}

// Stop removes the table.
func (s *Server) Stop(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.CloseLasting(); err != nil {
		return fmt.Errorf("giving up the table of rules: %w", err)
	}
	s.rules = nil
	return nil
}
