package probes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

var relayKind = kind("relay",
	`Connections and bytes that pass the relays in front of backends, and what toxics did to them, as the relays count them. A
relay is a source by its own name, with a replica for each replica of its backend.`,
	"of", func() *relay { return &relay{} })

type relay struct {
	Of string `yaml:"of" doc:"the name of a relay; left out: all that the scenario has"`
	pace

	seen map[source]*resumed
	said said
}

// relayed is what a process that relays says of each of its relays.
type relayed struct {
	Relays map[string]struct {
		Opened       float64 `json:"opened"`
		Live         float64 `json:"live"`
		AcceptErrors float64 `json:"accept_errors"`
		DialErrors   float64 `json:"dial_errors"`
		BytesUp      float64 `json:"bytes_up"`
		BytesDown    float64 `json:"bytes_down"`
		Chunks       float64 `json:"chunks"`
		Resets       float64 `json:"resets"`
		Closed       float64 `json:"closed"`
		Refused      float64 `json:"refused"`

		Acted map[string]float64 `json:"acted"` // connections, by kind of toxic
	} `json:"relays"`
}

// actedOn is the series of the connections on which toxics acted.
const actedOn = "toxic_connections"

// relaysRole is the role of the process that holds an installation's relays.
const relaysRole = "relays"

func (r *relay) Produces() []series.SeriesDesc {
	d := []series.SeriesDesc{{Name: "connections", Shape: series.Gauge, Class: series.Count, Doc: "connections of clients that are open"}}
	for _, s := range [][3]string{
		{"connections_total", "", "connections of clients that the relay accepted"},
		{"accept_errors", "", "connections that could not be accepted, for want of descriptors or memory"},
		{"dial_errors", "", "connections for which the upstream could not be reached"},
		{"bytes_up", "B", "bytes written to the upstream"},
		{"bytes_down", "B", "bytes written to clients"},
		{"chunks", "", "pieces in which they were written"},
		{actedOn, "", "connections on which toxics acted, once for each toxic; recorded by kind of toxic too"},
		{"resets", "", "connections that toxics reset"},
		{"closed", "", "connections that toxics ended in order"},
		{"refused", "", "connections that found nobody listening, under the toxic refuse"},
	} {
		d = append(d, series.SeriesDesc{Name: s[0], Unit: s[1], Shape: series.Counter, Class: series.Count, Doc: s[2]})
	}
	return append(d, gapsDesc)
}

// Fresh implements task.Fresh.
func (r *relay) Fresh() task.Probe { return &relay{Of: r.Of, pace: pace{Every: r.Every}} }

func (r *relay) Sample(ctx context.Context, env *task.ProbeEnv) error {
	r.step("relay", env)
	var errs []error
	found := make(map[string]bool)
	for _, p := range pick(env.Processes.All(), relaysRole) {
		if over(p) {
			continue
		}
		var s relayed
		if err := p.Sample(ctx, &s); err != nil {
			errs = append(errs, fmt.Errorf("asking %s what it relayed: %w", p.Name(), err))
			continue
		}
		for full, c := range s.Relays {
			name, replica := relayName(full)
			found[name] = true
			if r.Of != "" && r.Of != name {
				continue
			}
			counters := map[string]float64{
				"connections_total": c.Opened, "accept_errors": c.AcceptErrors, "dial_errors": c.DialErrors, "bytes_up": c.BytesUp, "bytes_down": c.BytesDown,
				"chunks": c.Chunks, "resets": c.Resets, "closed": c.Closed, "refused": c.Refused, actedOn: 0}
			for kind, n := range c.Acted {
				counters[actedOn] += n
				counters[actedOn+" "+kind] = n
			}
			r.emit(env, source{name, replica}, c.Live, p.PID(), counters)
		}
	}
	if len(errs) == 0 {
		if len(found) == 0 {
			errs = append(errs, fmt.Errorf("no relay stands in the path of this scenario (it says which by relays: [NAME])"))
		}
		if r.Of != "" && len(found) > 0 && !found[r.Of] {
			errs = append(errs, fmt.Errorf("no relay is named %s; there are %s", r.Of, strings.Join(slices.Sorted(maps.Keys(found)), ", ")))
		}
	}
	return r.said.first(errs...)
}

// relayName splits "to_web/2": the relay in front of replica 2.
func relayName(full string) (name string, replica int) {
	if i := strings.LastIndexByte(full, '/'); i >= 0 {
		if n, err := strconv.Atoi(full[i+1:]); err == nil {
			return full[:i], n
		}
	}
	return full, 0
}

func (r *relay) emit(env *task.ProbeEnv, s source, live float64, pid int, counters map[string]float64) {
	if r.seen == nil {
		r.seen = make(map[source]*resumed)
	}
	if r.seen[s] == nil {
		r.seen[s] = &resumed{}
	}
	env.Emit(series.Point{T: env.Now, Series: "connections", Source: s.name, Replica: s.replica, V: live})
	for name, v := range r.seen[s].read(pid, counters) {
		name, kind, _ := strings.Cut(name, " ")
		env.Emit(series.Point{T: env.Now, Series: name, Label: kind, Source: s.name, Replica: s.replica, V: v})
	}
}
