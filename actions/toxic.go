package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var toxicKind = kind("toxic", "Make a relay behave badly until the phase ends. Connections stay open; each relay counts what passed while the toxic was in force.", func() *toxic { return &toxic{} })

const moreToxics = "this build has latency only"

type toxic struct {
	Relay      string        `yaml:"relay" hole:"no" required:"true" ref:"relays" doc:"the relay; it must be in the path of the scenario"`
	Preset     string        `yaml:"preset" kind:"true" enum:"latency|bandwidth|reset|stall|blackhole" doc:"a usual one: latency (100 ms +- 10 ms), bandwidth (64 KiB/s), reset (every connection after 1 KiB), stall (nothing passes, connections stay open), blackhole (nothing passes, new connections are not answered)"`
	Latency    *dsl.Duration `yaml:"latency" kind:"true" min:"0s" doc:"delay of all that passes, in each direction that is meant; 0s is a relay that does nothing"`
	Bandwidth  dsl.ByteRate  `yaml:"bandwidth" kind:"true" min:"1B/s" later:"this build has latency only" doc:"bytes a second of each connection"`
	ResetAfter *dsl.Size     `yaml:"reset-after" kind:"true" min:"0" later:"this build has latency only" doc:"reset each connection after so many bytes"`
	Stall      bool          `yaml:"stall" kind:"true" later:"this build has latency only" doc:"nothing passes, connections stay open"`
	Blackhole  bool          `yaml:"blackhole" kind:"true" later:"this build has latency only" doc:"nothing passes, and new connections are not answered"`
	SlowClose  dsl.Duration  `yaml:"slow-close" kind:"true" min:"0s" later:"this build has latency only" doc:"delays the end of connections"`
	Slice      dsl.Size      `yaml:"slice" kind:"true" min:"1" later:"this build has latency only" doc:"passes what comes in pieces of at most this size"`
	Jitter     dsl.Duration  `yaml:"jitter" min:"0s" doc:"with latency: how far it varies, up and down; not more than the latency itself"`
	Direction  string        `yaml:"direction" enum:"down|up|both" default:"down" doc:"down: what the backend answers; up: what it is sent; both"`
}

// Lasting: it is in force until its phase ends.
func (t *toxic) Lasting() bool { return true }

// DefaultName says what it does.
func (t *toxic) DefaultName() string {
	if t.Latency == nil {
		return "toxic latency on " + t.Relay
	}
	return fmt.Sprintf("toxic latency of %v on %s", *t.Latency, t.Relay)
}

// Check finds what the types do not.
func (t *toxic) Check(c *dsl.Check) {
	if t.Preset != "" && t.Preset != "latency" {
		c.Laterf("preset", "%s: %s", t.Preset, moreToxics)
	}
	any := false
	for _, key := range []string{"preset", "latency", "bandwidth", "reset-after", "stall", "blackhole", "slow-close", "slice"} {
		any = any || c.Has(key)
	}
	if !any {
		c.Errorf("", "nothing says what is bad").Hint = "write latency: 20ms, or a preset"
	}
	if c.Has("jitter") && !c.Has("latency") {
		c.Errorf("jitter", "only a latency has jitter").Hint = "add latency, or leave jitter out"
	}
	if t.Latency != nil && t.Jitter > *t.Latency && c.Known("latency") {
		c.Errorf("jitter", "%v is more than the latency of %v, so delays below zero would be cut off and the mean be wrong", t.Jitter, *t.Latency)
	}
}

// Declares which relay it uses.
func (t *toxic) Declares() task.Declaration {
	return task.Declaration{Uses: []task.Use{{Kind: "relay", Name: t.Relay, Field: "relay"}}}
}

// toxicTTL is how long a relay keeps a toxic of an engine that died; the relay itself does not outlive it for longer.
const toxicTTL = 24 * time.Hour

func (t *toxic) Run(ctx context.Context, env *task.Env) (err error) {
	latency, jitter := 100*time.Millisecond, 10*time.Millisecond
	if t.Latency != nil {
		latency, jitter = *t.Latency, t.Jitter
	}
	attributes := map[string]any{
		"latency":   float64(latency) / float64(time.Millisecond), // milliseconds, as Toxiproxy has them
		"jitter":    float64(jitter) / float64(time.Millisecond),
		"direction": t.Direction,
	}
	remove, err := env.Relays.Fault(ctx, t.Relay, "latency", attributes, toxicTTL)
	if err != nil {
		return err
	}
	defer func() {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, remove(undo))
	}()
	<-ctx.Done()
	return ended(ctx)
}
