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
	ratios []float64 // of each round, client CPU per request, the worker's to the peer's
	whole  []float64 // the same with the starts of both processes
	lags   [2][]float64
	runs   []run
	absent error // the worker does not speak that yet, or the peer is not there
	failed error // the measurement went wrong
}

// compare makes the rounds of a row. In each the worker, the peer and the peer's start take turns, in one order and then in
// the reverse, so that a machine that becomes slower or faster is no advantage; what is compared is of one round.
func (m *machine) compare(r row, binary string, rounds int, d time.Duration) (res result) {
	res.row = r
	var mine client = ours{m: m, binary: binary}
	theirs, err := m.peer(r.peer)
	if err == nil && r.mine != "" {
		mine, err = m.peer(r.mine)
	}
	if err != nil {
		res.absent = err
		return res
	}
	if err := m.alike(r, mine, theirs); err != nil {
		if refused, ok := errors.AsType[*worker.Error](err); ok && refused.Class == "spec" {
			res.absent = err
		} else {
			res.failed = err
		}
		return res
	}
	for round := range rounds {
		if res.failed = m.round(&res, mine, theirs, round, d); res.failed != nil {
			return res
		}
	}
	return res
}

// peer finds a program; nil for none.
func (m *machine) peer(kind string) (*peer, error) {
	if kind == "" {
		return nil, nil
	}
	binary, err := find(kind)
	if err != nil {
		return nil, err
	}
	return &peer{m, kind, binary}, nil
}

// alike has both clients make requests that nginx logs, and checks that they are of one kind: protocol, cipher suite, group,
// resumption, whole answers.
func (m *machine) alike(r row, mine client, theirs *peer) error {
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

func (m *machine) round(res *result, mine client, theirs *peer, round int, d time.Duration) error {
	r := res.row
	var own, other, start run
	steps := []func() error{func() (err error) { own, err = mine.run(r, r.path, d); return err }}
	if theirs != nil {
		steps = append(steps,
			func() (err error) { start, err = theirs.start(r); return err },
			func() (err error) { other, err = theirs.run(r, r.path, d); return err })
	}
	if round%2 == 1 {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	keep := func(x *run, who client, theirs bool) error {
		first := theirs == (round%2 == 1)
		x.Row, x.Round, x.Who, x.Theirs, x.First = r.label(), round+1, who.name(), theirs, first
		res.runs = append(res.runs, *x)
		if err := x.same(r, d); err != nil {
			return fmt.Errorf("round %d: %s: %w", round+1, who.name(), err)
		}
		return nil
	}
	if r.mine != "" {
		own.StartCPU, own.StartRequests = start.CPU, start.Requests
	}
	if err := keep(&own, mine, false); err != nil {
		return err
	}
	for i, lag := range []float64{own.LagP50, own.LagP90} {
		res.lags[i] = append(res.lags[i], lag)
	}
	if theirs == nil {
		return nil
	}
	other.StartCPU, other.StartRequests = start.CPU, start.Requests
	if err := keep(&other, theirs, true); err != nil {
		return err
	}
	res.ratios = append(res.ratios, own.cost()/other.cost())
	res.whole = append(res.whole, own.wholeCost()/other.wholeCost())
	return nil
}

// mid is the median of at least one number; of an even count the mean of the two in the middle.
func mid(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
