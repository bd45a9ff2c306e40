package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/internal/worker"
)

// A result is what became of a row.
type result struct {
	row    row
	rounds []round // those that were measured again too
	absent error   // the worker does not speak that yet, or the peer is not there
	failed error   // the measurement went wrong
}

// compare measures a row.
func (m *machine) compare(r row, o options) result {
	res := result{row: r}
	c := comparison{row: r, mine: ours{m: m, binary: o.binary}, speed: m.client.speed, duration: o.duration}
	var err error
	if r.peer != "" {
		c.theirs, err = m.peer(r.peer)
	}
	if err == nil && r.mine != "" {
		c.mine, err = m.peer(r.mine)
	}
	if err != nil {
		res.absent = err
		return res
	}
	if err := m.alike(r, c.mine, c.theirs); err != nil {
		if refused, ok := errors.AsType[*worker.Error](err); ok && refused.Class == "spec" {
			res.absent = err
		} else {
			res.failed = err
		}
		return res
	}
	res.rounds, res.failed = c.all(o.rounds, o.limits)
	return res
}

// all makes the rounds of a row. One that the machine disturbed is measured again and no longer counts, until that has happened
// often enough; then it counts as it is.
func (c comparison) all(rounds int, l limits) (out []round, err error) {
	left := l.again
	var start run
	for number := 1; number <= rounds; number++ {
		for try := 1; ; try++ {
			r, err := c.round(number, try, start)
			if err != nil {
				return append(out, r), fmt.Errorf("round %d: %w", number, err)
			}
			start = r.start
			r.disturbed = l.disturb(r)
			if r.discarded = r.disturbed && left > 0; r.discarded {
				left--
			}
			out = append(out, r)
			if !r.discarded {
				break
			}
		}
	}
	return out, nil
}

// counted are the rounds of which the result is made, or those that were measured again.
func (res result) counted(yes bool) (out []round) {
	for _, r := range res.rounds {
		if r.discarded != yes {
			out = append(out, r)
		}
	}
	return out
}

// of is one number of each round that counts.
func (res result) of(number func(round) float64) (out []float64) {
	for _, r := range res.counted(true) {
		out = append(out, number(r))
	}
	return out
}

// peer finds a program.
func (m *machine) peer(kind string) (*peer, error) {
	binary, err := find(kind)
	if err != nil {
		return nil, err
	}
	return &peer{m, kind, binary}, nil
}

// alike has both clients make requests that nginx logs, and checks that they are of one kind: protocol, cipher suite, group,
// resumption, whole answers.
func (m *machine) alike(r row, mine client, theirs rival) error {
	clients := []client{mine}
	if theirs != nil {
		clients = append(clients, theirs)
	}
	var kinds []string
	for _, c := range clients {
		if _, err := c.run(r, r.path+"?logged", time.Second); err != nil {
			return err
		}
		all, err := m.server.facts()
		if err != nil {
			return err
		}
		kind, err := oneKind(all, r)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name(), err)
		}
		kinds = append(kinds, kind)
	}
	if kinds[0] != kinds[len(kinds)-1] {
		return fmt.Errorf("they do not do the same: %s %q, %s %q", mine.name(), kinds[0], theirs.name(), kinds[1])
	}
	return nil
}

// oneKind gives what all requests were but the few that begin a run or are cut off at its end, and checks what it must be.
func oneKind(all map[string]int64, r row) (string, error) {
	var kind string
	var others int64
	for k, n := range all {
		if n > all[kind] {
			kind = k
		}
		others += n
	}
	if others -= all[kind]; kind == "" || others > r.inFlight() {
		return "", fmt.Errorf("requests of several kinds: %v", all)
	}
	session := "-"
	switch {
	case r.resume:
		session = "r"
	case servers[r.at].tls:
		session = "."
	}
	if want := fmt.Sprintf(" %s 200 %d", session, r.bytes); !strings.HasSuffix(kind, want) {
		return "", fmt.Errorf("requests are %q, and should end with %q", kind, want)
	}
	return kind, nil
}

// mid is the median of at least one number; of an even count the mean of the two in the middle.
func mid(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
