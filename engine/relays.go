package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
		r := in.p.relays.Get(name).Val
		upstreams := in.origins(r.Of)
		if r.Server != builtinRelays {
			var err error
			if upstreams, err = in.throughServer(ctx, name, r.Server, upstreams); err != nil {
				return fmt.Errorf("relay %s: %w", name, err)
			}
		}
		for i, upstream := range upstreams {
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

func (noRelays) Fault(context.Context, string, task.Toxic, time.Duration) (func(context.Context) error, error) {
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

// streams are what the relays call the directions of a plan.
var streams = map[string]string{"": faults.Downstream, "down": faults.Downstream, "up": faults.Upstream, "both": faults.Both}

// Fault puts a toxic in force on all replicas of a relay.
func (x relays) Fault(ctx context.Context, relay string, t task.Toxic, ttl time.Duration) (func(context.Context) error, error) {
	if x.in.faults == nil || !slices.Contains(x.in.cell.Relays, relay) {
		return nil, fmt.Errorf("the relay %s is not in the path; add it to the scenario's relays", relay)
	}
	if at := x.in.external[relay]; at != nil {
		return x.onServer(ctx, relay, at, t)
	}
	if x.lasts > 0 {
		ttl = min(ttl, x.lasts+ttlSlack)
	}
	attributes, err := json.Marshal(t.Attributes)
	if err != nil {
		return nil, fmt.Errorf("encoding the toxic: %w", err)
	}
	start := time.Now()
	c := faults.Control{Relays: x.replicas(relay), Add: &faults.Toxic{Name: fmt.Sprintf("%s-%d", t.Kind, start.UnixNano()), Type: t.Kind,
		Stream: streams[t.Direction], Share: t.Share, Seed: t.Seed, Attributes: attributes, TTL: ttl}}
	if err := x.ask(ctx, c); err != nil {
		return nil, fmt.Errorf("relay %s: %w", relay, err)
	}
	f := x.begun(relay, t, start)
	return func(ctx context.Context) error { return x.end(ctx, f, c) }, nil
}

// begun notes a fault that is in force since start.
func (x relays) begun(relay string, t task.Toxic, start time.Time) record.Fault {
	x.r.event("fault", fmt.Sprintf("%s on %s begins", t.Says, relay), map[string]any{"relay": relay, "toxic": t.Kind})
	return record.Fault{Relay: relay, Toxic: t.Kind, Says: t.Says, Phase: x.phase, Start: x.r.since(start), Unit: t.Unit, Asked: t.Asked, Spread: t.Spread}
}

// askFor is how long the relays' process may take to answer.
const askFor = 10 * time.Second

// ask puts a toxic in force, if the phase has not ended. Should it end before the answer comes, the answer is awaited: the
// toxic is in force then, and what it did until it is taken away again must be known. Without an answer it may be in force
// as well, and is taken away.
func (x relays) ask(ctx context.Context, c faults.Control) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), askFor)
	defer cancel()
	err := x.in.faults.Control(asking, c, nil)
	if err == nil {
		return nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), askFor)
	defer cancel()
	return errors.Join(err, x.in.faults.Control(undo, faults.Control{Relays: c.Relays, Remove: c.Add.Name}, nil))
}

// replicas are the names of the relays in front of the replicas of a backend.
func (x relays) replicas(relay string) (names []string) {
	for _, r := range x.in.relays {
		if name, _ := filepath.Split(r.Name); name == relay+"/" {
			names = append(names, r.Name)
		}
	}
	return names
}

// end takes a toxic away and notes what it did.
func (x relays) end(ctx context.Context, f record.Fault, c faults.Control) error {
	var reply faults.Reply
	err := x.in.faults.Control(ctx, faults.Control{Relays: c.Relays, Remove: c.Add.Name}, &reply)
	var did faults.Effect
	for _, e := range reply.Effects {
		did = did.Plus(e)
	}
	f.End = x.r.since(time.Now())
	f.Connections, f.Chunks, f.Bytes, f.Held = did.Connections, did.Chunks, did.Bytes, did.Held
	f.Resets, f.Closed, f.Refused, f.Inexact = did.Resets, did.Closed, did.Refused, did.Inexact
	f.Measured, f.Of = did.Measured()
	switch {
	case err != nil:
		f.Gone = err.Error()
	case reply.Relays < len(c.Relays):
		f.Gone = fmt.Sprintf("%d of %d relays no longer had it", len(c.Relays)-reply.Relays, len(c.Relays))
	case did.Over:
		f.Gone = fmt.Sprintf("it was given %v, and had to end before it was taken away", c.Add.TTL)
	}
	return x.over(f, map[string]any{"resets": f.Resets, "closed": f.Closed, "refused": f.Refused}, err)
}

// over notes a fault that ended, and err, what went wrong in taking it away. More are fields of its event.
func (x relays) over(f record.Fault, more map[string]any, err error) error {
	fields := map[string]any{"relay": f.Relay, "toxic": f.Toxic, "connections": f.Connections, "bytes": f.Bytes}
	maps.Copy(fields, more)
	x.r.event("fault", fmt.Sprintf("%s on %s ends", f.Says, f.Relay), fields)
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	x.r.rec.Facts.Faults = append(x.r.rec.Facts.Faults, f)
	if err != nil {
		return fmt.Errorf("taking the toxic %s from relay %s: %w", f.Toxic, f.Relay, err)
	}
	return nil
}
