package probes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

var backendConnectionsKind = kind("backend-connections",
	`Connections and requests as planrun's own servers count them: what reached the backends. The metric
backend_conns_per_1k_req is made of it. Replicas that a scale starts have counted since they began, those that it ends until
they had ended. Servers of other makes are not asked; name a probe of theirs.`,
	"of", func() *backendConnections { return &backendConnections{Of: "backends"} })

type backendConnections struct {
	Of string `yaml:"of" default:"backends" doc:"the name of a backend, or a role"`
	pace

	seen  map[source]*resumed
	final map[task.Process]bool // ended, and counted to the end
	at    float64               // of the sample before
	said  said
}

// served is what the samples of planrun's servers have in common.
type served struct {
	Listeners map[string]struct {
		Opened       float64 `json:"opened"`
		Live         float64 `json:"live"`
		AcceptErrors float64 `json:"accept_errors"`
		Received     float64 `json:"received"`
		Answered     float64 `json:"answered"`
	} `json:"listeners"`
}

func (p *backendConnections) Produces() []series.SeriesDesc {
	counter := func(name, doc string) series.SeriesDesc {
		return series.SeriesDesc{Name: name, Shape: series.Counter, Class: series.Count, Doc: doc}
	}
	return []series.SeriesDesc{
		counter("connections_opened", "connections that were accepted"),
		counter("requests_received", "requests that were read to their end"),
		counter("requests_answered", "of them, answered to the end"),
		counter("accept_errors", "connections that could not be accepted, for want of descriptors or memory"),
		{Name: "connections", Shape: series.Gauge, Class: series.Count, Doc: "connections that are open"},
		gapsDesc,
	}
}

// Fresh implements task.Fresh.
func (p *backendConnections) Fresh() task.Probe {
	return &backendConnections{Of: p.Of, pace: pace{Every: p.Every}}
}

func (p *backendConnections) Sample(ctx context.Context, env *task.ProbeEnv) error {
	p.step("backend-connections", env)
	defer func() { p.at = env.Now }()
	// What ended since the sample before has counted until its end, and comes before another one of its number.
	ps := pick(append(env.Ended(), env.Processes.All()...), p.Of)
	if len(ps) == 0 {
		return p.said.once("nobody", nobody(p.Of, env))
	}
	var errs []error
	for _, pr := range ps {
		ended := over(pr)
		if p.final[pr] || ended && !slices.Contains(env.Ended(), pr) {
			continue
		}
		if ended {
			if p.final == nil {
				p.final = make(map[task.Process]bool)
			}
			p.final[pr] = true
		}
		var s served
		err := pr.Sample(ctx, &s)
		if errors.Is(err, task.ErrNotReady) {
			continue
		}
		if err != nil {
			p.of(pr) // it is no newcomer when it answers: what it counts by then is not of this second
			errs = append(errs, fmt.Errorf("asking %s what it counted: %w", pr.Name(), err))
			continue
		}
		if s.Listeners == nil {
			errs = append(errs, fmt.Errorf("%s does not count connections", pr.Name()))
			continue
		}
		p.emit(env, pr, s)
	}
	return p.said.first(errs...)
}

func (p *backendConnections) emit(env *task.ProbeEnv, pr task.Process, s served) {
	now, live := map[string]float64{"connections_opened": 0, "requests_received": 0, "requests_answered": 0, "accept_errors": 0}, 0.0
	for _, l := range s.Listeners {
		now["connections_opened"] += l.Opened
		now["requests_received"] += l.Received
		now["requests_answered"] += l.Answered
		now["accept_errors"] += l.AcceptErrors
		live += l.Live
	}
	at := series.Point{T: env.Now, Source: pr.Name(), Replica: pr.Replica(), Role: pr.Role()}
	counters, came := p.of(pr)
	if came && p.at > 0 { // since the sample before: what it counted until now is of this run
		for name := range now {
			env.Emit(series.Point{T: p.at, Series: name, Source: at.Source, Replica: at.Replica, Role: at.Role})
		}
	}
	for name, v := range counters.read(pr.PID(), now) {
		at.Series, at.V = name, v
		env.Emit(at)
	}
	at.Series, at.V = "connections", live
	env.Emit(at)
}

// of gives the counters of a replica, and whether it is seen for the first time.
func (p *backendConnections) of(pr task.Process) (r *resumed, came bool) {
	if p.seen == nil {
		p.seen = make(map[source]*resumed)
	}
	key := source{pr.Name(), pr.Replica()}
	if r = p.seen[key]; r != nil {
		return r, false
	}
	r = &resumed{}
	p.seen[key] = r
	return r, true
}
