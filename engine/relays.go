package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/faults"
)

// startRelays puts the cell's relays in front of their backends: one process holds them all.
func (in *installation) startRelays(ctx context.Context) error {
	if len(in.cell.Relays) == 0 {
		return nil
	}
	var spec faults.Spec
	for _, name := range in.cell.Relays {
		of := in.p.relays.Get(name).Val.Of
		for i, upstream := range in.origins(of) {
			ports, err := in.group.Ports(1)
			if err != nil {
				return fmt.Errorf("taking ports: %w", err)
			}
			spec.Relays = append(spec.Relays, faults.Relay{Name: relayName(name, i), Listen: loopback(ports[0]), Upstream: upstream})
		}
	}
	p, err := in.group.Start(ctx, task.ProcessSpec{Name: "relays", Role: "relays", Limits: in.limits("relays"), Builtin: "faults", Config: spec, CPUs: in.cpus("relays"), Nice: in.p.Host.Nice,
		Dir: filepath.Join(in.dir, "relays"), OnExit: in.onExit("relays", 0)})
	if err != nil {
		return err
	}
	in.note(p, in.cpus("relays"))
	in.faults, in.relays = p, spec.Relays
	return nil
}

func relayName(relay string, replica int) string { return relay + "/" + itoa(replica) }

// relayed are the addresses of the relays in front of a backend; nil if there are none.
func (in *installation) relayed(backend string) (out []string) {
	for _, name := range in.cell.Relays {
		if in.p.relays.Get(name).Val.Of != backend {
			continue
		}
		for i := range in.origins(backend) {
			for _, r := range in.relays {
				if r.Name == relayName(name, i) {
					out = append(out, r.Listen)
				}
			}
		}
	}
	return out
}

type noRelays struct{}

func (noRelays) Fault(context.Context, string, string, map[string]any, time.Duration) (func(context.Context) error, error) {
	return nil, errNoRun
}

// relays changes the relays of a run's installation, and notes what passed while a fault was in force.
type relays struct {
	in    *installation
	r     *run
	phase string
	lasts time.Duration // how long the action can last; 0: not known
}

// ttlSlack is how much longer than its action a fault may live should the engine die: the relay then takes it away.
const ttlSlack = 30 * time.Second

// Fault puts a toxic in force on all replicas of a relay.
func (x relays) Fault(ctx context.Context, relay, toxic string, attributes map[string]any, ttl time.Duration) (func(context.Context) error, error) {
	if x.in.faults == nil || !slices.Contains(x.in.cell.Relays, relay) {
		return nil, fmt.Errorf("the relay %s is not in the path; add it to the scenario's relays", relay)
	}
	if x.lasts > 0 {
		ttl = min(ttl, x.lasts+ttlSlack)
	}
	var names []string
	for _, r := range x.in.relays {
		if name, _ := filepath.Split(r.Name); name == relay+"/" {
			names = append(names, r.Name)
		}
	}
	streams := []string{faults.Downstream}
	switch attributes["direction"] {
	case "up":
		streams = []string{faults.Upstream}
	case "both":
		streams = []string{faults.Upstream, faults.Downstream}
	}
	asked, _ := attributes["latency"].(float64)
	jitter, _ := attributes["jitter"].(float64)
	body, err := json.Marshal(faults.Latency{Latency: ms(asked), Jitter: ms(jitter), Seed: 1})
	if err != nil {
		return nil, fmt.Errorf("encoding the toxic: %w", err)
	}
	before, err := x.effect(ctx, names, streams)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	tag := fmt.Sprintf("%s-%d", toxic, start.UnixNano())
	for _, s := range streams {
		c := faults.Control{Relays: names, Add: &faults.Toxic{Name: tag + s, Type: toxic, Stream: s, Attributes: body, TTL: ttl}}
		if err := x.in.faults.Control(ctx, c, nil); err != nil {
			return nil, fmt.Errorf("relay %s: %w", relay, err)
		}
	}
	x.r.event("fault", fmt.Sprintf("%s of %gms on %s begins", toxic, asked, relay), map[string]any{"relay": relay, "toxic": toxic})
	return func(ctx context.Context) error {
		after, err := x.effect(ctx, names, streams)
		for _, s := range streams {
			err = errors.Join(err, x.in.faults.Control(ctx, faults.Control{Relays: names, Remove: tag + s}, nil))
		}
		passed := after.Since(before)
		x.r.event("fault", fmt.Sprintf("%s on %s ends", toxic, relay), map[string]any{"relay": relay, "toxic": toxic, "bytes": passed.Bytes})
		x.r.mu.Lock()
		defer x.r.mu.Unlock()
		x.r.rec.Facts.Faults = append(x.r.rec.Facts.Faults, record.Fault{Relay: relay, Toxic: toxic, Phase: x.phase, Start: x.r.since(start), End: x.r.since(time.Now()),
			Connections: max(0, before.live+after.opened-before.opened), Bytes: passed.Bytes, AskedMs: asked, MeasuredMs: float64(passed.MeanDelay()) / float64(time.Millisecond)})
		if err != nil {
			return fmt.Errorf("taking the toxic %s from relay %s: %w", toxic, relay, err)
		}
		return nil
	}, nil
}

func ms(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// An effectSum is what passed under faults on several relays.
type effectSum struct {
	faults.Effect
	live, opened int64
}

func (a effectSum) Since(b effectSum) faults.Effect { return a.Effect.Since(b.Effect) }

func (x relays) effect(ctx context.Context, names, streams []string) (sum effectSum, err error) {
	var s faults.Sample
	if err := x.in.faults.Sample(ctx, &s); err != nil {
		return sum, fmt.Errorf("reading the relays' counters: %w", err)
	}
	for _, n := range names {
		c := s.Relays[n]
		sum.live, sum.opened = sum.live+c.Live, sum.opened+c.Opened
		for _, st := range streams {
			e := c.Down
			if st == faults.Upstream {
				e = c.Up
			}
			sum.Chunks, sum.Bytes, sum.Delay = sum.Chunks+e.Chunks, sum.Bytes+e.Bytes, sum.Delay+e.Delay
		}
	}
	return sum, nil
}
