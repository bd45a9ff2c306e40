package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var toxicKind = kind("toxic", `Make a relay behave badly until the phase ends. Each toxic acts on a part of what passes and counts what it did; a guard says
whether it had the effect that was asked for. Several on one relay, each an action of its own, act in the order in which their keys are listed here.`,
	func() *toxic { return &toxic{} })

type toxic struct {
	Relay  string `yaml:"relay" hole:"no" required:"true" ref:"relays" doc:"the relay; it must be in the path of the scenario"`
	Preset string `yaml:"preset" kind:"true" enum:"latency|bandwidth|reset|stall|blackhole" doc:"a usual one: latency (100 ms +- 10 ms), bandwidth (64 KiB/s of each connection), reset (every connection after 1 KiB), stall, blackhole"`

	Refuse     bool          `yaml:"refuse" kind:"true" doc:"nobody listens: new connections are refused; those that live go on. The port stays taken, and is listened at again afterwards"`
	Blackhole  bool          `yaml:"blackhole" kind:"true" doc:"what comes is swallowed, in both directions; new connections are accepted and never answered. Connections that lost something are reset when it is over"`
	Stall      bool          `yaml:"stall" kind:"true" doc:"nothing passes, not even the end of a stream; connections stay open, and what came passes when it is over"`
	Timeout    *dsl.Duration `yaml:"timeout" kind:"true" min:"0s" max:"24h" doc:"nothing passes, in both directions, and each connection ends in order (FIN) so long after it began, or the toxic if that was later; what comes does not delay that"`
	Latency    *dsl.Duration `yaml:"latency" kind:"true" min:"0s" max:"10m" doc:"delay of all that passes, the end of a stream too, in each direction that is meant; 0s is a relay that does nothing"`
	Bandwidth  dsl.ByteRate  `yaml:"bandwidth" kind:"true" min:"1B/s" doc:"bytes a second of each connection, in each direction that is meant"`
	Slice      dsl.Size      `yaml:"slice" kind:"true" min:"1" doc:"passes what comes in pieces of at most this size, each written on its own"`
	LimitData  *dsl.Size     `yaml:"limit-data" kind:"true" min:"0" doc:"ends each connection in order (FIN) when so many bytes have passed since the toxic began"`
	ResetAfter *dsl.Size     `yaml:"reset-after" kind:"true" min:"0" doc:"resets each connection (RST, on both sides) when so many bytes have passed since the toxic began; with 0 all that live at once, and new ones when they come"`
	SlowClose  *dsl.Duration `yaml:"slow-close" kind:"true" min:"0s" max:"10m" doc:"delays the end of each stream, and nothing else"`

	Jitter       dsl.Duration `yaml:"jitter" min:"0s" doc:"with latency: how far it varies, as distribution says"`
	Distribution string       `yaml:"distribution" enum:"uniform|normal|pareto" default:"uniform" doc:"with jitter, how it varies around the latency: uniform, so far up and down; normal, so much standard deviation, at most a third of the latency; pareto, so much standard deviation too, with rare long delays. The mean is the latency"`
	Shared       bool         `yaml:"shared" doc:"with bandwidth: all connections of the relay (of each of its replicas) share it"`
	SliceDelay   dsl.Duration `yaml:"slice-delay" min:"0s" max:"10m" doc:"with slice: time between the pieces of what came together"`
	Direction    string       `yaml:"direction" enum:"down|up|both" default:"down" doc:"down: what the backend answers; up: what it is sent; both"`
	Share        dsl.Percent  `yaml:"share" min:"0.1%" max:"100%" default:"100%" doc:"of the connections that it acts on, rolled once for each"`
	Seed         int          `yaml:"seed" min:"0" doc:"of the roll and of jitter: with the same one the first, second, ... connection after the toxic began fares alike in each run"`
}

// Lasting: it is in force until its phase ends.
func (t *toxic) Lasting() bool { return true }

// DefaultName says what it does, where that is known already.
func (t *toxic) DefaultName() string {
	if a, ok := t.asks(); ok {
		return "toxic " + a.Says + " on " + t.Relay
	}
	return "toxic on " + t.Relay
}

// Check finds what the types do not.
func (t *toxic) Check(c *dsl.Check) {
	any := c.Has("preset")
	for _, k := range toxicKeys {
		any = any || c.Has(k.name)
	}
	if !any {
		c.Errorf("", "nothing says what is bad").Hint = "write latency: 20ms, or a preset"
	}
	for _, m := range modifiers {
		if c.Has(m.key) && !c.Has(m.of) {
			c.Errorf(m.key, "%s", m.why).Hint = "add " + m.of + ", or leave " + m.key + " out"
		}
	}
	t.checkDirection(c)
	for key, off := range map[string]bool{"refuse": !t.Refuse, "blackhole": !t.Blackhole, "stall": !t.Stall} {
		if c.Has(key) && c.Known(key) && off {
			c.Errorf(key, "false asks for nothing").Hint = "leave the toxic out"
		}
	}
	if c.Has("refuse") && c.Has("share") {
		c.Errorf("share", "nobody listens for any connection, so that none can be spared").Hint = "leave share out, or write reset-after: 0, which resets connections when they come"
	}
	if c.Has("seed") && !c.Has("share") && !c.Has("jitter") {
		c.Errorf("seed", "nothing is drawn").Hint = "add share or jitter, or leave seed out"
	}
	t.checkJitter(c)
}

// modifiers are keys that say more of another one.
var modifiers = []struct{ key, of, why string }{
	{"jitter", "latency", "only a latency has jitter"},
	{"distribution", "jitter", "only jitter has a distribution"},
	{"shared", "bandwidth", "only a bandwidth can be shared"},
	{"slice-delay", "slice", "only slices have a delay between them"},
}

func (t *toxic) checkDirection(c *dsl.Check) {
	whole := ""
	for _, k := range toxicKeys {
		if k.whole && (c.Has(k.name) || t.Preset == k.name) {
			whole = k.name
		}
	}
	if t.ResetAfter != nil && *t.ResetAfter == 0 && c.Known("reset-after") {
		whole = "reset-after: 0"
	}
	if whole != "" && c.Has("direction") {
		c.Errorf("direction", "%s is of whole connections", whole).Hint = "leave direction out"
	}
}

func (t *toxic) checkJitter(c *dsl.Check) {
	if t.Latency == nil || !c.Known("latency") || !c.Known("distribution") {
		return
	}
	if why := t.latency().TooMuchJitter(); why != "" {
		c.Errorf("jitter", "%s", why)
	}
}

// Declares which relay it uses.
func (t *toxic) Declares() task.Declaration {
	return task.Declaration{Uses: []task.Use{{Kind: "relay", Name: t.Relay, Field: "relay"}}}
}

// toxicTTL is how long a relay keeps a toxic of an engine that died; the relay itself does not outlive it for longer.
const toxicTTL = 24 * time.Hour

func (t *toxic) Run(ctx context.Context, env *task.Env) (err error) {
	asked, ok := t.asks()
	if !ok {
		return fmt.Errorf("toxic on %s: nothing says what is bad", t.Relay)
	}
	remove, err := env.Relays.Fault(ctx, t.Relay, asked, toxicTTL)
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
