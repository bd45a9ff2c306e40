package verdict

import (
	"maps"
	"slices"
)

// Needs is what a program depends on, so that what is known early can be evaluated early.
type Needs struct {
	Earliest Time     // the first time at which all of it is known, at most the time it was compiled for
	Names    []string // params.x, vars.x, dir, stage, matrix.x, round, ...: sorted
	Calls    []string // functions of the plan, such as port
	Metrics  []string // metrics, series and "events KIND"
	Results  bool     // it reads results
	Stages   []string // whose results it reads, where they are not those of the current cell
	Series   []string // that it reads; each is of one run
}

type needs struct {
	known                 Time
	at                    Time
	names, calls, metrics map[string]bool
	stages, series        map[string]bool
	results               bool
}

func newNeeds(at Time) *needs {
	return &needs{Always, at, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, false}
}

func (n *needs) name(name string, in Time) { n.names[name], n.known = true, n.known&in }

func (n *needs) result(metric string) {
	n.results = true
	if metric != "" {
		n.metrics[metric] = true
	}
}

// merge adds what a let depends on.
func (n *needs) merge(l Needs) {
	for _, x := range l.Names {
		n.names[x] = true
	}
	for _, x := range l.Calls {
		n.calls[x] = true
	}
	for _, x := range l.Metrics {
		n.metrics[x] = true
	}
	for _, x := range l.Stages {
		n.stages[x] = true
	}
	for _, x := range l.Series {
		n.series[x] = true
	}
	n.results = n.results || l.Results
	if l.Earliest > AtPlan {
		n.known &^= l.Earliest - 1
	}
}

func (n *needs) done() Needs {
	early := n.known.earliest()
	if n.results || early == 0 || early > n.at {
		early = n.at
	}
	list := func(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
	return Needs{early, list(n.names), list(n.calls), list(n.metrics), n.results, list(n.stages), list(n.series)}
}
